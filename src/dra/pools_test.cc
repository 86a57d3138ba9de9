// Who notices when devices change, and which nodes share what they see.
#include "dra/pools.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "dra/testing/devices.h"

namespace berth::dra {
namespace {

using namespace testing;  // NOLINT: builders

class Pools : public ::testing::Test {
 protected:
  void Put(std::shared_ptr<api::ResourceSlice> slice) {
    inventory_.Follow({}, Inventory::Ptr<api::ResourceSlice>(std::move(slice)));
  }
  void Put(std::shared_ptr<api::ResourceClaim> claim) {
    inventory_.Follow({}, Inventory::Ptr<api::ResourceClaim>(std::move(claim)));
  }
  // Every node has been looked at.
  uint64_t LookAtAll() {
    for (uint32_t i = 0; i < nodes_.size(); ++i) inventory_.pools().PoolsOf(nodes_[i], i);
    return inventory_.devices().version();
  }
  // Changes of slices are noticed when the node is looked at.
  bool HasChanged(uint32_t node, uint64_t since) {
    PoolsOf(node);
    return inventory_.devices().node_versions()[node] > since;
  }
  const NodePools& PoolsOf(uint32_t node) { return inventory_.pools().PoolsOf(nodes_[node], node); }

  static std::shared_ptr<api::ResourceSlice> Everywhere(const std::string& name) {
    auto slice = MakeSlice(name, {MakeDevice("s0"), MakeDevice("s1")});
    slice->spec.node_name.reset();
    slice->spec.all_nodes = true;
    return slice;
  }

  Inventory inventory_{Features()};
  std::vector<std::shared_ptr<const api::Node>> nodes_ = {MakeNode("n0"), MakeNode("n1"), MakeNode("n2")};
};

TEST_F(Pools, ADeviceThatIsTakenOrGivenBackChangesTheNodesThatSeeItsPoolOnly) {
  Put(MakeSlice("n0", {MakeDevice("g0")}));
  Put(MakeSlice("n1", {MakeDevice("g0")}));
  const uint64_t before = LookAtAll();
  const auto claim = MakeAllocated("c", "n1", {"g0"});
  Put(claim);
  EXPECT_FALSE(HasChanged(0, before));
  EXPECT_TRUE(HasChanged(1, before));
  EXPECT_FALSE(HasChanged(2, before));
  const uint64_t after = LookAtAll();
  inventory_.Follow(Inventory::Ptr<api::ResourceClaim>(claim), {});
  EXPECT_FALSE(HasChanged(0, after));
  EXPECT_TRUE(HasChanged(1, after));
}

TEST_F(Pools, APoolForAllNodesChangesThemAll) {
  Put(Everywhere("shared"));
  const uint64_t before = LookAtAll();
  Put(MakeAllocated("c", "shared", {"s1"}));
  for (uint32_t node = 0; node < 3; ++node) EXPECT_TRUE(HasChanged(node, before)) << node;
}

TEST_F(Pools, ASliceThatComesChangesAndGoesIsNoticedWhereItCounts) {
  uint64_t before = LookAtAll();
  const auto slice = MakeSlice("n1", {MakeDevice("g0")});
  Put(slice);
  EXPECT_FALSE(HasChanged(0, before));
  EXPECT_TRUE(HasChanged(1, before));
  before = LookAtAll();
  Put(MakeSlice("n1", {MakeDevice("g0"), MakeDevice("g1")}));
  EXPECT_FALSE(HasChanged(0, before));
  EXPECT_TRUE(HasChanged(1, before));
  // The devices have other numbers now: the node must hear about those.
  before = LookAtAll();
  Put(MakeAllocated("c", "n1", {"g1"}));
  EXPECT_TRUE(HasChanged(1, before));
  before = LookAtAll();
  inventory_.Follow(Inventory::Ptr<api::ResourceSlice>(slice), {});
  EXPECT_FALSE(HasChanged(0, before));
  EXPECT_TRUE(HasChanged(1, before));
  EXPECT_TRUE(PoolsOf(1).pools->empty());
  before = LookAtAll();
  Put(Everywhere("shared"));
  EXPECT_TRUE(HasChanged(0, before));
}

TEST_F(Pools, ANodeThatIsReplacedLooksAgain) {
  const uint64_t before = LookAtAll();
  nodes_[0] = MakeNode("n0");
  PoolsOf(0);
  EXPECT_TRUE(HasChanged(0, before));
  EXPECT_FALSE(HasChanged(1, before));
}

TEST_F(Pools, NodesThatSeeTheSamePoolsHaveTheSameSet) {
  Put(Everywhere("shared"));
  Put(MakeSlice("n2", {MakeDevice("g0")}));
  EXPECT_EQ(PoolsOf(0).set, PoolsOf(1).set);
  EXPECT_NE(PoolsOf(0).set, PoolsOf(2).set);
  EXPECT_TRUE(PoolsOf(0).is_shareable);
  const uint64_t before = PoolsOf(0).set;
  Put(Everywhere("another"));
  EXPECT_NE(PoolsOf(0).set, before);
  EXPECT_EQ(PoolsOf(0).set, PoolsOf(1).set);
}

TEST_F(Pools, DevicesThatChooseTheirNodesMakeEveryNodeAMatterOfItsOwn) {
  auto slice = Everywhere("shared");
  slice->spec.all_nodes.reset();
  slice->spec.per_device_node_selection = true;
  slice->spec.devices[0].node_name = "n0";
  slice->spec.devices[1].all_nodes = true;
  Put(slice);
  EXPECT_EQ(PoolsOf(0).set, PoolsOf(1).set);
  EXPECT_FALSE(PoolsOf(0).is_shareable);
}

// Counters count for every node; without devices they are nothing to look at, and 5,000 nodes have as many of them.
TEST_F(Pools, CountersOfAnotherNodesPoolAreSeenOnlyWhenThePoolIsBroken) {
  const auto part = [](const std::string& name, std::vector<api::Device> devices) {
    auto slice = MakeSlice("n1", std::move(devices));
    slice->metadata.name = name;
    slice->spec.pool.resource_slice_count = 2;
    return slice;
  };
  const auto counters = part("counters", {});
  counters->spec.shared_counters = {{.name = "c", .counters = {}}};
  Put(counters);
  EXPECT_EQ(PoolsOf(0).pools->size(), 1u) << "half of it is missing";
  Put(part("devices", {MakeDevice("g0")}));
  EXPECT_TRUE(PoolsOf(0).pools->empty());
  EXPECT_EQ(PoolsOf(1).pools->size(), 1u);
  const uint64_t before = LookAtAll();
  Put(MakeAllocated("c", "n1", {"g0"}));
  EXPECT_FALSE(HasChanged(0, before));
  EXPECT_TRUE(HasChanged(1, before));
}

// What is kept up to date change by change is what counting anew gives, whatever came between two looks.
TEST_F(Pools, TheUseOfAPoolIsKeptAsCountingAnewWouldHaveIt) {
  constexpr size_t kDevices = 150;
  const auto part = [](const std::string& name, const std::string& node, std::vector<api::Device> devices) {
    auto slice = MakeSlice(node, std::move(devices));
    slice->metadata.name = name;
    slice->spec.pool = {"p", 1, 3};
    return slice;
  };
  const auto counters = part("counters", "n0", {});
  counters->spec.shared_counters = {{"set", {{"units", {api::Quantity::FromInt(1000)}}}}};
  std::vector<api::Device> here, elsewhere;
  for (size_t i = 0; i < kDevices; ++i) {
    api::Device device = MakeDevice("g" + std::to_string(i));
    const auto units = static_cast<int64_t>(i % 7);
    if (units > 0) device.consumes_counters = {{"set", {{"units", {api::Quantity::FromInt(units)}}}}};
    (i % 5 == 0 ? elsewhere : here).push_back(std::move(device));
  }
  Put(counters);
  Put(part("here", "n0", std::move(here)));
  Put(part("elsewhere", "n1", std::move(elsewhere)));

  base::Random random(11);
  std::map<size_t, std::shared_ptr<api::ResourceClaim>> taken;
  for (int step = 0; step < 300; ++step) {
    // Now and then more happens than is remembered.
    const uint64_t changes = random.Below(20) == 0 ? 600 : random.Below(6);
    for (uint64_t i = 0; i < changes; ++i) {
      const size_t number = random.Below(kDevices);
      if (const auto found = taken.find(number); found != taken.end()) {
        inventory_.Follow(Inventory::Ptr<api::ResourceClaim>(found->second), {});
        taken.erase(found);
        continue;
      }
      const auto claim = MakeAllocated("c" + std::to_string(number), "p", {"g" + std::to_string(number)});
      if (random.Below(3) == 0) claim->status.allocation->devices.results[0].share_id = "share";
      Put(claim);
      taken[number] = claim;
    }
    const NodePools& seen = PoolsOf(0);
    ASSERT_TRUE(seen.pools);
    ASSERT_EQ(seen.pools->size(), 1u);
    const Pool& pool = *seen.pools->front();
    ASSERT_EQ(pool.invalid_reason, "");
    const Pool::Use& use = pool.UseOf(inventory_.devices());
    int64_t left = 1000;
    for (const auto& [number, claim] : taken) left -= static_cast<int64_t>(number % 7);
    EXPECT_EQ(use.available.at(0), Pool::Amount{left} * 1'000'000'000);
    size_t free = 0;
    size_t next = use.NextFree(0);
    for (size_t i = 0; i < pool.devices.size(); ++i) {
      if (inventory_.devices().IsDedicated(pool.devices[i].id)) continue;
      ++free;
      ASSERT_EQ(next, i);
      next = use.NextFree(i + 1);
    }
    EXPECT_GE(next, pool.devices.size());
    EXPECT_EQ(use.free_count, free);
  }
}

}  // namespace
}  // namespace berth::dra
