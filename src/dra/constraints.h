// The constraints of a claim during a search: each device that is about to be taken is added, each that is released is
// removed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/resource_claim.h"

namespace berth::dra {

// The attribute of that full name ("gpu.example.com/model"); a driver may leave its own domain out. Null if absent.
const api::DeviceAttribute* FindAttribute(const api::Device& device, const std::string& driver,
                                          const std::string& full_name);

class Constraint {
 public:
  enum class Kind { kMatch, kDistinct };
  Constraint(Kind kind, const std::string& attribute, const std::vector<std::string>& requests)
      : kind_(kind), attribute_(attribute), requests_(requests) {}

  // `sub_request` is empty for a request without alternatives. False: the device must not be taken.
  bool Add(const std::string& request, const std::string& sub_request, const api::Device& device,
           const std::string& driver);
  // Undoes an Add that returned true, with the same names.
  void Remove(const std::string& request, const std::string& sub_request);

  const std::string& attribute() const { return attribute_; }
  // The value that devices of the request must have from now on; null if any will do, or the constraint is for other
  // requests.
  const api::DeviceAttribute* MustMatch(const std::string& request, const std::string& sub_request) const {
    return kind_ == Kind::kMatch && devices_ > 0 && AppliesTo(request, sub_request) ? first_ : nullptr;
  }

 private:
  bool AppliesTo(const std::string& request, const std::string& sub_request) const;
  bool AddMatch(const api::DeviceAttribute& attribute);
  bool AddDistinct(const std::string& request, const api::DeviceAttribute& attribute);

  const Kind kind_;
  const std::string& attribute_;
  const std::vector<std::string>& requests_;

  int devices_ = 0;
  const api::DeviceAttribute* first_ = nullptr;                    // of kMatch, while devices_ > 0
  std::map<std::string, const api::DeviceAttribute*> by_request_;  // of kDistinct: the last one of each request
};

}  // namespace berth::dra
