#include "zone_label.h"

#include <algorithm>
#include <set>

namespace example {

using berth::Error;
using berth::Result;
using berth::Symbol;
namespace api = berth::api;
namespace codec = berth::codec;
namespace framework = berth::framework;

const codec::Message& Describe(const ZoneLabelArgs*) {
  static const codec::Message message = codec::MessageOf<ZoneLabelArgs>(
      "ZoneLabelArgs", {
                           codec::Field("nodeLabel", 0, &ZoneLabelArgs::node_label),
                           codec::Field("podLabel", 0, &ZoneLabelArgs::pod_label),
                           codec::Field("defaultZones", 0, &ZoneLabelArgs::default_zones),
                       });
  return message;
}

berth::NewPlugin ZoneLabel::Create(const berth::PluginArgs& given, framework::Handle& handle) {
  const Result<ZoneLabelArgs> args = berth::ReadArgs<ZoneLabelArgs>(given);
  if (!args) return args.error();
  if (args->node_label.empty()) return Error::InvalidArgument("args.nodeLabel: expected a label key, found \"\"");
  if (args->pod_label.empty()) return Error::InvalidArgument("args.podLabel: expected a label key, found \"\"");
  return std::unique_ptr<framework::Plugin>(new ZoneLabel(*args, handle));
}

ZoneLabel::ZoneLabel(const ZoneLabelArgs& args, const framework::Handle& handle)
    : node_label_(args.node_label), pod_label_(args.pod_label), handle_(handle) {
  for (const std::string& zone : args.default_zones) default_zones_.emplace_back(zone);
}

std::vector<Symbol> ZoneLabel::ZonesOf(const framework::PodInfo& pod) const {
  const Symbol* own = pod.labels().Find(pod_label_);
  return own != nullptr ? std::vector<Symbol>{*own} : default_zones_;
}

bool ZoneLabel::IsIn(const api::Labels& node_labels, const std::vector<Symbol>& zones) const {
  const Symbol* zone = node_labels.Find(node_label_);
  return zone != nullptr && std::ranges::find(zones, *zone) != zones.end();
}

framework::PreFilterResult ZoneLabel::PreFilter(framework::CycleState&, const framework::PodInfo& pod) const {
  const std::vector<Symbol> zones = ZonesOf(pod);
  if (zones.empty()) return framework::Status::Skip();
  framework::PreFilterResult result;
  // An empty set is an answer too: no node is worth filtering.
  std::set<std::string>& names = result.node_names.emplace();
  for (const framework::NodeInfo* node : handle_.cluster().nodes()) {
    if (IsIn(node->labels(), zones)) names.insert(node->name());
  }
  return result;
}

std::vector<framework::ClusterEventWithHint> ZoneLabel::EventsToRegister() const {
  const auto hint = [this](const framework::PodInfo& pod, const framework::EventObject&,
                           const framework::EventObject& after) {
    const auto* node = after.As<api::Node>();
    const bool helps = node == nullptr || IsIn(node->metadata.labels, ZonesOf(pod));
    return helps ? framework::QueueingHint::kQueue : framework::QueueingHint::kSkip;
  };
  return {
      {{framework::EventResource::kNode, framework::ActionType::kAdd | framework::ActionType::kUpdateNodeLabel}, hint}};
}

class ZoneLabel::Explainer final : public framework::RejectionExplainer {
 public:
  Explainer(const ZoneLabel& plugin, const framework::PodInfo& pod) : plugin_(plugin), zones_(plugin.ZonesOf(pod)) {}

  std::vector<framework::Finding> Findings(const framework::Status&, const framework::NodeInfo& node) const override {
    // Another plugin may have left the node out.
    if (zones_.empty() || plugin_.IsIn(node.labels(), zones_)) return {};
    std::string wanted;
    for (const Symbol& zone : zones_) wanted += (wanted.empty() ? "" : " or ") + std::string(zone.str());
    return {{std::string(plugin_.node_label_.str()), wanted, framework::LabelValue(node, plugin_.node_label_), ""}};
  }

  // The pod can be sent elsewhere; a node cannot.
  std::vector<framework::Remedy> Remedies(const framework::NodeInfo& node,
                                          const framework::Remedy& so_far) const override {
    const Symbol* zone = node.labels().Find(plugin_.node_label_);
    if (zones_.empty() || plugin_.IsIn(node.labels(), zones_)) return {so_far};
    if (zone == nullptr) return {};
    framework::Remedy remedy = so_far;
    const std::string label = std::string(plugin_.pod_label_.str()) + "=" + std::string(zone->str());
    remedy.ChangePod({.text = "label " + label + " on the pod", .kind = "zone label"},
                     [&](api::Pod& pod) { pod.metadata.labels.Set(plugin_.pod_label_, *zone); });
    return {remedy};
  }

 private:
  const ZoneLabel& plugin_;
  const std::vector<Symbol> zones_;
};

std::unique_ptr<framework::RejectionExplainer> ZoneLabel::ExplainRejections(const framework::PodInfo& pod) const {
  return std::make_unique<Explainer>(*this, pod);
}

bool ZoneLabel::Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const {
  std::string zones;
  for (const Symbol& zone : ZonesOf(pod)) zones += std::string(zone.str()) + ",";
  signature.Add("ZoneLabel", zones);
  return true;
}

}  // namespace example
