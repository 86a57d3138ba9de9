// Evaluates expressions against one sample device, for tables in tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "cel/device_environment.h"

namespace berth::cel {

inline const DeviceInput& SampleDevice() {
  static const DeviceInput device(DeviceFeatures{}, "gpu.example.com", true,
                                  {{"model", std::string("A100-SXM4-80GB")},
                                   {"numa", int64_t{1}},
                                   {"ecc", true},
                                   {"driverVersion", VersionText{"1.2.3-rc.1"}},
                                   {"text", std::string("größe")},
                                   {"other.example.com/vendor", std::string("acme")}},
                                  {{"memory", "40Gi"}, {"odd", "1.5Gi"}});
  return device;
}

inline const std::shared_ptr<const Environment>& SampleEnvironment() {
  static const std::shared_ptr<const Environment> environment = NewDeviceEnvironment(DeviceFeatures{});
  return environment;
}

inline std::string Show(const Outcome& outcome) {
  if (!outcome.failure) return outcome.matches ? "true" : "false";
  return std::string(FailureKindName(outcome.failure->kind)) + ": " + outcome.failure->text;
}

inline Outcome Judge(std::string_view expression) {
  auto compiled = Compile(expression, SampleEnvironment());
  if (const auto* failure = std::get_if<Failure>(&compiled)) return Outcome{false, *failure, 0};
  return Evaluate(*std::get<0>(compiled), SampleDevice());
}

// One row of a table: the outcome and the cost in kube-scheduler's CEL.
struct JudgedExpression {
  const char* expression;
  const char* outcome;
  uint64_t cost;
};

template <size_t kSize>
void ExpectJudged(const JudgedExpression (&rows)[kSize]) {
  for (const JudgedExpression& row : rows) {
    SCOPED_TRACE(row.expression);
    const Outcome outcome = Judge(row.expression);
    EXPECT_EQ(Show(outcome), row.outcome);
    EXPECT_EQ(outcome.cost, row.cost);
  }
}

}  // namespace berth::cel
