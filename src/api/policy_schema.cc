#include "api/policy.h"
#include "api/scalars.h"
#include "api/selector_schema.h"
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

const codec::Message& Describe(const LimitRangeItem*) {
  static const codec::Message message = codec::MessageOf<LimitRangeItem>("LimitRangeItem", {
      codec::Field("type", 1, &LimitRangeItem::type),
      codec::Field("max", 2, &LimitRangeItem::max),
      codec::Field("min", 3, &LimitRangeItem::min),
      codec::Field("default", 4, &LimitRangeItem::default_limit),
      codec::Field("defaultRequest", 5, &LimitRangeItem::default_request),
      codec::Field("maxLimitRequestRatio", 6, &LimitRangeItem::max_limit_request_ratio),
  });
  return message;
}

const codec::Message& Describe(const LimitRangeSpec*) {
  static const codec::Message message = codec::MessageOf<LimitRangeSpec>("LimitRangeSpec", {
      codec::Field("limits", 1, &LimitRangeSpec::limits),
  });
  return message;
}

const codec::Message& Describe(const LimitRange*) {
  static const codec::Message message = codec::MessageOf<LimitRange>("LimitRange", {
      codec::Field("metadata", 1, &LimitRange::metadata),
      codec::Field("spec", 2, &LimitRange::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const ScopeRequirement*) {
  static const codec::Message message = codec::MessageOf<ScopeRequirement>("ScopedResourceSelectorRequirement", {
      codec::Field("scopeName", 1, &ScopeRequirement::scope_name),
      codec::Field("operator", 2, &ScopeRequirement::op),
      codec::Field("values", 3, &ScopeRequirement::values),
  });
  return message;
}

const codec::Message& Describe(const ScopeSelector*) {
  static const codec::Message message = codec::MessageOf<ScopeSelector>("ScopeSelector", {
      codec::Field("matchExpressions", 1, &ScopeSelector::match_expressions),
  });
  return message;
}

const codec::Message& Describe(const ResourceQuotaSpec*) {
  static const codec::Message message = codec::MessageOf<ResourceQuotaSpec>("ResourceQuotaSpec", {
      codec::Field("hard", 1, &ResourceQuotaSpec::hard),
      codec::Field("scopes", 2, &ResourceQuotaSpec::scopes),
      codec::Field("scopeSelector", 3, &ResourceQuotaSpec::scope_selector),
  });
  return message;
}

const codec::Message& Describe(const ResourceQuotaStatus*) {
  static const codec::Message message = codec::MessageOf<ResourceQuotaStatus>("ResourceQuotaStatus", {
      codec::Field("hard", 1, &ResourceQuotaStatus::hard),
      codec::Field("used", 2, &ResourceQuotaStatus::used),
  });
  return message;
}

const codec::Message& Describe(const ResourceQuota*) {
  static const codec::Message message = codec::MessageOf<ResourceQuota>("ResourceQuota", {
      codec::Field("metadata", 1, &ResourceQuota::metadata),
      codec::Field("spec", 2, &ResourceQuota::spec),
      codec::Field("status", 3, &ResourceQuota::status),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const RuntimeClassOverhead*) {
  static const codec::Message message = codec::MessageOf<RuntimeClassOverhead>("Overhead", {
      codec::Field("podFixed", 1, &RuntimeClassOverhead::pod_fixed),
  });
  return message;
}

const codec::Message& Describe(const RuntimeClassScheduling*) {
  static const codec::Message message = codec::MessageOf<RuntimeClassScheduling>("Scheduling", {
      codec::Field("nodeSelector", 1, &RuntimeClassScheduling::node_selector),
      codec::Field("tolerations", 2, &RuntimeClassScheduling::tolerations),
  });
  return message;
}

const codec::Message& Describe(const RuntimeClass*) {
  static const codec::Message message = codec::MessageOf<RuntimeClass>("RuntimeClass", {
      codec::Field("metadata", 1, &RuntimeClass::metadata),
      codec::Field("overhead", 3, &RuntimeClass::overhead),
      codec::Field("scheduling", 4, &RuntimeClass::scheduling),
  }).Ignore({"apiVersion", "kind", "handler"});
  return message;
}

// clang-format on

}  // namespace berth::api
