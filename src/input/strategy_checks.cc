// What the API server would reject in the way a workload replaces its pods: a rollout at an unintended pace is
// worthless.
#include <fmt/format.h>

#include "base/printable.h"
#include "input/object_checks.h"

namespace berth::input {

namespace {

// The number of pods used to check that a percentage is valid; its value does not matter.
constexpr int kSomePods = 100;

// Null: the API server's default.
void CheckPace(const std::string& path, const std::optional<api::IntOrString>& amount, FieldChecks& checks) {
  if (!amount) return;
  const Result<int> scaled = amount->ScaledValue(kSomePods, /*round_up=*/true);
  if (scaled && *scaled >= 0) return;
  checks.Add(path, fmt::format("expected a number of pods or a share such as \"25%\", found {}",
                               amount->is_string ? fmt::format("\"{}\"", base::Clipped(amount->string_value))
                                                 : std::to_string(amount->int_value)));
}

bool IsNothing(const std::optional<api::IntOrString>& amount) {
  if (!amount) return false;
  const Result<int> scaled = amount->ScaledValue(kSomePods, /*round_up=*/true);
  return scaled && *scaled == 0;
}

}  // namespace

void CheckStrategy(const api::Deployment& deployment, FieldChecks& checks) {
  if (!deployment.spec.strategy) return;
  const api::DeploymentStrategy& strategy = *deployment.spec.strategy;
  if (!strategy.type.empty()) checks.OneOf("spec.strategy.type", strategy.type, {"RollingUpdate", "Recreate"});
  if (!strategy.rolling_update) return;
  const std::string path = "spec.strategy.rollingUpdate";
  if (strategy.type == "Recreate") checks.Add(path, "must not be given when strategy.type is Recreate");
  CheckPace(path + ".maxSurge", strategy.rolling_update->max_surge, checks);
  CheckPace(path + ".maxUnavailable", strategy.rolling_update->max_unavailable, checks);
  if (IsNothing(strategy.rolling_update->max_surge) && IsNothing(strategy.rolling_update->max_unavailable)) {
    checks.Add(path + ".maxUnavailable", "must not be 0 when maxSurge is 0");
  }
}

void CheckStrategy(const api::StatefulSet& set, FieldChecks& checks) {
  if (!set.spec.update_strategy) return;
  const api::StatefulSetUpdateStrategy& strategy = *set.spec.update_strategy;
  if (!strategy.type.empty()) checks.OneOf("spec.updateStrategy.type", strategy.type, {"RollingUpdate", "OnDelete"});
  if (!strategy.rolling_update) return;
  const std::string path = "spec.updateStrategy.rollingUpdate";
  if (strategy.type == "OnDelete") checks.Add(path, "must not be given when updateStrategy.type is OnDelete");
  if (const int32_t partition = strategy.rolling_update->partition.value_or(0); partition < 0) {
    checks.Add(path + ".partition", fmt::format("must not be negative, found {}", partition));
  }
  CheckPace(path + ".maxUnavailable", strategy.rolling_update->max_unavailable, checks);
  if (IsNothing(strategy.rolling_update->max_unavailable)) checks.Add(path + ".maxUnavailable", "must not be 0");
}

void CheckStrategy(const api::DaemonSet& set, FieldChecks& checks) {
  if (!set.spec.update_strategy) return;
  const api::DaemonSetUpdateStrategy& strategy = *set.spec.update_strategy;
  if (!strategy.type.empty()) checks.OneOf("spec.updateStrategy.type", strategy.type, {"RollingUpdate", "OnDelete"});
  if (!strategy.rolling_update) return;
  const std::string path = "spec.updateStrategy.rollingUpdate";
  const api::RollingUpdate& pace = *strategy.rolling_update;
  CheckPace(path + ".maxSurge", pace.max_surge, checks);
  CheckPace(path + ".maxUnavailable", pace.max_unavailable, checks);
  const bool surges = pace.max_surge && !IsNothing(pace.max_surge);
  if (!surges && IsNothing(pace.max_unavailable)) {
    checks.Add(path + ".maxUnavailable", "must not be 0 when maxSurge is 0");
  }
  if (surges && pace.max_unavailable && !IsNothing(pace.max_unavailable)) {
    checks.Add(path + ".maxSurge", "must be 0 when maxUnavailable is not");
  }
}

}  // namespace berth::input
