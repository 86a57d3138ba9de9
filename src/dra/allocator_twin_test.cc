// The allocator against a twin that knows nothing but the rule: try devices in order, keep what is allowed, go back
// where nothing is left. No memory, no bounds, no numbers instead of names.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "base/random.h"
#include "dra/testing/devices.h"

namespace berth::dra {
namespace {

using namespace testing;  // NOLINT: builders

class Twin {
 public:
  Twin(const api::ResourceSlice& devices, const std::map<std::string, int64_t>& counters, std::set<std::string> taken,
       const std::vector<const api::ResourceClaim*>& claims)
      : devices_(devices), counters_(counters), taken_(std::move(taken)), claims_(claims) {}

  std::string Run() {
    if (!Next(0, 0, 0, 0)) return "none";
    std::string text;
    for (size_t i = 0; i < claims_.size(); ++i) {
      if (i > 0) text += " |";
      for (const auto& [claim, request, device] : chosen_) {
        if (claim == i) text += (text.empty() ? "" : " ") + request + ":" + device->name;
      }
    }
    return text;
  }

 private:
  struct Choice {
    size_t claim;
    std::string request;
    const api::Device* device;
  };

  bool Next(size_t claim, size_t request, int64_t have, size_t start) {
    if (claim == claims_.size()) return true;
    const auto& requests = claims_[claim]->spec.devices.requests;
    if (request == requests.size()) return Next(claim + 1, 0, 0, 0);
    const api::DeviceRequest& wanted = requests[request];
    if (have == wanted.exactly->count) return Next(claim, request + 1, 0, 0);
    for (size_t i = start; i < devices_.spec.devices.size(); ++i) {
      const api::Device& device = devices_.spec.devices[i];
      chosen_.push_back({claim, wanted.name, &device});
      if (IsAllowed() && Next(claim, request, have + 1, i + 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  // Whether everything chosen so far may be chosen together.
  bool IsAllowed() const {
    std::set<std::string> used = taken_;
    std::map<std::string, int64_t> left = counters_;
    const auto consume = [&](const api::Device& device) {
      for (const auto& consumption : device.consumes_counters) {
        for (const auto& [name, counter] : consumption.counters) left[name] -= counter.value.Value();
      }
    };
    for (const api::Device& device : devices_.spec.devices) {
      if (taken_.contains(device.name)) consume(device);
    }
    bool consumes = false;
    for (const Choice& choice : chosen_) {
      if (!used.insert(choice.device->name).second) return false;
      consume(*choice.device);
      consumes |= &choice == &chosen_.back() && !choice.device->consumes_counters.empty();
    }
    if (consumes) {
      for (const auto& [name, amount] : left) {
        if (amount < 0) return false;
      }
    }
    for (size_t i = 0; i < claims_.size(); ++i) {
      if (claims_[i]->spec.devices.constraints.empty()) continue;
      std::set<std::string> models;
      for (const Choice& choice : chosen_) {
        if (choice.claim != i) continue;
        const api::DeviceAttribute* model = choice.device->attributes.Find("model");
        models.insert(model ? *model->string_value : "?" + choice.device->name);
        if (!model || models.size() > 1) return false;
      }
    }
    return true;
  }

  const api::ResourceSlice& devices_;
  const std::map<std::string, int64_t>& counters_;
  const std::set<std::string> taken_;
  const std::vector<const api::ResourceClaim*>& claims_;
  std::vector<Choice> chosen_;
};

TEST(AllocatorTwin, ChoosesTheSameDevices) {
  base::Random random(1);
  size_t found = 0;
  for (int round = 0; round < 3000; ++round) {
    Inventory inventory{Features()};
    inventory.Follow({}, Inventory::Ptr<api::DeviceClass>(MakeClass("gpu")));
    std::map<std::string, int64_t> counters = {{"a", static_cast<int64_t>(random.Below(6))},
                                               {"b", static_cast<int64_t>(random.Below(6))}};
    auto sets = MakeSlice("n1", {});
    sets->metadata.name = "sets";
    sets->spec.pool.resource_slice_count = 2;
    api::CounterSet& set = sets->spec.shared_counters.emplace_back();
    set.name = "set";
    for (const auto& [name, amount] : counters) set.counters.Set(name, {api::Quantity::FromInt(amount)});
    std::vector<api::Device> devices;
    std::vector<std::string> taken;
    for (uint64_t i = 0, count = random.Below(8); i < count; ++i) {
      const uint64_t model = random.Below(3);
      api::Device& device =
          devices.emplace_back(MakeDevice("g" + std::to_string(i), model ? std::to_string(model) : ""));
      if (random.Below(2) == 0) {
        const std::string counter = random.Below(2) ? "a" : "b";
        const auto amount = static_cast<int64_t>(random.Below(4));
        device.consumes_counters = {{"set", {{counter, {api::Quantity::FromInt(amount)}}}}};
      }
      if (random.Below(5) == 0) taken.push_back(device.name);
    }
    auto slice = MakeSlice("n1", std::move(devices));
    slice->spec.pool.resource_slice_count = 2;
    inventory.Follow({}, Inventory::Ptr<api::ResourceSlice>(sets));
    inventory.Follow({}, Inventory::Ptr<api::ResourceSlice>(slice));
    inventory.Follow({}, Inventory::Ptr<api::ResourceClaim>(MakeAllocated("taken", "n1", taken)));

    std::vector<std::shared_ptr<api::ResourceClaim>> claims;
    std::vector<const api::ResourceClaim*> list;
    for (uint64_t i = 0, count = 1 + random.Below(2); i < count; ++i) {
      std::vector<api::DeviceRequest> requests;
      for (uint64_t r = 0, many = 1 + random.Below(2); r < many; ++r) {
        requests.push_back(MakeRequest("r" + std::to_string(r), 1 + static_cast<int64_t>(random.Below(3))));
      }
      claims.push_back(MakeClaim("c" + std::to_string(i), std::move(requests)));
      if (random.Below(3) == 0) claims.back()->spec.devices.constraints = {{{}, "gpu.example.com/model", {}}};
      list.push_back(claims.back().get());
    }
    const std::string expected = Twin(*slice, counters, {taken.begin(), taken.end()}, list).Run();
    EXPECT_EQ(TextOf(inventory.Allocate(MakeNode("n1"), list, nullptr, {})), expected) << "round " << round;
    found += expected != "none" ? 1 : 0;
  }
  // The comparison is worth something only where there is something to find.
  EXPECT_GT(found, 300u);
}

}  // namespace
}  // namespace berth::dra
