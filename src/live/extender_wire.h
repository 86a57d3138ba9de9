// The JSON that extenders use: k8s.io/kube-scheduler/extender/v1, whose fields have Go's own names. Absent fields are
// sent as null, as in Go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"
#include "codec/decode.h"
#include "engine/extender.h"
#include "framework/plugin.h"

namespace berth::live {

// ExtenderArgs, of filter and prioritize. `names_only` is for extenders that know the nodes themselves.
std::string EncodeExtenderArgs(const framework::PodInfo& pod, engine::Nodes nodes, bool names_only);
// ExtenderPreemptionArgs. `uids_only` is for extenders that know the pods themselves.
std::string EncodePreemptionArgs(const framework::PodInfo& pod,
                                 std::span<const framework::PreemptionCandidate> candidates, bool uids_only);
// ExtenderBindingArgs.
std::string EncodeBindingArgs(const framework::PodInfo& pod, const std::string& node_name);

// Only the names of the nodes in an answer matter.
struct AnsweredMeta {
  std::string name;
};
struct AnsweredNode {
  AnsweredMeta metadata;
};
struct AnsweredNodes {
  std::vector<AnsweredNode> items;
};

// ExtenderFilterResult
struct FilterAnswer {
  std::optional<AnsweredNodes> nodes;
  std::optional<std::vector<std::string>> node_names;
  base::FlatMap<std::string, std::string> failed_nodes;
  base::FlatMap<std::string, std::string> failed_and_unresolvable_nodes;
  std::string error;
};

struct MetaPod {
  std::string uid;
};
struct MetaVictims {
  std::vector<MetaPod> pods;
  int64_t num_pdb_violations = 0;
};
// ExtenderPreemptionResult
struct PreemptionAnswer {
  base::FlatMap<std::string, MetaVictims> node_name_to_meta_victims;
};

// HostPriority
struct AnsweredPriority {
  std::string host;
  int64_t score = 0;
};

// ExtenderBindingResult
struct BindingAnswer {
  std::string error;
};

const codec::Message& Describe(const AnsweredMeta*);
const codec::Message& Describe(const AnsweredNode*);
const codec::Message& Describe(const AnsweredNodes*);
const codec::Message& Describe(const FilterAnswer*);
const codec::Message& Describe(const MetaPod*);
const codec::Message& Describe(const MetaVictims*);
const codec::Message& Describe(const PreemptionAnswer*);
const codec::Message& Describe(const AnsweredPriority*);
const codec::Message& Describe(const BindingAnswer*);

// Decodes one of the answers above. As in Go, the case of field names does not matter and unknown fields are skipped.
// `source` names the text in errors.
template <codec::Described Answer>
Result<Answer> DecodeAnswer(std::string text, std::string source);
// A list of HostPriority.
Result<std::vector<engine::HostPriority>> DecodePriorities(std::string text, std::string source);

}  // namespace berth::live
