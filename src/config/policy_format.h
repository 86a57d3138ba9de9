// A scheduler Policy as a person wrote it: kind Policy of apiVersion v1, as Kubernetes read it up to 1.22.
// Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec/decode.h"
#include "config/file_args.h"
#include "config/file_format.h"

namespace berth::config {

struct PolicyServiceAffinity {
  std::vector<std::string> labels;
};

struct PolicyLabelsPresence {
  std::vector<std::string> labels;
  bool presence = false;
};

struct PolicyServiceAntiAffinity {
  std::string label;
};

struct PolicyLabelPreference {
  std::string label;
  bool presence = false;
};

struct PolicyRatioArguments {
  std::vector<UtilizationShapePoint> shape;
  std::vector<FileResourceSpec> resources;
};

// Exactly one member is set.
struct PredicateArgument {
  std::optional<PolicyServiceAffinity> service_affinity;
  std::optional<PolicyLabelsPresence> labels_presence;
};

// Exactly one member is set.
struct PriorityArgument {
  std::optional<PolicyServiceAntiAffinity> service_anti_affinity;
  std::optional<PolicyLabelPreference> label_preference;
  std::optional<PolicyRatioArguments> requested_to_capacity_ratio;
};

struct PredicatePolicy {
  std::string name;
  std::optional<PredicateArgument> argument;
};

struct PriorityPolicy {
  std::string name;
  int64_t weight = 0;
  std::optional<PriorityArgument> argument;
};

// Like FileExtender, with two differences: enableHttps, and a timeout in nanoseconds.
struct PolicyExtender {
  std::string url_prefix, filter_verb, preempt_verb, prioritize_verb;
  int64_t weight = 0;
  std::string bind_verb;
  bool enable_https = false;
  std::optional<FileExtenderTls> tls_config;
  int64_t http_timeout = 0;
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;
};

struct Policy {
  FileTypeMeta type;
  // Absent: the defaults. Empty: none (for predicates, only the mandatory ones).
  std::optional<std::vector<PredicatePolicy>> predicates;
  std::optional<std::vector<PriorityPolicy>> priorities;
  std::vector<PolicyExtender> extenders;
  int32_t hard_pod_affinity_symmetric_weight = 0;
  bool always_check_all_predicates = false;
};

const codec::Message& Describe(const PolicyServiceAffinity*);
const codec::Message& Describe(const PolicyLabelsPresence*);
const codec::Message& Describe(const PolicyServiceAntiAffinity*);
const codec::Message& Describe(const PolicyLabelPreference*);
const codec::Message& Describe(const PolicyRatioArguments*);
const codec::Message& Describe(const PredicateArgument*);
const codec::Message& Describe(const PriorityArgument*);
const codec::Message& Describe(const PredicatePolicy*);
const codec::Message& Describe(const PriorityPolicy*);
const codec::Message& Describe(const PolicyExtender*);
const codec::Message& Describe(const Policy*);

// Decodes the extenders of `root`, a Policy or a file of v1alpha2, separately (any_case.h). `diagnostics` are those of
// decoding `root` as a whole: those about extenders are replaced.
void ReadPolicyExtenders(const codec::Value& root, std::vector<PolicyExtender>& extenders,
                         std::vector<codec::Diagnostic>& diagnostics, std::vector<codec::Diagnostic>& skipped);

}  // namespace berth::config
