#include "plugins/node_label/node_label.h"

#include <algorithm>
#include <cstdint>

#include "plugins/args.h"
#include "plugins/hints.h"

namespace berth::plugins {

using framework::ActionType;
using framework::EventResource;
using framework::PodInfo;
using framework::Status;

NodeLabel::NodeLabel(const config::NodeLabelArgs& args)
    : required_(Conditions(args.present_labels, args.absent_labels)),
      preferred_(Conditions(args.present_labels_preference, args.absent_labels_preference)) {}

Result<std::unique_ptr<framework::Plugin>> NodeLabel::Create(const config::PluginArgs& args, framework::Handle&) {
  const auto mine = ReadArgs<config::NodeLabelArgs>(args, kName);
  if (!mine) return mine.error();
  return std::unique_ptr<framework::Plugin>(new NodeLabel(*mine));
}

std::vector<NodeLabel::Presence> NodeLabel::Conditions(const std::vector<std::string>& present,
                                                       const std::vector<std::string>& absent) {
  std::vector<Presence> conditions;
  for (const std::string& key : present) conditions.push_back({Symbol(key), true});
  for (const std::string& key : absent) conditions.push_back({Symbol(key), false});
  return conditions;
}

bool NodeLabel::Admits(const api::Labels& labels) const {
  return std::ranges::all_of(required_, [&](const Presence& condition) { return condition.Holds(labels); });
}

Status NodeLabel::Filter(const framework::CycleState&, const PodInfo&, const framework::NodeInfo& node) const {
  if (Admits(node.labels())) return Status::Success();
  // Evicting pods changes no label.
  return Status::UnschedulableAndUnresolvable("node(s) didn't have the requested labels");
}

framework::ScoreResult NodeLabel::Score(const framework::CycleState&, const PodInfo&,
                                        const framework::NodeInfo& node) const {
  if (preferred_.empty()) return int64_t{0};
  const int64_t met =
      std::ranges::count_if(preferred_, [&](const Presence& condition) { return condition.Holds(node.labels()); });
  return met * framework::kMaxNodeScore / static_cast<int64_t>(preferred_.size());
}

framework::QueueingHint NodeLabel::AfterNodeChange(const PodInfo&, const api::Node*, const api::Node* after) const {
  return QueueIf(after == nullptr || Admits(after->metadata.labels));
}

std::vector<framework::ClusterEventWithHint> NodeLabel::EventsToRegister() const {
  return {{{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeLabel},
           HintOf(this, &NodeLabel::AfterNodeChange)}};
}

}  // namespace berth::plugins
