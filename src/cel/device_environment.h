// The environment of device selectors: the variable `device`, as Kubernetes v1.36 declares it, and the devices it is
// bound to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cel/environment.h"
#include "cel/program.h"

namespace berth::cel {

struct DeviceFeatures {
  // DRAListTypeAttributes. DRAConsumableCapacity has no effect here: stored expressions may use
  // device.allowMultipleAllocations either way.
  bool list_type_attributes = false;  // attributes may be lists
  friend bool operator==(const DeviceFeatures&, const DeviceFeatures&) = default;
};

// Build one per set of features, and keep it.
std::shared_ptr<const Environment> NewDeviceEnvironment(const DeviceFeatures& features);

struct VersionText {
  std::string text;
};
struct VersionTexts {
  std::vector<std::string> texts;
};
// monostate: the attribute has no value of a known type.
using AttributeValue = std::variant<std::monostate, int64_t, bool, std::string, VersionText, std::vector<int64_t>,
                                    std::vector<bool>, std::vector<std::string>, VersionTexts>;

// One device as expressions see it. Values are converted once, here; expressions look them up in place. Constant once
// built, and shared between threads.
class DeviceInput {
 public:
  struct Attribute {
    std::string name;  // "model" or "gpu.example.com/model"; a bare name is in the driver's domain
    AttributeValue value;
  };
  struct Capacity {
    std::string name;
    std::string quantity;
  };

  DeviceInput(const DeviceFeatures& features, std::string_view driver, bool allow_multiple_allocations,
              const std::vector<Attribute>& attributes, const std::vector<Capacity>& capacity);
  ~DeviceInput();
  DeviceInput(DeviceInput&&) noexcept;
  DeviceInput& operator=(DeviceInput&&) noexcept;

  // `device`.
  const Value& variable() const { return variable_; }
  // Set if an attribute is unusable: then no expression can be evaluated for this device.
  const std::optional<std::string>& error() const { return error_; }

 private:
  struct Content;
  std::unique_ptr<Content> content_;
  Value variable_;
  std::optional<std::string> error_;
};

// Whether the device matches the selector.
Outcome Evaluate(const Program& program, const DeviceInput& device);

}  // namespace berth::cel
