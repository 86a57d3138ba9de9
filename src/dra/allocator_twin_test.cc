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
    if (!Next(0, 0)) return "none";
    std::string text;
    for (size_t i = 0; i < claims_.size(); ++i) {
      if (i > 0) text += " |";
      for (const auto& [claim, wanted, device] : chosen_) {
        if (claim == i) text += (text.empty() ? "" : " ") + wanted.name + ":" + device->name;
      }
    }
    return text;
  }

 private:
  // A request or one of its alternatives.
  struct Wanted {
    std::string name;
    int64_t count;
    bool tolerates;
    int64_t memory;  // 0: does not say
  };
  struct Choice {
    size_t claim;
    Wanted wanted;
    const api::Device* device;
  };

  template <class Request>
  static Wanted Read(const std::string& name, const Request& request) {
    const api::Quantity* memory = request.capacity ? request.capacity->requests.Find("memory") : nullptr;
    return {name, request.count, !request.tolerations.empty(), memory ? memory->Value() : 0};
  }

  bool Next(size_t claim, size_t request) {
    if (claim == claims_.size()) return true;
    const auto& requests = claims_[claim]->spec.devices.requests;
    if (request == requests.size()) return Next(claim + 1, 0);
    const api::DeviceRequest& wanted = requests[request];
    if (wanted.exactly) return Next(claim, request, Read(wanted.name, *wanted.exactly), 0, 0);
    for (const api::DeviceSubRequest& alternative : wanted.first_available) {
      const Wanted view = Read(wanted.name + "/" + alternative.name, alternative);
      if (Next(claim, request, view, 0, 0)) return true;
    }
    return false;
  }

  bool Next(size_t claim, size_t request, const Wanted& wanted, int64_t have, size_t start) {
    if (have == wanted.count) return Next(claim, request + 1);
    for (size_t i = start; i < devices_.spec.devices.size(); ++i) {
      const api::Device& device = devices_.spec.devices[i];
      chosen_.push_back({claim, wanted, &device});
      if (Suits(wanted, device) && IsAllowed() && Next(claim, request, wanted, have + 1, i + 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  static bool Suits(const Wanted& wanted, const api::Device& device) {
    return (device.taints.empty() || wanted.tolerates) && (wanted.memory == 0 || device.capacity.Contains("memory"));
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
    std::map<std::string, int64_t> memory;
    for (const Choice& choice : chosen_) {
      if (choice.device->allow_multiple_allocations.value_or(false)) {
        if (taken_.contains(choice.device->name)) return false;
        const int64_t all = choice.device->capacity.Find("memory")->value.Value();
        if ((memory[choice.device->name] += choice.wanted.memory ? choice.wanted.memory : all) > all) return false;
        continue;
      }
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

template <class Request>
void Randomize(Request& request, base::Random& random) {
  request.device_class_name = "gpu";
  request.allocation_mode = "ExactCount";
  request.count = 1 + static_cast<int64_t>(random.Below(3));
  if (random.Below(2) == 0) request.tolerations = {{.op = "Exists"}};
  if (random.Below(3) == 0) {
    const auto memory = static_cast<int64_t>(1 + random.Below(3));
    request.capacity.emplace().requests.Set("memory", api::Quantity::FromInt(memory));
  }
}

api::DeviceRequest RandomRequest(const std::string& name, base::Random& random) {
  api::DeviceRequest request;
  request.name = name;
  if (random.Below(3) > 0) {
    Randomize(request.exactly.emplace(), random);
    return request;
  }
  for (const char* alternative : {"x", "y"}) {
    request.first_available.emplace_back().name = alternative;
    Randomize(request.first_available.back(), random);
  }
  return request;
}

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
      if (random.Below(4) == 0) {
        device.allow_multiple_allocations = true;
        device.capacity["memory"].value = api::Quantity::FromInt(4);
      } else if (random.Below(2) == 0) {
        const std::string counter = random.Below(2) ? "a" : "b";
        const auto amount = static_cast<int64_t>(random.Below(4));
        device.consumes_counters = {{"set", {{counter, {api::Quantity::FromInt(amount)}}}}};
      }
      if (random.Below(5) == 0) device.taints = {{"broken", "", "NoSchedule", std::nullopt}};
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
        requests.push_back(RandomRequest("r" + std::to_string(r), random));
      }
      claims.push_back(MakeClaim("c" + std::to_string(i), std::move(requests)));
      if (random.Below(3) == 0) claims.back()->spec.devices.constraints = {{{}, "gpu.example.com/model", {}}};
      list.push_back(claims.back().get());
    }
    const std::string expected = Twin(*slice, counters, {taken.begin(), taken.end()}, list).Run();
    // With an index, and without.
    for (const size_t from_devices : {size_t{0}, size_t{1000}}) {
      inventory.offers().set_from_devices(from_devices);
      EXPECT_EQ(TextOf(inventory.Allocate(MakeNode("n1"), 0, list, nullptr, {})), expected) << "round " << round;
    }
    found += expected != "none" ? 1 : 0;
  }
  // The comparison is worth something only where there is something to find.
  EXPECT_GT(found, 300u);
}

}  // namespace
}  // namespace berth::dra
