// Pods with claims share results that are kept while their devices stay the same. Over a random history of slices,
// claims, classes and nodes, each decision equals the one made from scratch: a difference aborts the program.
#include "dra/testing/devices.h"

#include <gtest/gtest.h>

#include "engine/evaluator.h"
#include "properties/random_cluster.h"

namespace berth::properties {
namespace {

using dra::testing::MakeAllocated;
using dra::testing::MakeClaim;
using dra::testing::MakeClass;
using dra::testing::MakeDevice;
using dra::testing::MakeRequest;
using dra::testing::MakeSlice;

constexpr uint32_t kDeviceNodes = 6;
constexpr int kSteps = 400;

class DeviceHistory {
 public:
  explicit DeviceHistory(uint64_t seed) : random_(seed) {
    // With the index, as for many devices, and by checking each device.
    world_.cluster().inventory().offers().set_from_devices(seed % 2 == 0 ? 0 : 64);
    world_.AddFirstNodes({0, 1, 2, 3, 4, 5});
    Put(MakeClass("gpu", "example.com/gpu"));
    for (uint32_t node = 0; node < kDeviceNodes; ++node) PutSlice(node);
    AddPods();
  }

  // How many decisions used kept results.
  size_t Run() {
    engine::Evaluator evaluator(world_.profile(), world_.cluster(), {.verify = true});
    size_t kept = 0;
    for (int step = 0; step < kSteps; ++step) {
      Change();
      for (const framework::PodInfoPtr& pod : pods_) {
        const auto decision = evaluator.Decide(*pod, random_);
        if (decision.kind != engine::Evaluator::Decision::Kind::kAskEvaluate) ++kept;
        // Devices are chosen for this pod, even if another pod's results were used.
        if (decision.kind == engine::Evaluator::Decision::Kind::kChosen) {
          EXPECT_TRUE(world_.profile().RunReserve(*decision.state, *pod, decision.choice.node->name()).ok());
          world_.profile().RunUnreserve(*decision.state, *pod, decision.choice.node->name());
        }
      }
    }
    return kept;
  }

 private:
  template <class T>
  void Put(std::shared_ptr<T> object) {
    auto& objects = world_.cluster().objects();
    if constexpr (std::is_same_v<T, api::DeviceClass>) objects.device_classes.Upsert(std::move(object));
    if constexpr (std::is_same_v<T, api::ResourceSlice>) objects.resource_slices.Upsert(std::move(object));
    if constexpr (std::is_same_v<T, api::ResourceClaim>) objects.resource_claims.Upsert(std::move(object));
  }

  std::string NodeName(uint32_t node) const { return NodeOf(node, 0)->metadata.name; }

  void PutSlice(uint32_t node) {
    std::vector<api::Device> devices;
    for (uint64_t i = 0, count = random_.Below(4); i < count; ++i) {
      devices.push_back(MakeDevice("g" + std::to_string(i), random_.Below(2) ? "a" : "b"));
    }
    Put(MakeSlice(NodeName(node), std::move(devices)));
  }

  // For all nodes; sometimes each device says for which.
  void PutSharedSlice() {
    auto slice = MakeSlice("shared", {MakeDevice("s0", "a"), MakeDevice("s1", "b"), MakeDevice("s2", "a")});
    slice->spec.node_name.reset();
    if (random_.Below(2) == 0) {
      slice->spec.all_nodes = true;
    } else {
      slice->spec.per_device_node_selection = true;
      slice->spec.devices[0].node_name = NodeName(0);
      slice->spec.devices[1].all_nodes = true;
      slice->spec.devices[2].node_name = NodeName(1);
    }
    Put(std::move(slice));
  }

  void AddPod(const std::string& name, std::vector<api::DeviceRequest> requests) {
    Put(MakeClaim(name + "-claim", std::move(requests)));
    pods_.push_back(testing::MakePod(name).ResourceClaim("gpu", name + "-claim").Info());
  }

  void AddPods() {
    // Two of each, so that the second uses the results of the first.
    for (const char* copy : {"x", "y"}) {
      AddPod(std::string("one-") + copy, {MakeRequest("r", 1)});
      AddPod(std::string("two-") + copy, {MakeRequest("r", 1), MakeRequest("s", 1)});
      AddPod(std::string("model-") + copy,
             {MakeRequest("r", 1, "device.attributes[\"gpu.example.com\"].model == \"a\"")});
      api::DeviceRequest either;
      either.name = "r";
      for (const int64_t count : {3, 2, 1}) {
        api::DeviceSubRequest& alternative = either.first_available.emplace_back();
        alternative.name = "x" + std::to_string(count);
        alternative.device_class_name = "gpu";
        alternative.allocation_mode = "ExactCount";
        alternative.count = count;
      }
      AddPod(std::string("either-") + copy, {either});
      pods_.push_back(testing::MakePod(std::string("extended-") + copy).Request("example.com/gpu", "2").Info());
      pods_.push_back(testing::MakePod(std::string("plain-") + copy).Info());
    }
  }

  void Change() {
    const auto node = static_cast<uint32_t>(random_.Below(kDeviceNodes));
    auto& objects = world_.cluster().objects();
    switch (random_.Below(12)) {
      case 0:
        return PutSlice(node);
      case 1:
        return PutSharedSlice();
      case 2:
        objects.resource_slices.Erase("", "shared-slice");
        return;
      case 3:
        objects.resource_slices.Erase("", NodeName(node) + "-slice");
        return;
      case 4:
        world_.Apply({ChangeKind::kUpsertNode, node, 0, static_cast<uint32_t>(random_.Below(8))});
        return;
      case 5:
        world_.Apply({ChangeKind::kRemoveNode, node, 0, 0});
        return;
      case 6:
        // Only sometimes, because then everything is computed again.
        if (random_.Below(4) == 0) Put(MakeClass("gpu", random_.Below(3) ? "example.com/gpu" : "example.com/other"));
        return;
      case 7:
        objects.resource_claims.Erase("default", "taken-" + std::to_string(node));
        return;
      default:
        const bool shared = random_.Below(3) == 0;
        const std::string device = (shared ? "s" : "g") + std::to_string(random_.Below(3));
        Put(MakeAllocated("taken-" + std::to_string(node), shared ? "shared" : NodeName(node), {device},
                          std::to_string(++version_)));
    }
  }

  RandomCluster world_;
  base::Random random_;
  std::vector<framework::PodInfoPtr> pods_;
  int version_ = 1;
};

TEST(KeptDeviceAnswers, AreThoseFromScratch) {
  size_t kept = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) kept += DeviceHistory(seed).Run();
  // 12 pods: most of the decisions are made without evaluating every node.
  EXPECT_GT(kept, 6u * kSteps * 12 / 2);
}

}  // namespace
}  // namespace berth::properties
