#include "dra/allocator.h"

#include <gtest/gtest.h>

#include "dra/testing/devices.h"

namespace berth::dra {
namespace {

using namespace testing;  // NOLINT: builders

class AllocatorTest : public ::testing::Test {
 protected:
  AllocatorTest() { inventory_.Follow({}, Inventory::Ptr<api::DeviceClass>(MakeClass("gpu"))); }

  void Offer(std::vector<api::Device> devices) {
    inventory_.Follow({}, Inventory::Ptr<api::ResourceSlice>(MakeSlice("n1", std::move(devices))));
  }
  std::string Allocate(const std::vector<std::shared_ptr<api::ResourceClaim>>& claims,
                       const base::Clock* clock = nullptr) {
    std::vector<const api::ResourceClaim*> list;
    for (const auto& claim : claims) list.push_back(claim.get());
    return TextOf(inventory_.Allocate(node_, 0, list, clock, base::Time()));
  }

  Inventory inventory_{Features()};
  std::shared_ptr<const api::Node> node_ = MakeNode("n1");
};

TEST_F(AllocatorTest, TakesTheFirstDevicesThatMatch) {
  Offer({MakeDevice("g0", "a"), MakeDevice("g1", "b"), MakeDevice("g2", "b"), MakeDevice("g3", "b")});
  const std::string wants_b = R"(device.attributes["gpu.example.com"].model == "b")";
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 2, wants_b)})}), "r:g1 r:g2");
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 4, wants_b)})}), "none");
  // Each request starts from the first device again; claims share nothing.
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 1, wants_b), MakeRequest("s", 1)}),
                      MakeClaim("d", {MakeRequest("t", 1)})}),
            "r:g1 s:g0 | t:g2");
}

TEST_F(AllocatorTest, AllocatedDevicesAreOutOfReach) {
  Offer({MakeDevice("g0"), MakeDevice("g1")});
  inventory_.Follow({}, Inventory::Ptr<api::ResourceClaim>(MakeAllocated("other", "n1", {"g0"})));
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 1)})}), "r:g1");
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 2)})}), "none");
  api::DeviceRequest admin = MakeRequest("r", 2);
  admin.exactly->admin_access = true;
  EXPECT_EQ(Allocate({MakeClaim("c", {admin})}), "r:g0 r:g1");
}

TEST_F(AllocatorTest, ErrorsCountOnlyWhereTheSearchGoes) {
  Offer({MakeDevice("g0", "a"), MakeDevice("g1")});
  const std::string model = R"(device.attributes["gpu.example.com"].model == "a")";
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 1, model)})}), "r:g0");
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 2, model)})}),
            "claim default/c: selector #0: CEL runtime error: no such key: model");
}

TEST_F(AllocatorTest, WantingMoreThanThereIsEndsQuickly) {
  // Upstream tries every subset of the twenty and runs into its time limit.
  std::vector<api::Device> devices;
  for (int i = 0; i < 20; ++i) devices.push_back(MakeDevice("g" + std::to_string(i)));
  Offer(std::move(devices));
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 32)})}), "none");
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 33)})}),
            "claim default/c: number of requested devices 33 exceeds the claim limit of 32");
}

TEST_F(AllocatorTest, TheSearchEndsAtTheDeadline) {
  std::vector<api::Device> devices;
  for (int i = 0; i < 24; ++i) devices.push_back(MakeDevice("g" + std::to_string(i), std::to_string(i)));
  Offer(std::move(devices));
  // Twelve devices of one model where each has its own: hopeless, and not to be seen from the count.
  auto claim = MakeClaim("c", {MakeRequest("r", 1), MakeRequest("s", 1), MakeRequest("t", 1), MakeRequest("u", 1)});
  claim->spec.devices.constraints = {{{"t", "u"}, "gpu.example.com/model", {}}};
  base::FakeClock clock(base::Time(std::chrono::seconds(1)));
  EXPECT_EQ(Allocate({claim}, &clock), "timed out");
  EXPECT_EQ(Allocate({claim}), "none");
}

TEST_F(AllocatorTest, AnOverdrawnCounterStopsEveryDeviceThatCountsOne) {
  auto counters = MakeSlice("n1", {});
  counters->metadata.name = "counters";
  counters->spec.pool.resource_slice_count = 2;
  counters->spec.shared_counters = {{"set", {{"memory", {api::Quantity::FromInt(10)}}}},
                                    {"rest", {{"slots", {api::Quantity::FromInt(1)}}}}};
  auto devices = MakeSlice("n1", {MakeDevice("whole"), MakeDevice("half"), MakeDevice("other")});
  devices->spec.pool.resource_slice_count = 2;
  devices->spec.devices[0].consumes_counters = {{"set", {{"memory", {api::Quantity::FromInt(10)}}}}};
  devices->spec.devices[1].consumes_counters = {{"set", {{"memory", {api::Quantity::FromInt(5)}}}}};
  devices->spec.devices[2].consumes_counters = {{"rest", {{"slots", {api::Quantity::FromInt(1)}}}}};
  inventory_.Follow({}, Inventory::Ptr<api::ResourceSlice>(counters));
  inventory_.Follow({}, Inventory::Ptr<api::ResourceSlice>(devices));
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 2)})}), "r:whole r:other");
  inventory_.Follow({}, Inventory::Ptr<api::ResourceClaim>(MakeAllocated("a", "n1", {"half"})));
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 1)})}), "r:other");
  inventory_.Follow({}, Inventory::Ptr<api::ResourceClaim>(MakeAllocated("b", "n1", {"whole"})));
  EXPECT_EQ(Allocate({MakeClaim("c", {MakeRequest("r", 1)})}), "none");
}

}  // namespace
}  // namespace berth::dra
