// Searches with an index against searches that look at every device: the same devices, the same refusals, the same
// errors, whatever is taken, given back or offered anew in between.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "base/random.h"
#include "dra/testing/devices.h"

namespace berth::dra {
namespace {

using namespace testing;  // NOLINT: builders

constexpr uint32_t kNodes = 4;

// Two inventories that are shown the same objects.
class Twins {
 public:
  explicit Twins(const Features& features) : indexed(features), plain(features) {
    indexed.offers().set_from_devices(0);
    plain.offers().set_from_devices(std::numeric_limits<size_t>::max());
    for (uint32_t i = 0; i < kNodes; ++i) nodes.push_back(MakeNode("n" + std::to_string(i)));
  }
  template <class T>
  void Follow(const std::shared_ptr<T>& before, const std::shared_ptr<T>& after) {
    indexed.Follow(Inventory::Ptr<T>(before), Inventory::Ptr<T>(after));
    plain.Follow(Inventory::Ptr<T>(before), Inventory::Ptr<T>(after));
  }

  Inventory indexed;
  Inventory plain;
  std::vector<std::shared_ptr<const api::Node>> nodes;
};

api::DeviceClass NewClass(base::Random& random, const std::string& name) {
  api::DeviceClass device_class = *MakeClass(name);
  if (random.Below(2) == 0) {
    device_class.spec.selectors = {{api::CELDeviceSelector{R"(device.driver == "gpu.example.com")"}}};
  }
  return device_class;
}

void AddCounters(base::Random& random, api::ResourceSlice& slice) {
  for (const char* set : {"x", "y"}) {
    if (random.Below(3) == 0) continue;
    api::CounterSet& counters = slice.spec.shared_counters.emplace_back();
    counters.name = set;
    for (const char* name : {"a", "b"}) {
      counters.counters.Set(name, {api::Quantity::FromInt(static_cast<int64_t>(random.Below(5)))});
    }
  }
}

api::Device NewDevice(base::Random& random, const std::string& name, const api::ResourceSlice& counters) {
  // Some have no model, on which selectors fail.
  const uint64_t model = random.Below(12);
  api::Device device = MakeDevice(name, model == 0 ? "" : std::to_string(model % 3));
  if (random.Below(3) == 0) device.attributes["other.example.com/size"].int_value = static_cast<int64_t>(model % 2);
  if (random.Below(20) == 0) device.attributes["other.example.com/size"].bool_value = true;
  if (random.Below(20) == 0) device.attributes["list"].string_values = {"a", "b"};
  if (random.Below(6) == 0) device.taints = {{"broken", "", random.Below(2) ? "NoSchedule" : "None", std::nullopt}};
  if (random.Below(9) == 0) device.binding_conditions = {"Ready"};
  device.allow_multiple_allocations = random.Below(3) == 0;
  if (random.Below(2) == 0) {
    api::DeviceCapacity& memory = device.capacity["memory"];
    memory.value = api::Quantity::FromInt(static_cast<int64_t>(2 + random.Below(7)));
    if (random.Below(2) == 0) {
      memory.request_policy.emplace().default_value = api::Quantity::FromInt(static_cast<int64_t>(1 + random.Below(2)));
      if (random.Below(2) == 0) {
        memory.request_policy->valid_range.emplace().min = api::Quantity::FromInt(1);
        memory.request_policy->valid_range->step = api::Quantity::FromInt(static_cast<int64_t>(1 + random.Below(2)));
      }
    }
  }
  for (const api::CounterSet& set : counters.spec.shared_counters) {
    if (random.Below(2) == 0) continue;
    const auto amount = static_cast<int64_t>(random.Below(3));
    device.consumes_counters.push_back({set.name, {{random.Below(2) ? "a" : "b", {api::Quantity::FromInt(amount)}}}});
  }
  return device;
}

// A pool of a node, or of several; counters come in a slice of their own.
std::vector<std::shared_ptr<api::ResourceSlice>> NewPool(base::Random& random, uint64_t number, bool empty_too) {
  const std::string name = "pool-" + std::to_string(number);
  auto counters = MakeSlice(name, {});
  auto devices = MakeSlice(name, {});
  counters->metadata.name = name + "-counters";
  devices->metadata.name = name + "-devices";
  AddCounters(random, *counters);
  const bool counts = !counters->spec.shared_counters.empty();
  for (uint64_t i = 0, count = random.Below(7) + (empty_too ? 0 : 1); i < count; ++i) {
    devices->spec.devices.push_back(NewDevice(random, name + "/" + std::to_string(i), *counters));
  }
  const uint64_t who = random.Below(6);
  std::vector<std::shared_ptr<api::ResourceSlice>> slices = {devices};
  if (counts) slices.push_back(counters);
  for (const auto& slice : slices) {
    slice->spec.pool.resource_slice_count = static_cast<int64_t>(slices.size()) + (random.Below(40) == 0 ? 1 : 0);
    slice->spec.node_name.reset();
    if (who < kNodes) {
      slice->spec.node_name = "n" + std::to_string(who);
    } else {
      slice->spec.all_nodes = true;
    }
  }
  if (random.Below(40) == 0) devices->spec.per_device_node_selection = true;
  if (random.Below(40) == 0 && counts && !devices->spec.devices.empty()) {
    devices->spec.devices[0].consumes_counters = {{"x", {{"a", {api::Quantity::FromInt(-1)}}}}};
  }
  return slices;
}

template <class Request>
void Fill(Request& request, base::Random& random) {
  static const char* const kSelectors[] = {
      R"(device.attributes["gpu.example.com"].model == "1")",
      R"("model" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].model != "2")",
      R"(device.allowMultipleAllocations)", R"(device.attributes["other.example.com"].size == 1)",
      R"(device.attributes[)"};
  request.device_class_name = random.Below(2) ? "gpu" : "any";
  request.allocation_mode = random.Below(12) == 0 ? "All" : "ExactCount";
  request.count = 1 + static_cast<int64_t>(random.Below(random.Below(4) == 0 ? 9 : 3));
  for (uint64_t i = 0, count = random.Below(3); i < count; ++i) {
    const uint64_t which = random.Below(random.Below(30) == 0 ? 5 : 3);
    request.selectors.push_back({api::CELDeviceSelector{kSelectors[which]}});
  }
  if (random.Below(2) == 0) request.tolerations = {{.key = "broken", .op = "Exists"}};
  if (random.Below(3) == 0) {
    const int64_t memory = random.Below(30) == 0 ? -1 : static_cast<int64_t>(random.Below(5));
    request.capacity.emplace().requests.Set("memory", api::Quantity::FromInt(memory));
  }
}

std::shared_ptr<api::ResourceClaim> NewClaim(base::Random& random, const std::string& name) {
  std::vector<api::DeviceRequest> requests;
  for (uint64_t i = 0, count = 1 + random.Below(2); i < count; ++i) {
    api::DeviceRequest& request = requests.emplace_back();
    request.name = "r" + std::to_string(i);
    if (random.Below(4) > 0) {
      Fill(request.exactly.emplace(), random);
      if (random.Below(15) == 0) request.exactly->admin_access = true;
      continue;
    }
    for (const char* alternative : {"x", "y"}) {
      request.first_available.emplace_back().name = alternative;
      Fill(request.first_available.back(), random);
    }
  }
  auto claim = MakeClaim(name, std::move(requests));
  for (uint64_t i = 0, count = random.Below(3); i < count; ++i) {
    api::DeviceConstraint& constraint = claim->spec.devices.constraints.emplace_back();
    if (random.Below(3) == 0) constraint.requests = {random.Below(2) ? "r0" : "r1/x"};
    const char* const attribute = random.Below(2) ? "gpu.example.com/model" : "other.example.com/size";
    (random.Below(3) ? constraint.match_attribute : constraint.distinct_attribute) = attribute;
  }
  return claim;
}

// With everything that an allocation says.
std::string WholeText(const AllocationOutcome& outcome) {
  std::string text = TextOf(outcome);
  for (const api::AllocationResult& result : outcome.results) {
    for (const api::DeviceRequestAllocationResult& device : result.devices.results) {
      text += " " + device.pool;
      for (const auto& [name, amount] : device.consumed_capacity) text += " " + name + "=" + amount.ToString();
    }
  }
  return text;
}

struct Tally {
  size_t allocated = 0, refused = 0, failed = 0, grouped = 0;
};

// One cluster, over a while.
class Story {
 public:
  Story(uint64_t seed, Tally& tally) : random_(seed), twins_(FeaturesFor(random_)), tally_(tally) {
    for (const char* name : {"gpu", "any"}) {
      twins_.Follow<const api::DeviceClass>({}, std::make_shared<const api::DeviceClass>(NewClass(random_, name)));
    }
    for (uint64_t i = 0, count = 1 + random_.Below(8); i < count; ++i) OfferPool(i);
  }

  void Run() {
    for (int step = 0; step < 25 && !::testing::Test::HasFailure(); ++step) {
      switch (random_.Below(8)) {
        case 0:
          OfferPool(random_.Below(8));
          break;
        case 1:
          if (!held_.empty()) GiveBack();
          break;
        default:
          AskEveryNode(step);
      }
    }
  }

 private:
  static Features FeaturesFor(base::Random& random) {
    Features features;
    features.partitionable_devices = random.Below(8) > 0;
    features.device_taints = random.Below(8) > 0;
    features.binding_conditions = random.Below(8) > 0;
    features.consumable_capacity = random.Below(8) > 0;
    return features;
  }

  void OfferPool(uint64_t number) {
    for (const auto& slice : slices_[number]) twins_.Follow<const api::ResourceSlice>(slice, {});
    slices_[number].clear();
    for (const auto& slice : NewPool(random_, number, random_.Below(2) == 0)) {
      twins_.Follow<const api::ResourceSlice>({}, slice);
      slices_[number].push_back(slice);
    }
  }

  void GiveBack() {
    const auto claim = std::next(held_.begin(), static_cast<ptrdiff_t>(random_.Below(held_.size())));
    twins_.Follow<const api::ResourceClaim>(*claim, {});
    held_.erase(claim);
  }

  void AskEveryNode(int step) {
    std::vector<std::shared_ptr<api::ResourceClaim>> claims;
    std::vector<const api::ResourceClaim*> list;
    for (uint64_t i = 0, count = 1 + random_.Below(2); i < count; ++i) {
      claims.push_back(NewClaim(random_, "c" + std::to_string(step) + "-" + std::to_string(i)));
      list.push_back(claims.back().get());
    }
    std::map<AnswerKey, std::string> by_key;
    std::vector<AllocationOutcome> outcomes;
    for (uint32_t node = 0; node < kNodes; ++node) {
      outcomes.push_back(twins_.indexed.Allocate(twins_.nodes[node], node, list, nullptr, {}));
      const std::string text = WholeText(outcomes.back());
      EXPECT_EQ(text, WholeText(twins_.plain.Allocate(twins_.nodes[node], node, list, nullptr, {})))
          << "step " << step << " node " << node;
      Count(outcomes.back());
      const NodePools& seen = twins_.indexed.pools().PoolsOf(twins_.nodes[node], node);
      if (!seen.pools || !seen.is_shareable) continue;
      const auto [place, added] = by_key.try_emplace(twins_.indexed.AnswerKeyFor(twins_.nodes[node], node, list), text);
      EXPECT_EQ(place->second, text) << "step " << step << " node " << node;
      if (!added) ++tally_.grouped;
    }
    Keep(claims, outcomes[random_.Below(kNodes)]);
  }

  void Count(const AllocationOutcome& outcome) {
    const bool refused = outcome.kind == AllocationOutcome::Kind::kNone;
    ++(outcome.kind == AllocationOutcome::Kind::kAllocated ? tally_.allocated
       : refused                                           ? tally_.refused
                                                           : tally_.failed);
  }

  void Keep(const std::vector<std::shared_ptr<api::ResourceClaim>>& claims, const AllocationOutcome& outcome) {
    if (outcome.kind != AllocationOutcome::Kind::kAllocated) return;
    for (size_t i = 0; i < claims.size(); ++i) {
      claims[i]->status.allocation = outcome.results[i];
      for (api::DeviceRequestAllocationResult& result : claims[i]->status.allocation->devices.results) {
        if (result.share_id) result.share_id = claims[i]->metadata.name;
      }
      twins_.Follow<const api::ResourceClaim>({}, claims[i]);
      held_.insert(claims[i]);
    }
  }

  base::Random random_;
  Twins twins_;
  Tally& tally_;
  std::map<uint64_t, std::vector<std::shared_ptr<api::ResourceSlice>>> slices_;
  std::set<std::shared_ptr<api::ResourceClaim>> held_;
};

TEST(OfferTwin, AnIndexChangesNoAnswer) {
  Tally tally;
  for (uint64_t seed = 0; seed < 600 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Story(seed, tally).Run();
  }
  // The comparison is worth something only where there is something to find.
  EXPECT_GT(tally.allocated, 3000u);
  EXPECT_GT(tally.refused, 3000u);
  EXPECT_GT(tally.failed, 1000u);
  EXPECT_GT(tally.grouped, 1000u);
}

}  // namespace
}  // namespace berth::dra
