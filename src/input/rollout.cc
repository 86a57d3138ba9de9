#include "input/rollout.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace berth::input {

namespace {

size_t Scaled(const std::optional<api::IntOrString>& amount, const api::IntOrString& otherwise, size_t wanted,
              bool round_up) {
  const Result<int> number = amount.value_or(otherwise).ScaledValue(static_cast<int>(wanted), round_up);
  return number && *number > 0 ? static_cast<size_t>(*number) : 0;
}

}  // namespace

std::string Rollout::Pace() const {
  return order == Order::kAnyFirst || max_surge > 0
             ? fmt::format("maxSurge {}, maxUnavailable {}", max_surge, max_unavailable)
             : fmt::format("maxUnavailable {}", max_unavailable);
}

void SetPace(const api::Deployment& deployment, size_t wanted, Rollout& rollout) {
  const api::DeploymentStrategy strategy = deployment.spec.strategy.value_or(api::DeploymentStrategy{});
  rollout.order = Rollout::Order::kAnyFirst;
  rollout.wanted = wanted;
  if (strategy.type == "Recreate") {
    rollout.max_surge = 0;
    rollout.max_unavailable = std::max(wanted, rollout.old_uids.size());
    return;
  }
  const api::RollingUpdate pace = strategy.rolling_update.value_or(api::RollingUpdate{});
  const api::IntOrString quarter = api::IntOrString::FromString("25%");
  rollout.max_surge = Scaled(pace.max_surge, quarter, wanted, /*round_up=*/true);
  rollout.max_unavailable = std::min(Scaled(pace.max_unavailable, quarter, wanted, /*round_up=*/false), wanted);
  // If both are rounded down to zero, the rollout would never proceed.
  if (rollout.max_surge == 0 && rollout.max_unavailable == 0) rollout.max_unavailable = 1;
}

void SetPace(const api::StatefulSet& set, size_t wanted, Rollout& rollout) {
  rollout.order = Rollout::Order::kInTurn;
  rollout.wanted = wanted;
  rollout.max_surge = 0;
  const auto strategy = set.spec.update_strategy.value_or(api::StatefulSetUpdateStrategy{});
  const auto pace = strategy.rolling_update.value_or(api::StatefulSetRollingUpdate{});
  rollout.max_unavailable =
      std::max<size_t>(Scaled(pace.max_unavailable, api::IntOrString::FromInt(1), wanted, true), 1);
}

void SetPace(const api::DaemonSet& set, size_t wanted, Rollout& rollout) {
  rollout.order = Rollout::Order::kInTurn;
  rollout.wanted = wanted;
  const auto strategy = set.spec.update_strategy.value_or(api::DaemonSetUpdateStrategy{});
  const api::RollingUpdate pace = strategy.rolling_update.value_or(api::RollingUpdate{});
  rollout.max_surge = Scaled(pace.max_surge, api::IntOrString::FromInt(0), wanted, /*round_up=*/true);
  rollout.max_unavailable = rollout.max_surge > 0 && !pace.max_unavailable
                                ? 0
                                : Scaled(pace.max_unavailable, api::IntOrString::FromInt(1), wanted, true);
  if (rollout.max_surge == 0 && rollout.max_unavailable == 0) rollout.max_unavailable = 1;
}

}  // namespace berth::input
