// Disruption budgets and priority classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/int_or_string.h"
#include "api/meta.h"
#include "api/selector.h"

namespace berth::api {

struct PodDisruptionBudgetSpec {
  std::optional<IntOrString> min_available;
  std::optional<LabelSelector> selector;
  std::optional<IntOrString> max_unavailable;
};
struct PodDisruptionBudgetStatus {
  base::FlatMap<std::string, Time> disrupted_pods;
  int32_t disruptions_allowed = 0;
};
struct PodDisruptionBudget {
  ObjectMeta metadata;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;
};

struct PriorityClass {
  ObjectMeta metadata;
  int32_t value = 0;
  bool global_default = false;
  std::optional<std::string> preemption_policy;
};

const codec::Message& Describe(const PodDisruptionBudgetSpec*);
const codec::Message& Describe(const PodDisruptionBudgetStatus*);
const codec::Message& Describe(const PodDisruptionBudget*);
const codec::Message& Describe(const PriorityClass*);

}  // namespace berth::api
