#include "cel/testing/fuzz_targets.h"

#include <memory>
#include <string>
#include <variant>

#include "base/check.h"
#include "cel/device_environment.h"
#include "cel/parser.h"
#include "cel/testing/unparse.h"

namespace berth::cel {
namespace {

const DeviceInput& SampleDevice(bool lists) {
  const auto make = [](bool with_lists) {
    std::vector<DeviceInput::Attribute> attributes = {
        {"model", std::string("A100-SXM4-80GB")},
        {"numa", int64_t{1}},
        {"ecc", true},
        {"driverVersion", VersionText{"1.2.3-rc.1"}},
        {"text", std::string("größe")},
        {"other.example.com/vendor", std::string("acme")},
    };
    if (with_lists) {
      attributes.push_back({"ports", std::vector<int64_t>{80, 443}});
      attributes.push_back({"names", std::vector<std::string>{"a", "b"}});
      attributes.push_back({"versions", VersionTexts{{"1.0.0", "2.0.0"}}});
    }
    return DeviceInput(DeviceFeatures{with_lists}, "gpu.example.com", true, attributes,
                       {{"memory", "40Gi"}, {"cores", "108"}, {"odd", "1.5Gi"}});
  };
  static const DeviceInput plain = make(false);
  static const DeviceInput with_lists = make(true);
  return lists ? with_lists : plain;
}

void CheckRoundTrip(std::string_view text) {
  const Parsed parsed = Parse(text);
  if (!parsed.issues.empty()) return;
  const std::string printed = Unparse(*parsed.ast->root());
  const Parsed again = Parse(printed);
  // Added parentheses may push nesting that was just within the limit over it.
  if (!again.issues.empty()) {
    const std::string why = again.issues.items()[0].message;
    CHECK_WHY(why.find("recursion") != std::string::npos || why.find("size") != std::string::npos,
              "what was printed does not parse");
    return;
  }
  CHECK_WHY(IsSameTree(*parsed.ast->root(), *again.ast->root()), "what was printed is another expression");
}

}  // namespace

void FuzzCel(std::string_view text) {
  CheckRoundTrip(text);
  static const std::shared_ptr<const Environment> environments[] = {
      NewDeviceEnvironment(DeviceFeatures{false}),
      NewDeviceEnvironment(DeviceFeatures{true}),
  };
  for (const bool lists : {false, true}) {
    const auto compiled = Compile(text, environments[lists ? 1 : 0]);
    const auto* program = std::get_if<0>(&compiled);
    if (program == nullptr) continue;
    const Outcome outcome = Evaluate(**program, SampleDevice(lists));
    // The cost stays within one step of the limit, and a second run gives the same result.
    const Outcome again = Evaluate(**program, SampleDevice(lists));
    CHECK(outcome.matches == again.matches && outcome.cost == again.cost);
    CHECK(outcome.failure.has_value() == again.failure.has_value());
  }
}

}  // namespace berth::cel
