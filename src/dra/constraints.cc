#include "dra/constraints.h"

#include <algorithm>

namespace berth::dra {
namespace {

enum class Comparison { kEqual, kDifferent, kNoValue };

// By the type of `a`. Lists are no values here, whatever the gate says. Versions compare as they are spelt.
Comparison Compare(const api::DeviceAttribute& a, const api::DeviceAttribute& b) {
  const auto compare = [](const auto& left, const auto& right) {
    return right && *left == *right ? Comparison::kEqual : Comparison::kDifferent;
  };
  if (a.string_value) return compare(a.string_value, b.string_value);
  if (a.int_value) return compare(a.int_value, b.int_value);
  if (a.bool_value) return compare(a.bool_value, b.bool_value);
  if (a.version_value) return compare(a.version_value, b.version_value);
  return Comparison::kNoValue;
}

}  // namespace

const api::DeviceAttribute* FindAttribute(const api::Device& device, const std::string& driver,
                                          const std::string& full_name) {
  if (const api::DeviceAttribute* found = device.attributes.Find(full_name)) return found;
  const size_t slash = full_name.find('/');
  if (slash == std::string::npos || full_name.compare(0, slash, driver) != 0) return nullptr;
  return device.attributes.Find(full_name.substr(slash + 1));
}

bool Constraint::AppliesTo(const std::string& request, const std::string& sub_request) const {
  if (requests_.empty()) return true;
  const auto names = [&](const std::string& name) {
    return std::find(requests_.begin(), requests_.end(), name) != requests_.end();
  };
  return names(request) || (!sub_request.empty() && names(request + "/" + sub_request));
}

bool Constraint::Add(const std::string& request, const std::string& sub_request, const api::Device& device,
                     const std::string& driver) {
  if (!AppliesTo(request, sub_request)) return true;
  const api::DeviceAttribute* attribute = FindAttribute(device, driver, attribute_);
  if (!attribute) return false;
  const bool fits = kind_ == Kind::kMatch ? AddMatch(*attribute) : AddDistinct(request, *attribute);
  if (fits) ++devices_;
  return fits;
}

bool Constraint::AddMatch(const api::DeviceAttribute& attribute) {
  if (devices_ == 0) {
    first_ = &attribute;
    return true;
  }
  return Compare(attribute, *first_) == Comparison::kEqual;
}

bool Constraint::AddDistinct(const std::string& request, const api::DeviceAttribute& attribute) {
  if (devices_ > 0) {
    for (const auto& [name, other] : by_request_) {
      if (Compare(attribute, *other) != Comparison::kDifferent) return false;
    }
  }
  by_request_[request] = &attribute;
  return true;
}

void Constraint::Remove(const std::string& request, const std::string& sub_request) {
  if (!AppliesTo(request, sub_request)) return;
  --devices_;
  // Upstream keeps one value per request and forgets it with whichever device of the request goes; so do we.
  by_request_.erase(request);
}

}  // namespace berth::dra
