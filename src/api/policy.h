// Policies for pods: disruption budgets, priority classes, and the objects that admission applies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/int_or_string.h"
#include "api/meta.h"
#include "api/resource_list.h"
#include "api/selector.h"
#include "api/taint.h"

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

struct LimitRangeItem {
  std::string type;  // Container, Pod, PersistentVolumeClaim
  ResourceList max;
  ResourceList min;
  ResourceList default_limit;  // JSON default
  ResourceList default_request;
  ResourceList max_limit_request_ratio;
};
struct LimitRangeSpec {
  std::vector<LimitRangeItem> limits;
};
struct LimitRange {
  ObjectMeta metadata;
  LimitRangeSpec spec;
};

struct ScopeRequirement {  // ScopedResourceSelectorRequirement
  std::string scope_name;
  std::string op;  // JSON operator
  std::vector<std::string> values;
};
struct ScopeSelector {
  std::vector<ScopeRequirement> match_expressions;
};
struct ResourceQuotaSpec {
  ResourceList hard;
  std::vector<std::string> scopes;
  std::optional<ScopeSelector> scope_selector;
};
struct ResourceQuotaStatus {
  ResourceList hard;
  ResourceList used;
};
struct ResourceQuota {
  ObjectMeta metadata;
  ResourceQuotaSpec spec;
  ResourceQuotaStatus status;
};

struct RuntimeClassOverhead {
  ResourceList pod_fixed;
};
struct RuntimeClassScheduling {
  Labels node_selector;
  std::vector<Toleration> tolerations;
};
struct RuntimeClass {
  ObjectMeta metadata;
  std::optional<RuntimeClassOverhead> overhead;
  std::optional<RuntimeClassScheduling> scheduling;
};

const codec::Message& Describe(const PodDisruptionBudgetSpec*);
const codec::Message& Describe(const PodDisruptionBudgetStatus*);
const codec::Message& Describe(const PodDisruptionBudget*);
const codec::Message& Describe(const PriorityClass*);
const codec::Message& Describe(const LimitRangeItem*);
const codec::Message& Describe(const LimitRangeSpec*);
const codec::Message& Describe(const LimitRange*);
const codec::Message& Describe(const ScopeRequirement*);
const codec::Message& Describe(const ScopeSelector*);
const codec::Message& Describe(const ResourceQuotaSpec*);
const codec::Message& Describe(const ResourceQuotaStatus*);
const codec::Message& Describe(const ResourceQuota*);
const codec::Message& Describe(const RuntimeClassOverhead*);
const codec::Message& Describe(const RuntimeClassScheduling*);
const codec::Message& Describe(const RuntimeClass*);

}  // namespace berth::api
