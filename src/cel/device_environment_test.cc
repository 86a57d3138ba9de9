#include "cel/device_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cel/testing/judge.h"

namespace berth::cel {
namespace {

std::shared_ptr<const Program> MustCompile(std::string_view expression, bool lists = false) {
  static const std::shared_ptr<const Environment> with_lists = NewDeviceEnvironment(DeviceFeatures{true});
  auto compiled = Compile(expression, lists ? with_lists : SampleEnvironment());
  EXPECT_TRUE(std::holds_alternative<std::shared_ptr<const Program>>(compiled)) << expression;
  return std::get<0>(compiled);
}

TEST(DeviceEnvironment, BareNamesAreInTheDriversDomain) {
  EXPECT_EQ(Show(Judge("device.attributes[\"gpu.example.com\"].model == \"A100-SXM4-80GB\"")), "true");
  EXPECT_EQ(Show(Judge("device.attributes[\"other.example.com\"].vendor == \"acme\"")), "true");
  EXPECT_EQ(Show(Judge("device.attributes.size() == 2 && device.capacity.size() == 1")), "true");
}

TEST(DeviceEnvironment, EveryAttributeIsConvertedWhetherReadOrNot) {
  const std::shared_ptr<const Program> program = MustCompile("true");
  const auto with = [](AttributeValue value) {
    return DeviceInput(DeviceFeatures{}, "d", false, {{"bad", std::move(value)}}, {});
  };
  EXPECT_EQ(Show(Evaluate(*program, with(std::monostate()))), "attribute: attribute bad: unsupported attribute value");
  EXPECT_EQ(Show(Evaluate(*program, with(VersionText{"1.2"}))),
            "attribute: attribute bad: parse semantic version: No Major.Minor.Patch elements found");
  EXPECT_EQ(Show(Evaluate(*program, with(std::vector<int64_t>{1}))),
            "attribute: attribute bad: unsupported attribute value");
  EXPECT_EQ(Show(Evaluate(*program, with(int64_t{1}))), "true");
}

TEST(DeviceEnvironment, ListsWhereTheFeatureIsOn) {
  const DeviceFeatures features{true};
  const DeviceInput device(features, "d", false,
                           {{"ports", std::vector<int64_t>{80, 443}},
                            {"names", std::vector<std::string>{"a"}},
                            {"flags", std::vector<bool>{true}},
                            {"versions", VersionTexts{{"1.0.0", "2.0.0"}}},
                            {"one", std::string("x")}},
                           {});
  const auto judge = [&](std::string_view expression) {
    return Show(Evaluate(*MustCompile(expression, true), device));
  };
  EXPECT_EQ(judge("device.attributes[\"d\"].ports.includes(443)"), "true");
  EXPECT_EQ(judge("device.attributes[\"d\"].ports.includes(1)"), "false");
  EXPECT_EQ(judge("device.attributes[\"d\"].one.includes(\"x\")"), "true");
  EXPECT_EQ(judge("device.attributes[\"d\"].ports.max() == 443"), "true");
  EXPECT_EQ(judge("device.attributes[\"d\"].versions.exists(v, v.isGreaterThan(semver(\"1.5.0\")))"), "true");
  EXPECT_EQ(judge("device.attributes[\"d\"].flags[0]"), "true");
  EXPECT_EQ(
      judge("device.attributes[\"d\"].names"),
      "result: CEL result of type list could not be converted to bool: type conversion error from list to 'bool'");
  EXPECT_EQ(judge("lists.range(49).includes(48)"),
            "runtime: 'includes' function cannot be applied to lists longer than 48 values");
}

TEST(DeviceEnvironment, ResultsMustBeBool) {
  EXPECT_EQ(Show(Judge("device.attributes[\"gpu.example.com\"].ecc")), "true");
  EXPECT_EQ(Show(Judge("device.attributes[\"gpu.example.com\"].numa")),
            "result: CEL result of type int could not be converted to bool: unsupported type conversion from 'int' to "
            "bool");
  EXPECT_EQ(Show(Judge("device.driver")), "resultType: must evaluate to bool or the unknown type, not string");
  EXPECT_EQ(Show(Judge("dyn(true)")), "resultType: must evaluate to bool or the unknown type, not dyn");
}

TEST(DeviceEnvironment, AFailureSaysWhere) {
  auto compiled = Compile("device.driver ==\n  nosuch", SampleEnvironment());
  const Failure& failure = std::get<Failure>(compiled);
  EXPECT_EQ(failure.kind, FailureKind::kCompile);
  EXPECT_EQ(failure.line, 2);
  EXPECT_EQ(failure.column, 3);
}

TEST(Reads, AreUnknownWhereAnythingMayBeReached) {
  for (const char* expression :
       {"device.attributes.exists(d, d == \"x\")", "device.attributes[\"d\"].size() > 0",
        "\"x\" in device.attributes[\"d\"]", "device.attributes[device.driver].model == \"x\"",
        "device.attributes[\"d\"][device.driver] == \"x\"", "dyn(device).size() > 0", "device == device",
        "cel.bind(a, device.attributes[\"d\"], a.size() > 0)", "[device.attributes[\"d\"]].size() == 1",
        "(device.driver == \"x\" ? device.attributes : device.attributes).size() == 1",
        "cel.bind(a, device.attributes[?\"d\"], a.hasValue())"}) {
    SCOPED_TRACE(expression);
    EXPECT_EQ(MustCompile(expression)->reads(), nullptr);
  }
}

}  // namespace
}  // namespace berth::cel
