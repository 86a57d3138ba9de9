#include "usage.h"

#include <vector>

namespace example {

using berth::Error;
using berth::Result;
namespace codec = berth::codec;

namespace {

struct Metadata {
  std::string name;
};
const codec::Message& Describe(const Metadata*) {
  static const codec::Message message =
      codec::MessageOf<Metadata>("ObjectMeta", {codec::Field("name", 0, &Metadata::name)});
  return message;
}

struct NodeMetrics {
  Metadata metadata;
  Usage usage;
};
const codec::Message& Describe(const NodeMetrics*) {
  static const codec::Message message = codec::MessageOf<NodeMetrics>(
      "NodeMetrics",
      {codec::Field("metadata", 0, &NodeMetrics::metadata), codec::Field("usage", 0, &NodeMetrics::usage)});
  return message;
}

struct NodeMetricsList {
  std::string kind;
  std::vector<NodeMetrics> items;
};
const codec::Message& Describe(const NodeMetricsList*) {
  static const codec::Message message = codec::MessageOf<NodeMetricsList>(
      "NodeMetricsList",
      {codec::Field("kind", 0, &NodeMetricsList::kind), codec::Field("items", 0, &NodeMetricsList::items)});
  return message;
}

// Fields that nobody here reads are skipped.
template <class T>
Result<T> Read(const std::string& json, std::string name) {
  const Result<codec::Document> document = codec::ParseJson(json, std::move(name));
  if (!document) return document.error();
  return codec::DecodeDocument<T>(*document, {});
}

}  // namespace

const codec::Message& Describe(const Usage*) {
  static const codec::Message message = codec::MessageOf<Usage>(
      "Usage", {codec::Field("cpu", 0, &Usage::cpu), codec::Field("memory", 0, &Usage::memory)});
  return message;
}

Result<Usage> ParseUsage(const std::string& json) { return Read<Usage>(json, "usage"); }

Result<UsageByNode> ParseNodeMetrics(const std::string& json) {
  Result<NodeMetricsList> list = Read<NodeMetricsList>(json, "metrics");
  if (!list) return list.error();
  // An API server says what went wrong in JSON as well.
  if (list->kind != "NodeMetricsList") {
    return Error::InvalidArgument("metrics: kind: expected NodeMetricsList, found \"" + list->kind + "\"");
  }
  UsageByNode usage;
  for (NodeMetrics& item : list->items) usage.insert_or_assign(std::move(item.metadata.name), item.usage);
  return usage;
}

}  // namespace example
