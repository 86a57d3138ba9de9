#include "storm/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "api/resource_claim.h"
#include "dra/testing/devices.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kMostDevices = 3;
constexpr base::Duration kSlowestController = 3s;

// The pod with this UID, unless it has terminated.
const api::Pod* FindAlive(const Store& store, const std::string& uid) {
  for (const auto& [key, object] : store.objects(api::Kind::kPod)) {
    const api::Pod* pod = object.As<api::Pod>();
    if (pod->metadata.uid == uid) return api::IsTerminated(*pod) ? nullptr : pod;
  }
  return nullptr;
}

std::vector<std::string> DevicesOf(const api::ResourceClaim& claim) {
  std::vector<std::string> devices;
  if (!claim.status.allocation) return devices;
  for (const api::DeviceRequestAllocationResult& result : claim.status.allocation->devices.results) {
    devices.push_back(fmt::format("{}/{}/{}", result.driver, result.pool, result.device));
  }
  return devices;
}

}  // namespace

bool NamesClaim(const api::Pod& pod, const std::string& claim) {
  return std::any_of(pod.spec.resource_claims.begin(), pod.spec.resource_claims.end(),
                     [&](const api::PodResourceClaim& named) { return named.resource_claim_name == claim; });
}

Claims::Claims(Timeline& timeline, Store& store, bool used, uint64_t seed)
    : timeline_(timeline), store_(store), used_(used), random_(seed), most_devices_(1 + random_.Below(kMostDevices)) {
  if (!used) return;
  store_.Put(*dra::testing::MakeClass("gpu"));
  store_.Observe([this](const Change& change) { React(change); });
}

base::Duration Claims::Soon() {
  return base::Duration(1 + random_.Below(static_cast<uint64_t>(kSlowestController.count())));
}

void Claims::AddSlice(const std::string& node) {
  std::vector<api::Device> devices;
  const uint64_t count = random_.Below(most_devices_ + 1);
  for (uint64_t i = 0; i < count; ++i) devices.push_back(dra::testing::MakeDevice(fmt::format("gpu-{}", i)));
  if (!devices.empty()) store_.Put(*dra::testing::MakeSlice(node, std::move(devices)));
}

std::string Claims::ClaimFor(const std::string& pod, base::Random& random) {
  const Store::Objects& claims = store_.objects(api::Kind::kResourceClaim);
  if (random.Below(4) == 0 && !claims.empty()) {
    const auto shared = std::next(claims.begin(), static_cast<std::ptrdiff_t>(random.Below(claims.size())));
    return shared->second.metadata().name;
  }
  auto claim = dra::testing::MakeClaim(pod + "-claim", {dra::testing::MakeRequest("r", 1)});
  claim->metadata.uid.clear();
  std::string name = claim->metadata.name;
  store_.Put(*claim);
  return name;
}

void Claims::React(const Change& change) {
  if (const api::Node* node = change.object.As<api::Node>()) {
    const std::string name = node->metadata.name;
    if (change.type == Change::Type::kModified) return;
    return timeline_.After(Soon(), [this, name] {
      const bool has_slice = store_.Find<api::ResourceSlice>(name + "-slice") != nullptr;
      const bool has_node = store_.Find<api::Node>(name) != nullptr;
      if (has_node && !has_slice) AddSlice(name);
      // The driver is gone with its node.
      if (has_slice && !has_node) store_.Delete<api::ResourceSlice>(name + "-slice");
    });
  }
  if (change.object.As<api::Pod>() == nullptr && change.object.As<api::ResourceClaim>() == nullptr) return;
  if (store_.objects(api::Kind::kResourceClaim).empty() || std::exchange(woken_, true)) return;
  timeline_.After(Soon(), [this] {
    woken_ = false;
    Control();
  });
}

void Claims::Control() {
  std::vector<std::string> keys;
  for (const auto& [key, object] : store_.objects(api::Kind::kResourceClaim)) keys.push_back(key);
  for (const std::string& key : keys) {
    const api::ResourceClaim before = *store_.Find<api::ResourceClaim>(key);
    api::ResourceClaim claim = before;
    std::erase_if(claim.status.reserved_for, [this](const api::ResourceClaimConsumerReference& reference) {
      return FindAlive(store_, reference.uid) == nullptr;
    });
    if (claim.status.reserved_for.empty() && !before.status.reserved_for.empty()) {
      claim.status.allocation.reset();
      claim.metadata.finalizers.clear();
    }
    const Store::Objects& pods = store_.objects(api::Kind::kPod);
    const bool is_named = std::any_of(pods.begin(), pods.end(), [&](const auto& entry) {
      return NamesClaim(*entry.second.template As<api::Pod>(), claim.metadata.name);
    });
    if (!is_named) {
      store_.Delete<api::ResourceClaim>(key);
    } else if (claim.status.reserved_for != before.status.reserved_for) {
      store_.Put(std::move(claim));
    }
  }
}

bool ClaimsFit(const Store& store, const api::Pod& pod, const api::Node& node) {
  if (pod.spec.resource_claims.empty()) return true;
  std::set<std::string> taken;
  for (const auto& [key, object] : store.objects(api::Kind::kResourceClaim)) {
    for (std::string& device : DevicesOf(*object.As<api::ResourceClaim>())) taken.insert(std::move(device));
  }
  int64_t free = 0;
  if (const auto* slice = store.Find<api::ResourceSlice>(node.metadata.name + "-slice")) {
    for (const api::Device& device : slice->spec.devices) {
      free += !taken.contains(fmt::format("{}/{}/{}", slice->spec.driver, slice->spec.pool.name, device.name));
    }
  }
  return std::all_of(pod.spec.resource_claims.begin(), pod.spec.resource_claims.end(), [&](const auto& named) {
    const auto* claim =
        store.Find<api::ResourceClaim>(fmt::format("{}/{}", pod.metadata.namespace_.str(), *named.resource_claim_name));
    if (claim == nullptr) return false;
    if (!claim->status.allocation) return --free >= 0;
    const auto& results = claim->status.allocation->devices.results;
    return !results.empty() && results.front().pool == node.metadata.name;
  });
}

std::string FindSharedDevice(const Store& store) {
  std::set<std::string> taken;
  for (const auto& [key, object] : store.objects(api::Kind::kResourceClaim)) {
    for (const std::string& device : DevicesOf(*object.As<api::ResourceClaim>())) {
      if (!taken.insert(device).second) return device;
    }
  }
  return {};
}

std::string FindHalfWritten(const Store& store) {
  for (const auto& [key, object] : store.objects(api::Kind::kResourceClaim)) {
    const auto& claim = *object.As<api::ResourceClaim>();
    // The finalizer comes first.
    if (!claim.metadata.finalizers.empty() && !claim.status.allocation) return claim.metadata.name;
  }
  return {};
}

std::string FindStaleReservation(const Store& store) {
  for (const auto& [key, object] : store.objects(api::Kind::kResourceClaim)) {
    for (const auto& reference : object.As<api::ResourceClaim>()->status.reserved_for) {
      if (FindAlive(store, reference.uid) == nullptr) return key;
    }
  }
  return {};
}

}  // namespace berth::storm
