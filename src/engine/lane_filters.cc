// Filter verdicts about the nodes of a lane: asked for all nodes, then again for changed ones, and reported when
// nothing fits.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "engine/lane.h"

namespace berth::engine {

using config::ExtensionPoint;
using framework::FilterPlugin;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::PodInfo;

namespace {

// The answers of a filter that words its rejections differently for every node are not worth keeping.
constexpr size_t kMostRejections = 250;
static_assert(kMostRejections <= std::numeric_limits<uint8_t>::max());

}  // namespace

void Lane::AskAll(const PodInfo& pod) {
  const framework::NodeColumns& columns = cluster_.columns();
  const size_t slots = columns.size();
  std::vector<uint8_t> verdicts(slots);
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    const auto& filter = profile_.filters()[position];
    const Reach reach = reach_.filters[position];
    if ((reach != Reach::kNode && reach != Reach::kPods) || IsSkipped(state_.skip_filter, filter.id)) continue;
    timing_.Time(ExtensionPoint::kFilter, filter.name, [&] {
      if (!filter.plugin->FilterRange(state_, pod, columns, 0, verdicts)) {
        std::fill(verdicts.begin(), verdicts.end(), FilterPlugin::kAskFilter);
      }
      for (NodeIndex node = 0; node < slots && !trouble_; ++node) {
        if (!columns.live[node] || verdicts[node] == 0 || slots_[node].by_node != 0) continue;
        if (reach == Reach::kPods && slots_[node].first != 0) continue;
        const RejectionId rejection = RejectionFor(pod, position, verdicts[node], node);
        if (reach == Reach::kNode) slots_[node].by_node = rejection;
        if (slots_[node].first == 0) SetFirst(node, rejection);
      }
    });
  }
  for (NodeIndex node = 0; node < slots; ++node) {
    if (columns.live[node] && slots_[node].first == 0) SetFeasible(node, true);
  }
}

// 0 when the filter accepts the node.
Lane::RejectionId Lane::Ask(const PodInfo& pod, size_t position, NodeIndex node) {
  uint8_t verdict = 0;
  profile_.filters()[position].plugin->FilterList(state_, pod, cluster_.columns(), {&node, 1}, {&verdict, 1});
  return verdict == 0 ? 0 : RejectionFor(pod, position, verdict, node);
}

Lane::RejectionId Lane::RejectionFor(const PodInfo& pod, size_t position, uint8_t verdict, NodeIndex node) {
  const bool ranged = verdict != FilterPlugin::kAskFilter;
  const auto id_of = [&](auto is_it) -> RejectionId {
    const auto it = std::find_if(rejections_.begin(), rejections_.end(), [&](const SharedRejection& known) {
      return known.position == position && is_it(known);
    });
    return it == rejections_.end() ? 0 : static_cast<RejectionId>(it - rejections_.begin() + 1);
  };
  if (ranged) {
    const RejectionId known = id_of([&](const SharedRejection& rejection) { return rejection.verdict == verdict; });
    if (known != 0) return known;
  }
  framework::Status status =
      profile_.RunOneFilter(profile_.filters()[position], state_, pod, cluster_.table().row(node));
  if (status.ok()) {
    // The plugin contradicts itself; those of a library cannot be trusted not to.
    if (ranged) trouble_ = true;
    return 0;
  }
  if (status.IsError()) trouble_ = true;
  if (!ranged) {
    const RejectionId known = id_of([&](const SharedRejection& rejection) { return rejection.status == status; });
    if (known != 0) return known;
  }
  if (rejections_.size() >= kMostRejections) {
    trouble_ = true;  // the answers from here on are not used
  } else {
    rejections_.push_back({position, verdict, std::move(status)});
  }
  return static_cast<RejectionId>(rejections_.size());
}

void Lane::AskNode(const PodInfo& pod, NodeIndex node) {
  SetFeasible(node, false);
  Slot& slot = slots_[node];
  slot.by_node = 0;
  if (!cluster_.columns().live[node]) return SetFirst(node, 0);
  for (size_t k = 0; k < node_filters_.size() && slot.by_node == 0; ++k) {
    slot.by_node = Ask(pod, node_filters_[k], node);
  }
  List(node);
}

void Lane::List(NodeIndex node) {
  if (std::exchange(slots_[node].listed, uint8_t{1})) return;
  changed_.push_back(node);
  __builtin_prefetch(&base_[node]);
  if (totals_current_) top_.Prefetch(node);
  if (classes_made_) classes_.Prefetch(node);
}

// Filter by filter, then node by node: a filter is faster per node when it sees many at once.
void Lane::AskPods(const PodInfo& pod, std::span<const NodeIndex> nodes) {
  const framework::NodeColumns& columns = cluster_.columns();
  scratch_.pods_verdicts.resize(pods_filters_.size());
  for (size_t k = 0; k < pods_filters_.size(); ++k) {
    scratch_.pods_verdicts[k].resize(nodes.size());
    const auto& filter = profile_.filters()[pods_filters_[k]];
    timing_.Time(ExtensionPoint::kFilter, filter.name,
                 [&] { filter.plugin->FilterList(state_, pod, columns, nodes, scratch_.pods_verdicts[k]); });
  }
  scratch_.rescored.clear();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeIndex node = nodes[i];
    slots_[node].listed = 0;
    if (!columns.live[node]) continue;  // AskNode has handled it
    const Slot& slot = slots_[node];
    RejectionId by_pods = 0;
    for (size_t k = 0; k < pods_filters_.size() && by_pods == 0; ++k) {
      if (IsBefore(slot.by_node, pods_filters_[k])) break;
      const uint8_t verdict = scratch_.pods_verdicts[k][i];
      if (verdict != 0) by_pods = RejectionFor(pod, pods_filters_[k], verdict, node);
    }
    SetFirst(node, by_pods != 0 ? by_pods : slot.by_node);
    const bool fits = slots_[node].first == 0;
    if (fits && slot.scored) {
      scratch_.rescored.push_back(node);
    } else {
      SetFeasible(node, fits);
    }
  }
  ScorePods(pod, scratch_.rescored);
}

void Lane::SetFirst(NodeIndex node, RejectionId rejection) {
  RejectionId& first = slots_[node].first;
  if (first == rejection) return;
  if (first != 0) --rejections_[first - 1].nodes;
  if (rejection != 0) ++rejections_[rejection - 1].nodes;
  first = rejection;
  if (!told_) return;
  untold_.push_back(node);
  // A lane that rarely reports rejections does not keep a list for it.
  if (untold_.size() > slots_.size() / 8 + 64) told_.reset();
}

void Lane::SetFeasible(NodeIndex node, bool feasible) {
  if (static_cast<bool>(ok_[node]) == feasible) return;
  ok_[node] = feasible;
  Unclass(node);
  if (feasible) {
    ++ok_count_;
    ok_index_sum_ += node;
    if (!score_all_) unscored_.push_back(node);
    return;
  }
  --ok_count_;
  ok_index_sum_ -= node;
  if (!slots_[node].scored) return;
  CountPresent(node, -1);
  if (totals_current_) top_.Remove(node);
  slots_[node].scored = 0;
}

std::shared_ptr<const std::vector<Lane::RejectionId>> Lane::TellRejections() {
  if (!told_ || told_->size() != slots_.size()) {
    told_ = std::make_shared<std::vector<RejectionId>>(slots_.size());
    for (NodeIndex node = 0; node < slots_.size(); ++node) (*told_)[node] = slots_[node].first;
  } else if (!untold_.empty()) {
    if (told_.use_count() > 1) told_ = std::make_shared<std::vector<RejectionId>>(*told_);
    for (const NodeIndex node : untold_) (*told_)[node] = slots_[node].first;
  }
  untold_.clear();
  return told_;
}

// The first rejection in the profile's order counts, and that may be one by domain.
bool Lane::RejectByDomain(const PodInfo& pod, std::vector<framework::NodeToStatus::Group>& groups,
                          std::vector<framework::NodeToStatus::GroupId>& group_of) {
  if (!FilterByDomain(pod)) return false;
  const size_t local_rejections = rejections_.size();
  const framework::NodeColumns& columns = cluster_.columns();
  for (NodeIndex node = 0; node < slots_.size(); ++node) {
    group_of[node] = slots_[node].first;
    if (!columns.live[node]) continue;
    for (size_t k = 0; k < domain_filters_.size(); ++k) {
      const uint8_t verdict = scratch_.domain_verdicts[k][node];
      if (IsBefore(slots_[node].first, domain_filters_[k])) break;
      if (verdict == 0) continue;
      const RejectionId rejection = RejectionFor(pod, domain_filters_[k], verdict, node);
      if (rejections_.size() > groups.size()) groups.push_back({rejections_.back().status, 0});
      if (group_of[node] != framework::NodeToStatus::kAbsent) --groups[group_of[node] - 1].nodes;
      group_of[node] = rejection;
      ++groups[rejection - 1].nodes;
      break;
    }
  }
  // Verdicts by domain may have another meaning next time.
  rejections_.resize(local_rejections);
  return true;
}

bool Lane::Diagnose(const PodInfo& pod, framework::Diagnosis& diagnosis) {
  framework::NodeToStatus& statuses = diagnosis.node_to_status;
  std::vector<framework::NodeToStatus::Group> groups;
  for (const SharedRejection& rejection : rejections_) groups.push_back({rejection.status, rejection.nodes});
  if (domain_filters_.empty()) {
    statuses.Assign(TellRejections(), std::move(groups));
  } else {
    std::vector<framework::NodeToStatus::GroupId> group_of(slots_.size());
    if (!RejectByDomain(pod, groups, group_of)) return false;
    statuses.Assign(std::move(group_of), std::move(groups));
  }
  // Nodes nominated to other pods are judged together with those pods.
  for (auto& [node, status] : held_) {
    if (!status) status = JudgeHeld(pod, node);
    if (status->IsError()) return GiveUp(LongWay::kTrouble);
    statuses.Set(node, *status);
  }
  for (const auto& group : statuses.groups()) {
    if (group.nodes != 0) diagnosis.AddPluginStatus(group.status);
  }
  return !trouble_;
}

}  // namespace berth::engine
