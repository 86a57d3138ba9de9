#include "cel/device_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "cel/testing/judge.h"

namespace berth::cel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(Reads, AreTheConstantKeys) {
  const Path model = {"attributes", "d", "model"}, numa = {"attributes", "d", "numa"};
  const auto reads = [](std::string_view expression) {
    const auto program = MustCompile(expression);
    return program->reads() ? *program->reads() : std::vector<Path>{{"not known"}};
  };
  EXPECT_THAT(reads("true"), IsEmpty());
  EXPECT_THAT(reads("device.attributes[\"d\"].model == \"x\" && device.attributes[\"d\"].numa == 1"),
              ElementsAre(model, numa));
  EXPECT_THAT(reads("has(device.attributes.d.model)"), ElementsAre(model));
  EXPECT_THAT(reads("device.attributes[\"d\"].?model.orValue(\"\") == \"x\""), ElementsAre(model));
  EXPECT_THAT(reads("cel.bind(a, device.attributes[\"d\"], a.model == \"x\" && a.numa == 1)"),
              ElementsAre(model, numa));
  EXPECT_THAT(reads("cel.bind(a, device.attributes, cel.bind(b, a[\"d\"], b.model == \"x\"))"), ElementsAre(model));
  EXPECT_THAT(reads("device.driver == \"x\" || device.allowMultipleAllocations"),
              ElementsAre(Path{"allowMultipleAllocations"}, Path{"driver"}));
  EXPECT_THAT(reads("device.capacity[\"d\"].memory.isGreaterThan(quantity(\"1\"))"),
              ElementsAre(Path{"capacity", "d", "memory"}));
  EXPECT_THAT(reads("[1, 2].exists(x, device.attributes[\"d\"].numa == x)"), ElementsAre(numa));
  EXPECT_THAT(reads("(device.driver == \"x\" ? device.attributes[\"d\"].model : \"y\") == \"y\""),
              ElementsAre(model, Path{"driver"}));
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

// A device made of a few names and values, so that many share projections.
DeviceInput RandomDevice(rc::Gen<int> pick) {
  const auto choose = [&](int count) { return std::abs(*pick) % count; };
  std::vector<DeviceInput::Attribute> attributes;
  for (const char* name : {"model", "numa", "uuid", "o.example.com/vendor", "version"}) {
    switch (choose(7)) {
      case 0:
        attributes.push_back({name, int64_t{choose(3)}});
        break;
      case 1:
        attributes.push_back({name, choose(2) == 1});
        break;
      case 2:
        attributes.push_back({name, std::string(choose(2) == 1 ? "a100" : "t4")});
        break;
      case 3:
        attributes.push_back({name, VersionText{choose(2) == 1 ? "1.2.3" : "1.2.4-rc.1"}});
        break;
      case 4:
        attributes.push_back({name, VersionText{choose(9) == 0 ? "bad" : "2.0.0"}});
        break;
      default:
        break;
    }
  }
  static constexpr const char* kAmounts[] = {"40Gi", "1.5Gi", "1536Mi", "1", "100m"};
  std::vector<DeviceInput::Capacity> capacity;
  for (const char* name : {"memory", "cores"}) {
    if (choose(4) != 0) capacity.push_back({name, kAmounts[choose(5)]});
  }
  return DeviceInput(DeviceFeatures{}, choose(5) == 0 ? "e.example.com" : "d.example.com", choose(2) == 1, attributes,
                     capacity);
}

RC_GTEST_PROP(Projection, EqualKeysHaveEqualOutcomes, ()) {
  static const std::vector<std::shared_ptr<const Program>> programs = [] {
    std::vector<std::shared_ptr<const Program>> compiled;
    for (const char* expression :
         {"device.attributes[\"d.example.com\"].model == \"a100\"", "device.attributes[\"d.example.com\"].numa > 0",
          "has(device.attributes[\"d.example.com\"].model) && device.attributes[\"o.example.com\"].vendor in "
          "[\"a100\", 1]",
          "device.attributes[\"d.example.com\"].?version.orValue(semver(\"0.0.1\")).isGreaterThan(semver(\"1.2.3\"))",
          "device.capacity[\"d.example.com\"].memory.isInteger()",
          "device.capacity[\"d.example.com\"].memory.compareTo(quantity(\"1536Mi\")) == 0",
          "device.driver == \"d.example.com\" && device.allowMultipleAllocations",
          "cel.bind(a, device.attributes[\"d.example.com\"], a.model == \"t4\" || a.numa == 1 || a.version == "
          "a.model)"}) {
      compiled.push_back(MustCompile(expression));
    }
    return compiled;
  }();
  static std::vector<std::map<std::string, std::pair<std::string, uint64_t>>> memos(programs.size());
  const DeviceInput device = RandomDevice(rc::gen::arbitrary<int>());
  for (size_t i = 0; i < programs.size(); ++i) {
    const std::optional<std::string> key = ProjectionKey(*programs[i], device);
    RC_ASSERT(key.has_value());
    const Outcome direct = Evaluate(*programs[i], device);
    const auto kept = memos[i].emplace(*key, std::pair(Show(direct), direct.cost)).first->second;
    RC_ASSERT(kept == std::pair(Show(direct), direct.cost));
  }
}

}  // namespace
}  // namespace berth::cel
