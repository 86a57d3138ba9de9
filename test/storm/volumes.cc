#include "storm/volumes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "testing/builders.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kLocal = "local";
constexpr std::string_view kProvisioned = "provisioned";
constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr uint64_t kMostLocal = 2;
constexpr base::Duration kSlowestController = 3s;

bool IsBound(const api::PersistentVolumeClaim& claim) { return !claim.spec.volume_name.empty(); }

bool IsFor(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  return volume.spec.claim_ref && volume.spec.claim_ref->uid == claim.metadata.uid;
}

bool IsOn(const api::PersistentVolume& volume, const std::string& node) {
  const auto& term = volume.spec.node_affinity->required->node_selector_terms.front();
  return term.match_expressions.front().values.front() == Symbol(node);
}

api::PersistentVolume MakeVolume(const std::string& name, std::string_view storage_class, const std::string& node) {
  api::PersistentVolume volume = berth::testing::MakePv(
      name,
      {.storage_class = std::string(storage_class), .node_label = std::string(kHostname), .node_label_values = {node}});
  volume.metadata.uid.clear();
  return volume;
}

std::string SelectedNode(const api::PersistentVolumeClaim& claim) {
  const std::string* node = claim.metadata.annotations.Find(std::string(kSelectedNode));
  return node != nullptr ? *node : std::string();
}

template <class Visit>
void ForEachClaimOf(const Store& store, const api::Pod& pod, Visit visit) {
  for (const api::Volume& volume : pod.spec.volumes) {
    if (!volume.source->persistent_volume_claim) continue;
    const std::string key =
        fmt::format("{}/{}", pod.metadata.namespace_.str(), volume.source->persistent_volume_claim->claim_name);
    visit(key, store.Find<api::PersistentVolumeClaim>(key));
  }
}

bool IsBoundOn(const Store& store, const api::PersistentVolumeClaim& claim, const std::string& node) {
  const auto* volume = store.Find<api::PersistentVolume>(claim.spec.volume_name);
  return volume != nullptr && IsFor(*volume, claim) && IsOn(*volume, node);
}

bool CouldBeBoundOn(const Store& store, const api::PersistentVolumeClaim& claim, const std::string& node) {
  if (*claim.spec.storage_class_name == kProvisioned) {
    const std::string selected = SelectedNode(claim);
    return selected.empty() || selected == node;
  }
  const Store::Objects& volumes = store.objects(api::Kind::kPersistentVolume);
  return std::any_of(volumes.begin(), volumes.end(), [&](const auto& entry) {
    const auto& volume = *entry.second.template As<api::PersistentVolume>();
    return volume.spec.storage_class_name == kLocal && IsOn(volume, node) &&
           (!volume.spec.claim_ref || IsFor(volume, claim));
  });
}

// Whether it needs the claim, now or later.
bool NamesVolumeClaim(const api::Pod& pod, const std::string& claim) {
  return pod.status.phase != "Succeeded" &&
         std::any_of(pod.spec.volumes.begin(), pod.spec.volumes.end(), [&](const api::Volume& volume) {
           return volume.source->persistent_volume_claim && volume.source->persistent_volume_claim->claim_name == claim;
         });
}

}  // namespace

Volumes::Volumes(Timeline& timeline, Store& store, bool used, uint64_t seed)
    : timeline_(timeline), store_(store), used_(used), random_(seed) {
  if (!used) return;
  for (const auto& [name, provisioner] :
       {std::pair(kLocal, "kubernetes.io/no-provisioner"), std::pair(kProvisioned, "csi.example.com")}) {
    api::StorageClass made = berth::testing::MakeStorageClass(name, "WaitForFirstConsumer", provisioner);
    made.metadata.uid.clear();
    store_.Put(std::move(made));
  }
  store_.Observe([this](const Change& change) { React(change); });
}

base::Duration Volumes::Soon() {
  return base::Duration(1 + random_.Below(static_cast<uint64_t>(kSlowestController.count())));
}

std::string Volumes::ClaimFor(const std::string& pod, base::Random& random) {
  const std::string_view storage_class = random.Below(3) == 0 ? kProvisioned : kLocal;
  api::PersistentVolumeClaim claim =
      berth::testing::MakePvc(pod + "-data", {.storage_class = std::string(storage_class)});
  claim.metadata.uid.clear();
  std::string name = claim.metadata.name;
  store_.Put(std::move(claim));
  return name;
}

void Volumes::React(const Change& change) {
  const api::Kind kind = change.object.kind();
  const bool matters = kind == api::Kind::kNode || kind == api::Kind::kPod || kind == api::Kind::kPersistentVolume ||
                       kind == api::Kind::kPersistentVolumeClaim;
  if (!matters || std::exchange(woken_, true)) return;
  timeline_.After(Soon(), [this] {
    woken_ = false;
    Control();
  });
}

void Volumes::Control() {
  std::vector<api::PersistentVolume> volumes;
  for (const auto& [key, object] : store_.objects(api::Kind::kPersistentVolume)) {
    volumes.push_back(*object.As<api::PersistentVolume>());
  }
  for (const api::PersistentVolume& volume : volumes) ControlVolume(volume);
  std::vector<api::PersistentVolumeClaim> claims;
  for (const auto& [key, object] : store_.objects(api::Kind::kPersistentVolumeClaim)) {
    claims.push_back(*object.As<api::PersistentVolumeClaim>());
  }
  for (const api::PersistentVolumeClaim& claim : claims) ControlClaim(claim);
  std::vector<std::string> nodes;
  for (const auto& [name, object] : store_.objects(api::Kind::kNode)) nodes.push_back(name);
  for (const std::string& node : nodes) AddLocalVolumes(node);
}

void Volumes::ControlVolume(const api::PersistentVolume& volume) {
  const auto& affinity = volume.spec.node_affinity->required->node_selector_terms.front().match_expressions.front();
  const bool is_local = volume.spec.storage_class_name == kLocal;
  const bool has_node = store_.Find<api::Node>(std::string(affinity.values.front().str())) != nullptr;
  if (!volume.spec.claim_ref) {
    if (is_local && !has_node) store_.Delete<api::PersistentVolume>(volume.metadata.name);
    return;
  }
  const api::ObjectReference& reference = *volume.spec.claim_ref;
  const auto* claim =
      store_.Find<api::PersistentVolumeClaim>(fmt::format("{}/{}", reference.namespace_.str(), reference.name));
  // A local volume is cleaned, and offered again.
  if (claim == nullptr || claim->metadata.uid != reference.uid) {
    return store_.Delete<api::PersistentVolume>(volume.metadata.name);
  }
  if (!IsBound(*claim)) return Bind(*claim, volume);
  if (claim->spec.volume_name == volume.metadata.name) return;
  // The claim has got another one.
  api::PersistentVolume released = volume;
  released.spec.claim_ref.reset();
  released.status.phase = "Available";
  store_.Put(std::move(released));
}

void Volumes::ControlClaim(const api::PersistentVolumeClaim& claim) {
  const Store::Objects& pods = store_.objects(api::Kind::kPod);
  const bool is_named = std::any_of(pods.begin(), pods.end(), [&](const auto& entry) {
    return NamesVolumeClaim(*entry.second.template As<api::Pod>(), claim.metadata.name);
  });
  if (!is_named) return store_.Delete<api::PersistentVolumeClaim>(api::KeyOf(claim.metadata));
  const std::string node = SelectedNode(claim);
  if (IsBound(claim) || node.empty() || *claim.spec.storage_class_name != kProvisioned) return;
  if (store_.Find<api::Node>(node) != nullptr && random_.Below(4) != 0) return Provision(claim, node);
  // It failed: the scheduler is to choose again.
  api::PersistentVolumeClaim given_up = claim;
  given_up.metadata.annotations.Erase(std::string(kSelectedNode));
  store_.Put(std::move(given_up));
}

void Volumes::Provision(const api::PersistentVolumeClaim& claim, const std::string& node) {
  api::PersistentVolume volume = MakeVolume("pv-" + claim.metadata.name, kProvisioned, node);
  if (store_.Find<api::PersistentVolume>(volume.metadata.name) != nullptr) return;  // of an earlier claim of that name
  api::ObjectReference& reference = volume.spec.claim_ref.emplace();
  reference.kind = "PersistentVolumeClaim";
  reference.namespace_ = claim.metadata.namespace_;
  reference.name = claim.metadata.name;
  reference.uid = claim.metadata.uid;
  Bind(claim, std::move(volume));
}

void Volumes::Bind(api::PersistentVolumeClaim claim, api::PersistentVolume volume) {
  claim.spec.volume_name = volume.metadata.name;
  claim.metadata.annotations.Set(std::string(kBindCompleted), "yes");
  claim.status.phase = "Bound";
  volume.status.phase = "Bound";
  store_.Put(std::move(volume));
  store_.Put(std::move(claim));
}

void Volumes::AddLocalVolumes(const std::string& node) {
  // As many as the name of the node says, so that a volume that was cleaned comes back.
  const uint64_t count = std::hash<std::string>{}(node) % (kMostLocal + 1);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name = fmt::format("{}-disk-{}", node, i);
    if (store_.Find<api::PersistentVolume>(name) == nullptr) store_.Put(MakeVolume(name, kLocal, node));
  }
}

bool VolumesFit(const Store& store, const api::Pod& pod, const api::Node& node) {
  bool fit = true;
  ForEachClaimOf(store, pod, [&](const std::string&, const api::PersistentVolumeClaim* claim) {
    const std::string& name = node.metadata.name;
    fit = fit && claim != nullptr &&
          (IsBound(*claim) ? IsBoundOn(store, *claim, name) : CouldBeBoundOn(store, *claim, name));
  });
  return fit;
}

std::string FindUnboundVolume(const Store& store, const api::Pod& pod, const std::string& node) {
  std::string unbound;
  ForEachClaimOf(store, pod, [&](const std::string& key, const api::PersistentVolumeClaim* claim) {
    if (claim != nullptr && !(IsBound(*claim) && IsBoundOn(store, *claim, node))) unbound = key;
  });
  return unbound;
}

}  // namespace berth::storm
