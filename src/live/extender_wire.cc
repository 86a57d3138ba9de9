#include "live/extender_wire.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/node.h"
#include "api/pod.h"
#include "codec/json.h"
#include "codec/json_writer.h"

namespace berth::live {
namespace {

using codec::Field;
using codec::JsonWriter;
using framework::PreemptionCandidate;

constexpr codec::DecodeOptions kAsGoReads{.yaml = true};

void WriteNodeList(JsonWriter& writer, engine::Nodes nodes) {
  writer.StartObject();
  writer.Key("metadata");
  writer.StartObject();
  writer.EndObject();
  writer.Key("items");
  writer.StartArray();
  for (const framework::NodeInfo* node : nodes) writer.Object(node->node());
  writer.EndArray();
  writer.EndObject();
}

// Victims, or MetaVictims.
void WriteVictims(JsonWriter& writer, const framework::Victims& victims, bool uids_only) {
  writer.StartObject();
  writer.Key("Pods");
  writer.StartArray();
  for (const framework::PodInfoPtr& pod : victims.pods) {
    if (uids_only) {
      writer.StartObject();
      writer.Key("UID");
      writer.String(pod->uid());
      writer.EndObject();
    } else {
      writer.Object(*pod->shared_pod());
    }
  }
  writer.EndArray();
  writer.Key("NumPDBViolations");
  writer.Int64(victims.pdb_violations);
  writer.EndObject();
}

}  // namespace

std::string EncodeExtenderArgs(const framework::PodInfo& pod, engine::Nodes nodes, bool names_only) {
  std::string out;
  JsonWriter writer(out);
  writer.StartObject();
  writer.Key("Pod");
  writer.Object(pod.pod());
  writer.Key("Nodes");
  if (names_only) {
    writer.Null();
  } else {
    WriteNodeList(writer, nodes);
  }
  writer.Key("NodeNames");
  if (names_only) {
    writer.StartArray();
    for (const framework::NodeInfo* node : nodes) writer.String(node->name());
    writer.EndArray();
  } else {
    writer.Null();
  }
  writer.EndObject();
  return out;
}

std::string EncodePreemptionArgs(const framework::PodInfo& pod, std::span<const PreemptionCandidate> candidates,
                                 bool uids_only) {
  std::vector<const PreemptionCandidate*> by_name;
  for (const PreemptionCandidate& candidate : candidates) by_name.push_back(&candidate);
  std::ranges::sort(by_name, {}, &PreemptionCandidate::node_name);
  std::string out;
  JsonWriter writer(out);
  writer.StartObject();
  writer.Key("Pod");
  writer.Object(pod.pod());
  for (const bool uids : {false, true}) {
    writer.Key(uids ? "NodeNameToMetaVictims" : "NodeNameToVictims");
    if (uids != uids_only) {
      writer.Null();
      continue;
    }
    writer.StartObject();
    for (const PreemptionCandidate* candidate : by_name) {
      writer.Key(candidate->node_name);
      WriteVictims(writer, candidate->victims, uids);
    }
    writer.EndObject();
  }
  writer.EndObject();
  return out;
}

std::string EncodeBindingArgs(const framework::PodInfo& pod, const std::string& node_name) {
  std::string out;
  JsonWriter writer(out);
  writer.StartObject();
  writer.Key("PodName");
  writer.String(pod.name());
  writer.Key("PodNamespace");
  writer.String(pod.namespace_().str());
  writer.Key("PodUID");
  writer.String(pod.uid());
  writer.Key("Node");
  writer.String(node_name);
  writer.EndObject();
  return out;
}

const codec::Message& Describe(const AnsweredMeta*) {
  static const codec::Message message =
      codec::MessageOf<AnsweredMeta>("ObjectMeta", {Field("name", 1, &AnsweredMeta::name)}).IgnoreOthers();
  return message;
}

const codec::Message& Describe(const AnsweredNode*) {
  static const codec::Message message =
      codec::MessageOf<AnsweredNode>("Node", {Field("metadata", 1, &AnsweredNode::metadata)}).IgnoreOthers();
  return message;
}

const codec::Message& Describe(const AnsweredNodes*) {
  static const codec::Message message =
      codec::MessageOf<AnsweredNodes>("NodeList", {Field("items", 2, &AnsweredNodes::items)}).IgnoreOthers();
  return message;
}

const codec::Message& Describe(const FilterAnswer*) {
  static const codec::Message message = codec::MessageOf<FilterAnswer>(
      "ExtenderFilterResult", {
                                  Field("Nodes", 0, &FilterAnswer::nodes),
                                  Field("NodeNames", 0, &FilterAnswer::node_names),
                                  Field("FailedNodes", 0, &FilterAnswer::failed_nodes),
                                  Field("FailedAndUnresolvableNodes", 0, &FilterAnswer::failed_and_unresolvable_nodes),
                                  Field("Error", 0, &FilterAnswer::error),
                              });
  return message;
}

const codec::Message& Describe(const MetaPod*) {
  static const codec::Message message = codec::MessageOf<MetaPod>("MetaPod", {Field("UID", 0, &MetaPod::uid)});
  return message;
}

const codec::Message& Describe(const MetaVictims*) {
  static const codec::Message message =
      codec::MessageOf<MetaVictims>("MetaVictims", {
                                                       Field("Pods", 0, &MetaVictims::pods),
                                                       Field("NumPDBViolations", 0, &MetaVictims::num_pdb_violations),
                                                   });
  return message;
}

const codec::Message& Describe(const PreemptionAnswer*) {
  static const codec::Message message = codec::MessageOf<PreemptionAnswer>(
      "ExtenderPreemptionResult", {Field("NodeNameToMetaVictims", 0, &PreemptionAnswer::node_name_to_meta_victims)});
  return message;
}

const codec::Message& Describe(const BindingAnswer*) {
  static const codec::Message message =
      codec::MessageOf<BindingAnswer>("ExtenderBindingResult", {Field("Error", 0, &BindingAnswer::error)});
  return message;
}

const codec::Message& Describe(const AnsweredPriority*) {
  static const codec::Message message = codec::MessageOf<AnsweredPriority>(
      "HostPriority", {Field("Host", 0, &AnsweredPriority::host), Field("Score", 0, &AnsweredPriority::score)});
  return message;
}

template <codec::Described Answer>
Result<Answer> DecodeAnswer(std::string text, std::string source) {
  const Result<codec::Document> document = codec::ParseJson(std::move(text), std::move(source));
  if (!document) return document.error();
  // Go decodes a null to an empty value.
  if (document->root().is_null()) return Answer{};
  return codec::DecodeDocument<Answer>(*document, kAsGoReads);
}

template Result<FilterAnswer> DecodeAnswer(std::string text, std::string source);
template Result<PreemptionAnswer> DecodeAnswer(std::string text, std::string source);
template Result<BindingAnswer> DecodeAnswer(std::string text, std::string source);

Result<std::vector<engine::HostPriority>> DecodePriorities(std::string text, std::string source) {
  const Result<codec::Document> document = codec::ParseJson(std::move(text), std::move(source));
  if (!document) return document.error();
  const codec::Value& root = document->root();
  if (!root.is_array() && !root.is_null()) {
    return Error::InvalidArgument(fmt::format("{}: expected a list, found {}",
                                              codec::Where(document->file_name(), root.mark()), root.Description()));
  }
  std::vector<engine::HostPriority> priorities;
  std::vector<codec::Diagnostic> problems;
  for (size_t i = 0; i < root.items().size(); ++i) {
    AnsweredPriority priority;
    codec::Decode(root.items()[i], priority, kAsGoReads, problems, fmt::format("[{}]", i));
    priorities.push_back({std::move(priority.host), priority.score});
  }
  if (const Result<void> decoded = codec::ToResult(document->file_name(), problems); !decoded) return decoded.error();
  return priorities;
}

}  // namespace berth::live
