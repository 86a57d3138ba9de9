#include "report/page_data.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "api/taint.h"
#include "codec/json_writer.h"
#include "framework/pod_resources.h"
#include "framework/resource.h"

namespace berth::report {

namespace {

using framework::NodeInfo;
using framework::PodInfo;

class PageContextWriter {
 public:
  PageContextWriter(std::string& out, const sim::SimulationReport& report, const PageContext& context)
      : json_(out), report_(report), context_(context) {
    for (const sim::ResourceUse& use : report.utilisation.resources) resources_.emplace_back(use.resource);
  }

  void Write() {
    json_.StartObject();
    json_.Key("version");
    json_.String(context_.version);
    Texts("command", context_.command);
    Texts("inputs", context_.inputs);
    if (context_.cluster) Nodes();
    Pods();
    json_.EndObject();
  }

 private:
  void Texts(std::string_view key, const std::vector<std::string>& texts) {
    json_.Key(key);
    json_.StartArray();
    for (const std::string& text : texts) json_.String(text);
    json_.EndArray();
  }

  // Label keys are the same on all nodes, and long: nodes refer to them by index.
  void Nodes() {
    std::map<std::string_view, size_t> keys;
    for (const NodeInfo* node : context_.cluster->nodes()) {
      for (const auto& [key, value] : node->labels()) keys.emplace(key.str(), 0);
    }
    json_.Key("labelKeys");
    json_.StartArray();
    size_t position = 0;
    for (auto& [key, number] : keys) {
      number = position++;
      json_.String(key);
    }
    json_.EndArray();
    json_.Key("nodes");
    json_.StartArray();
    for (const sim::NodeUse& use : report_.utilisation.nodes) {
      const NodeInfo* node = context_.cluster->Find(use.node);
      if (node) {
        Node(*node, use, keys);
      } else {
        json_.Null();
      }
    }
    json_.EndArray();
  }

  void Node(const NodeInfo& node, const sim::NodeUse& use, const std::map<std::string_view, size_t>& keys) {
    json_.StartObject();
    json_.Key("labels");
    json_.StartArray();
    for (const auto& [key, value] : node.labels()) {
      json_.Uint64(keys.at(key.str()));
      json_.String(value.str());
    }
    json_.EndArray();
    json_.Key("taints");
    json_.StartArray();
    for (const api::Taint& taint : node.taints()) json_.String(taint.ToString());
    json_.EndArray();
    json_.Key("cordoned");
    json_.Bool(node.node().spec.unschedulable);
    json_.Key("conditions");
    json_.StartArray();
    for (const api::NodeCondition& condition : node.node().status.conditions) {
      json_.String(condition.type);
      json_.String(condition.status);
    }
    json_.EndArray();
    json_.Key("allocatable");
    json_.StartArray();
    for (const sim::Amount& amount : use.amounts) json_.Int64(amount.allocatable);
    json_.EndArray();
    PodsOf(node);
    json_.EndObject();
  }

  // Their names are in the report, in the same order.
  void PodsOf(const NodeInfo& node) {
    std::vector<std::pair<std::string, const PodInfo*>> pods;
    for (const framework::PodInfoPtr& pod : node.pods()) pods.emplace_back(pod->Key(), pod.get());
    std::sort(pods.begin(), pods.end());
    json_.Key("pods");
    json_.StartArray();
    for (const auto& [key, pod] : pods) Size(*pod);
    json_.EndArray();
  }

  void Pods() {
    std::unordered_map<std::string, std::shared_ptr<const api::Pod>> by_key;
    for (const api::Object& object : context_.objects) {
      if (auto pod = object.Share<api::Pod>()) by_key.emplace(api::KeyOf(pod->metadata), std::move(pod));
    }
    json_.Key("pods");
    json_.StartArray();
    for (const sim::PodReport& pod : report_.pods) {
      const auto found = by_key.find(pod.key);
      if (found == by_key.end()) {
        json_.Null();
      } else {
        Size(*PodInfo::Make(found->second, framework::RunningPodOptions(context_.gates)));
      }
    }
    json_.EndArray();
  }

  // The priority, then the request for each resource.
  void Size(const PodInfo& pod) {
    json_.StartArray();
    json_.Int64(pod.priority());
    for (const Symbol& resource : resources_) {
      json_.Int64(resource == framework::PodsName() ? 1 : pod.requests().Get(resource));
    }
    json_.EndArray();
  }

  codec::JsonWriter json_;
  const sim::SimulationReport& report_;
  const PageContext& context_;
  std::vector<Symbol> resources_;
};

}  // namespace

std::string ToPageContext(const sim::SimulationReport& report, const PageContext& context) {
  std::string out;
  PageContextWriter(out, report, context).Write();
  return out;
}

}  // namespace berth::report
