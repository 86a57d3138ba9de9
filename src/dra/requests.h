// A request of a claim, or one of its alternatives, as the search uses it.
#pragma once

#include <string>
#include <vector>

#include "api/resource_claim.h"
#include "dra/offer_index.h"
#include "dra/pools.h"
#include "dra/selectors.h"

namespace berth::dra {

// What requests and alternatives have in common; borrowed from the claim.
struct RequestView {
  const std::string* name = nullptr;
  const std::string* device_class_name = nullptr;
  const std::string* allocation_mode = nullptr;
  int64_t count = 0;
  bool has_admin_access = false;  // whether the field is set
  bool admin_access = false;
  const std::vector<api::DeviceSelector>* selectors = nullptr;
  const std::vector<api::DeviceToleration>* tolerations = nullptr;
  const api::CapacityRequirements* capacity = nullptr;

  static RequestView Of(const std::string& name, const api::ExactDeviceRequest& request) {
    return {&name,
            &request.device_class_name,
            &request.allocation_mode,
            request.count,
            request.admin_access.has_value(),
            request.admin_access.value_or(false),
            &request.selectors,
            &request.tolerations,
            request.capacity ? &*request.capacity : nullptr};
  }
  static RequestView Of(const api::DeviceSubRequest& request) {
    return {&request.name,
            &request.device_class_name,
            &request.allocation_mode,
            request.count,
            false,
            false,
            &request.selectors,
            &request.tolerations,
            request.capacity ? &*request.capacity : nullptr};
  }
  bool wants_all() const { return *allocation_mode == "All"; }
};

struct RequestState {
  RequestView view;
  const std::string* parent = nullptr;  // of an alternative: the request's name
  const api::DeviceClass* device_class = nullptr;
  std::vector<std::shared_ptr<const CompiledSelector>> class_selectors;
  std::vector<std::shared_ptr<const CompiledSelector>> selectors;
  int64_t wanted = 0;         // the number of devices requested
  std::vector<Location> all;  // of a request for all devices: which these are

  // Where its devices are; null: each device is examined, with the fields below.
  std::shared_ptr<OfferIndex> index;

  // What is known about the devices of the node, by position over all usable pools.
  enum Match : uint8_t { kUnknown, kYes, kNo };
  std::vector<uint8_t> matches;
  size_t unknown = 0;  // devices that may be free and have not been examined
  // Once nothing is unknown: the most devices from a position on that could be taken.
  std::vector<uint32_t> at_best;

  std::string FullName() const { return parent ? *parent + "/" + *view.name : *view.name; }
};

}  // namespace berth::dra
