#include "api/leaf_schema.h"
#include "api/policy.h"
#include "api/scalars.h"
#include "codec/schema.h"

namespace berth::api {

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const PodDisruptionBudgetSpec*) {
  static const codec::Message message = codec::MessageOf<PodDisruptionBudgetSpec>("PodDisruptionBudgetSpec", {
      codec::Field("minAvailable", 1, &PodDisruptionBudgetSpec::min_available),
      codec::Field("selector", 2, &PodDisruptionBudgetSpec::selector),
      codec::Field("maxUnavailable", 3, &PodDisruptionBudgetSpec::max_unavailable),
  }).Ignore({"unhealthyPodEvictionPolicy"});
  return message;
}

const codec::Message& Describe(const PodDisruptionBudgetStatus*) {
  static const codec::Message message = codec::MessageOf<PodDisruptionBudgetStatus>("PodDisruptionBudgetStatus", {
      codec::Field("disruptedPods", 2, &PodDisruptionBudgetStatus::disrupted_pods),
      codec::Field("disruptionsAllowed", 3, &PodDisruptionBudgetStatus::disruptions_allowed).Always(),
  }).Ignore({"observedGeneration", "currentHealthy", "desiredHealthy", "expectedPods", "conditions"});
  return message;
}

const codec::Message& Describe(const PodDisruptionBudget*) {
  static const codec::Message message = codec::MessageOf<PodDisruptionBudget>("PodDisruptionBudget", {
      codec::Field("metadata", 1, &PodDisruptionBudget::metadata),
      codec::Field("spec", 2, &PodDisruptionBudget::spec),
      codec::Field("status", 3, &PodDisruptionBudget::status).Always(),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const PriorityClass*) {
  static const codec::Message message = codec::MessageOf<PriorityClass>("PriorityClass", {
      codec::Field("metadata", 1, &PriorityClass::metadata),
      codec::Field("value", 2, &PriorityClass::value),
      codec::Field("globalDefault", 3, &PriorityClass::global_default),
      codec::Field("preemptionPolicy", 5, &PriorityClass::preemption_policy),
  }).Ignore({"apiVersion", "kind", "description"});
  return message;
}

// clang-format on

}  // namespace berth::api
