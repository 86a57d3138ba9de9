// Why one device of a node will not do for one request, taken alone: for people who ask. The search itself
// (dra/search.h) keeps no reasons.
#pragma once

#include <string>
#include <vector>

#include "api/resource_claim.h"
#include "dra/inventory.h"
#include "dra/requests.h"

namespace berth::plugins {

struct DeviceVerdict {
  enum class Kind { kGood, kTaken, kClass, kSelector, kTaint, kCapacity, kCounter, kOther };
  Kind kind = Kind::kGood;
  std::string why;
  size_t selector = 0;                   // of kSelector: which
  std::vector<api::DeviceTaint> taints;  // of kTaint: those that are not tolerated
};

// Who has devices: "claim default/a-gpu (pod a)", by driver, pool and device.
using DeviceHolders = std::map<std::tuple<std::string, std::string, std::string>, std::string>;

class DeviceJudge {
 public:
  DeviceJudge(dra::Inventory& inventory, const DeviceHolders& holders) : inventory_(inventory), holders_(holders) {}

  DeviceVerdict Judge(const dra::RequestView& request, const dra::Pool& pool, const dra::Pool::Device& device) const;

 private:
  // The first of the selectors that is not true for the device, or none.
  std::optional<DeviceVerdict> AskSelectors(const std::vector<api::DeviceSelector>& selectors, std::string_view whose,
                                            const dra::Pool::Device& device) const;
  std::string ShortCounters(const dra::Pool& pool, const dra::Pool::Device& device) const;
  std::string ShortCapacity(const dra::RequestView& request, const dra::Pool::Device& device) const;

  dra::Inventory& inventory_;
  const DeviceHolders& holders_;
};

// "gpu.example.com/model = \"a100\"", or that it has none.
std::string AttributeText(const api::Device& device, const std::string& driver, const std::string& full_name);

}  // namespace berth::plugins
