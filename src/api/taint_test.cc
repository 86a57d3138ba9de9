#include "api/taint.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::api {
namespace {

Taint MakeTaint(std::string_view key, std::string_view value, const Symbol& effect) {
  return {Symbol(key), Symbol(value), effect, std::nullopt};
}
Toleration MakeToleration(std::string_view key, std::string_view op, std::string_view value,
                          const Symbol& effect = {}) {
  return {Symbol(key), Symbol(op), Symbol(value), effect, std::nullopt};
}

TEST(Toleration, CoversATaintByKeyValueAndEffect) {
  const Taint taint = MakeTaint("gpu", "a100", NoSchedule());
  const struct {
    Toleration toleration;
    bool tolerates;
  } tests[] = {
      {MakeToleration("gpu", "Equal", "a100", NoSchedule()), true},
      {MakeToleration("gpu", "", "a100"), true},
      {MakeToleration("gpu", "Equal", "h100"), false},
      {MakeToleration("gpu", "Exists", ""), true},
      {MakeToleration("gpu", "Exists", "", NoExecute()), false},
      {MakeToleration("cpu", "Exists", ""), false},
      {MakeToleration("", "Exists", ""), true},
      {MakeToleration("", "Exists", "", PreferNoSchedule()), false},
      {MakeToleration("gpu", "exists", ""), false},
  };
  for (const auto& test : tests) {
    for (const bool comparison : {false, true}) {
      EXPECT_EQ(Tolerates(test.toleration, taint, comparison), test.tolerates)
          << test.toleration.key.str() << " " << test.toleration.op.str() << " " << test.toleration.value.str();
    }
  }
}

TEST(Toleration, ComparesIntegersInCanonicalFormOnly) {
  const struct {
    std::string_view op, bound, value;
    bool tolerates;
  } tests[] = {
      {"Gt", "5", "6", true},
      {"Gt", "5", "5", false},
      {"Lt", "5", "4", true},
      {"Lt", "5", "5", false},
      {"Lt", "5", "-5", true},
      {"Gt", "5", "06", false},
      {"Gt", "+5", "6", false},
      {"Lt", "1", "-0", false},
      {"Lt", "1", "0", true},
      {"Gt", "5", "six", false},
      {"Gt", "", "6", false},
      {"Gt", "-", "6", false},
      {"Gt", "5", "9223372036854775808", false},
  };
  for (const auto& test : tests) {
    const Toleration toleration = MakeToleration("sla", test.op, test.bound);
    const Taint taint = MakeTaint("sla", test.value, NoExecute());
    EXPECT_EQ(Tolerates(toleration, taint, true), test.tolerates) << test.op << test.bound << " of " << test.value;
    EXPECT_FALSE(Tolerates(toleration, taint, false));
  }
}

TEST(FindUntolerated, ReturnsTheFirstThatCounts) {
  const std::vector<Taint> taints = {MakeTaint("soft", "", PreferNoSchedule()), MakeTaint("gpu", "", NoSchedule()),
                                     MakeTaint("down", "", NoExecute())};
  const std::vector<Toleration> gpu = {MakeToleration("gpu", "Exists", "")};
  EXPECT_EQ(FindUntolerated(taints, {}, ForbidsScheduling, false), &taints[1]);
  EXPECT_EQ(FindUntolerated(taints, gpu, ForbidsScheduling, false), &taints[2]);
  EXPECT_EQ(FindUntolerated(
                taints, gpu, [](const Taint&) { return true; }, false),
            &taints[0]);
  const std::vector<Toleration> all = {MakeToleration("", "Exists", "")};
  EXPECT_EQ(FindUntolerated(taints, all, ForbidsScheduling, false), nullptr);
}

TEST(Taint, PrintsWithoutItsEmptyParts) {
  EXPECT_EQ(MakeTaint("k", "v", NoSchedule()).ToString(), "k=v:NoSchedule");
  EXPECT_EQ(MakeTaint("k", "", NoSchedule()).ToString(), "k:NoSchedule");
  EXPECT_EQ(MakeTaint("k", "v", {}).ToString(), "k=v:");
  EXPECT_EQ(MakeTaint("k", "", {}).ToString(), "k");
}

}  // namespace
}  // namespace berth::api
