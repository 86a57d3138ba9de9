#include "engine/lane.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace berth::engine {

using framework::CycleState;
using framework::DependsOn;
using framework::FilterPlugin;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::Normalization;
using framework::PodInfo;

namespace {

Reach ReachOf(DependsOn what, bool keeps_state) {
  switch (what) {
    case DependsOn::kNode:
      return Reach::kNode;
    case DependsOn::kNodeAndPods:
      return Reach::kPods;
    case DependsOn::kAllNodes:
      return Reach::kAllNodes;
    case DependsOn::kTopologyDomain:
      return keeps_state ? Reach::kDomain : Reach::kUnknown;
    case DependsOn::kAnything:
      return Reach::kUnknown;
  }
  return Reach::kUnknown;
}

// Totals are kept in 32 bits; weights that need more are for a full evaluation.
constexpr int64_t kHighestTotal = 1 << 28;
// A filter that words its rejections node by node is not worth keeping.
constexpr size_t kMostRejections = 250;
static_assert(kMostRejections <= std::numeric_limits<uint8_t>::max());

}  // namespace

ProfileReach::ProfileReach(const Profile& profile) {
  for (const auto& filter : profile.filters()) {
    const bool keeps_state = profile.FindIncremental(filter.id) != nullptr;
    const Reach reach = ReachOf(filter.plugin->filter_depends_on(), keeps_state);
    filters.push_back(reach == Reach::kAllNodes ? Reach::kUnknown : reach);
  }
  for (const auto& score : profile.scores()) {
    const bool keeps_state = profile.FindIncremental(score.id) != nullptr;
    Reach reach = ReachOf(score.plugin->score_depends_on(), keeps_state);
    if (reach != Reach::kDomain && score.plugin->normalization() == Normalization::kOwn) reach = Reach::kUnknown;
    scores.push_back(reach);
    max_total += std::abs(score.weight) * framework::kMaxNodeScore;
  }
  incremental = profile.IncrementalPlugins();
}

Lane::Lane(const Profile& profile, const cluster::Cluster& cluster, const ProfileReach& reach, base::Workers& workers)
    : profile_(profile), cluster_(cluster), reach_(reach), workers_(workers), state_(profile.NewCycleState()) {}

bool Lane::CatchUp(const PodInfo& pod) {
  if (reach_.max_total > kHighestTotal) return false;
  const cluster::ChangeLog& log = cluster_.table().changes();
  const uint64_t objects = cluster_.objects().topology_version();
  const bool same_objects = objects == std::exchange(built_objects_, objects);
  // Asking changed nodes one by one beats a pass over all; past a quarter of them it no longer does.
  const bool replay =
      built_ && same_objects && log.Knows(cursor_) && log.end() - cursor_ <= cluster_.columns().size() / 4 + 64;
  built_ = replay ? Replay(pod) : Build(pod);
  cursor_ = log.end();
  if (!built_ || !StillSkips(pod)) return built_ = false;
  HeedNominations(pod);
  return built_ = !trouble_;
}

// True when every filter that takes part can be kept, and the search is not narrowed.
bool Lane::RunPreFilter(const PodInfo& pod) {
  const PreFilterOutcome outcome = profile_.RunPreFilter(state_, pod);
  if (!outcome.status.ok() || outcome.node_names) return false;
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    const bool skipped = IsSkipped(state_.skip_filter, profile_.filters()[position].id);
    if (!skipped && reach_.filters[position] == Reach::kUnknown) return false;
  }
  return true;
}

void Lane::ListFilters() {
  node_filters_.clear();
  pods_filters_.clear();
  domain_filters_.clear();
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    if (IsSkipped(state_.skip_filter, profile_.filters()[position].id)) continue;
    const Reach reach = reach_.filters[position];
    (reach == Reach::kNode   ? node_filters_
     : reach == Reach::kPods ? pods_filters_
                             : domain_filters_)
        .push_back(position);
  }
}

bool Lane::Build(const PodInfo& pod) {
  state_ = profile_.NewCycleState();
  if (!RunPreFilter(pod)) return false;
  built_skip_filter_ = state_.skip_filter;
  ListFilters();
  trouble_ = false;
  pre_score_current_ = false;
  local_scores_.clear();
  unscored_.clear();
  held_by_others_.clear();
  rejections_.clear();
  score_all_ = true;

  const size_t slots = cluster_.columns().size();
  slots_.assign(slots, {});
  ok_.assign(slots, 0);
  base_.assign(slots, 0);
  ok_count_ = 0;
  top_.Reset(slots);
  totals_current_ = false;
  AskAll(pod);
  return !trouble_;
}

void Lane::Grow(size_t slots) {
  slots_.resize(slots);
  ok_.resize(slots, 0);
  base_.resize(slots, 0);
  for (LocalScore& score : local_scores_) {
    if (score.keeps_raw()) score.raw.resize(slots, 0);
  }
  top_.Grow(slots);
}

bool Lane::FollowPods(const PodInfo& pod) {
  const cluster::ChangeLog& log = cluster_.table().changes();
  bool current = true;
  for (auto cursor = cursor_; cursor < log.end(); ++cursor) {
    const cluster::Change& change = log.at(cursor);
    const framework::PodChange pod_change{*change.pod, cluster_.table().row(change.node), change.sign};
    for (const auto& [id, plugin] : reach_.incremental) {
      if (!plugin->CatchUpPreFilter(state_, pod, pod_change)) current = false;
      if (pre_score_current_ && !plugin->CatchUpPreScore(state_, pod, pod_change)) pre_score_current_ = false;
    }
  }
  return current;
}

// What happened since, change by change: counts by domain follow each pod, nodes are asked again once.
bool Lane::Replay(const PodInfo& pod) {
  const cluster::ChangeLog& log = cluster_.table().changes();
  const framework::NodeColumns& columns = cluster_.columns();
  if (columns.size() > slots_.size()) Grow(columns.size());

  bool nodes_changed = false;
  for (auto cursor = cursor_; cursor < log.end(); ++cursor) nodes_changed |= log.at(cursor).pod == nullptr;
  if (nodes_changed || !FollowPods(pod)) {
    if (!RunPreFilter(pod)) return false;
    if (state_.skip_filter != built_skip_filter_) return Build(pod);
  }
  if (nodes_changed) {
    pre_score_current_ = false;
    nodes_changed_ = true;
  }

  for (const NodeIndex node : held_by_others_) {
    if (columns.live[node]) AskNode(pod, node);
  }
  held_by_others_.clear();
  changed_.clear();
  for (auto cursor = cursor_; cursor < log.end(); ++cursor) {
    const cluster::Change& change = log.at(cursor);
    if (change.pod == nullptr) {
      AskNode(pod, change.node);
    } else if (!std::exchange(slots_[change.node].listed, uint8_t{1})) {
      changed_.push_back(change.node);
      Prefetch(change.node);
    }
  }
  for (const NodeIndex node : changed_) slots_[node].listed = 0;
  AskPods(pod, changed_);
  return !trouble_;
}

// Plugins of unknown reach are out only because they said Skip; whether they still do may depend on anything.
bool Lane::StillSkips(const PodInfo& pod) {
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    if (reach_.filters[position] != Reach::kUnknown) continue;
    if (!profile_.PreFilterSkips(profile_.filters()[position].id, state_, pod)) return false;
  }
  return true;
}

bool Lane::FitsWithNominated(const PodInfo& pod, const NodeInfo& node) {
  const framework::Status status = profile_.RunFilterWithNominatedPods(state_, pod, node);
  if (status.IsError()) trouble_ = true;
  return status.ok();
}

// Promised pods only ever take a node away, so nodes that are out already need no second look.
void Lane::HeedNominations(const PodInfo& pod) {
  for (const std::string_view name : profile_.nominator().NodesHeldFrom(pod.priority(), pod.uid())) {
    const NodeInfo* node = cluster_.Find(name);
    if (!node || !ok_[node->index()] || FitsWithNominated(pod, *node)) continue;
    SetFeasible(node->index(), false);
    held_by_others_.push_back(node->index());
  }
}

void Lane::AskAll(const PodInfo& pod) {
  const framework::NodeColumns& columns = cluster_.columns();
  const size_t slots = columns.size();
  std::vector<uint8_t> verdicts(slots);
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    const auto& filter = profile_.filters()[position];
    const Reach reach = reach_.filters[position];
    if ((reach != Reach::kNode && reach != Reach::kPods) || IsSkipped(state_.skip_filter, filter.id)) continue;
    std::fill(verdicts.begin(), verdicts.end(), FilterPlugin::kAskFilter);
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
  }
  for (NodeIndex node = 0; node < slots; ++node) {
    if (columns.live[node] && slots_[node].first == 0) SetFeasible(node, true);
  }
}

// 0 when the filter accepts the node.
Lane::RejectionId Lane::Ask(const PodInfo& pod, size_t position, NodeIndex node) {
  uint8_t verdict = FilterPlugin::kAskFilter;
  const FilterPlugin& filter = *profile_.filters()[position].plugin;
  if (!filter.FilterRange(state_, pod, cluster_.columns(), node, {&verdict, 1})) verdict = FilterPlugin::kAskFilter;
  return verdict == 0 ? 0 : RejectionFor(pod, position, verdict, node);
}

Lane::RejectionId Lane::RejectionFor(const PodInfo& pod, size_t position, uint8_t verdict, NodeIndex node) {
  const bool ranged = verdict != FilterPlugin::kAskFilter;
  const auto id_of = [&](auto is_it) -> RejectionId {
    const auto it = std::find_if(rejections_.begin(), rejections_.end(),
                                 [&](const Rejection& known) { return known.position == position && is_it(known); });
    return it == rejections_.end() ? 0 : static_cast<RejectionId>(it - rejections_.begin() + 1);
  };
  if (ranged) {
    const RejectionId known = id_of([&](const Rejection& rejection) { return rejection.verdict == verdict; });
    if (known != 0) return known;
  }
  framework::Status status =
      profile_.RunOneFilter(profile_.filters()[position], state_, pod, cluster_.table().row(node));
  if (status.ok()) {
    CHECK_WHY(!ranged, "FilterRange rejects a node that Filter accepts");
    return 0;
  }
  if (status.IsError() || rejections_.size() >= kMostRejections) trouble_ = true;
  if (!ranged) {
    const RejectionId known = id_of([&](const Rejection& rejection) { return rejection.status == status; });
    if (known != 0) return known;
  }
  rejections_.push_back({position, verdict, std::move(status)});
  return static_cast<RejectionId>(rejections_.size());
}

void Lane::AskNode(const PodInfo& pod, NodeIndex node) {
  SetFeasible(node, false);
  Slot& slot = slots_[node];
  slot.by_node = 0;
  RejectionId by_pods = 0;
  if (cluster_.columns().live[node]) {
    for (size_t k = 0; k < node_filters_.size() && slot.by_node == 0; ++k) {
      slot.by_node = Ask(pod, node_filters_[k], node);
    }
    for (size_t k = 0; k < pods_filters_.size() && by_pods == 0; ++k) {
      if (IsBefore(slot.by_node, pods_filters_[k])) break;
      by_pods = Ask(pod, pods_filters_[k], node);
    }
  }
  SetFirst(node, by_pods != 0 ? by_pods : slot.by_node);
  SetFeasible(node, cluster_.columns().live[node] && slots_[node].first == 0);
}

// Filter by filter, then node by node: a filter that looks at many nodes at once is faster for each.
void Lane::AskPods(const PodInfo& pod, std::span<const NodeIndex> nodes) {
  const framework::NodeColumns& columns = cluster_.columns();
  pods_verdicts_.resize(pods_filters_.size());
  for (size_t k = 0; k < pods_filters_.size(); ++k) {
    pods_verdicts_[k].resize(nodes.size());
    profile_.filters()[pods_filters_[k]].plugin->FilterList(state_, pod, columns, nodes, pods_verdicts_[k]);
  }
  rescored_.clear();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeIndex node = nodes[i];
    if (!columns.live[node]) continue;  // AskNode has seen to it
    const Slot& slot = slots_[node];
    RejectionId by_pods = 0;
    for (size_t k = 0; k < pods_filters_.size() && by_pods == 0; ++k) {
      if (IsBefore(slot.by_node, pods_filters_[k])) break;
      const uint8_t verdict = pods_verdicts_[k][i];
      if (verdict != 0) by_pods = RejectionFor(pod, pods_filters_[k], verdict, node);
    }
    SetFirst(node, by_pods != 0 ? by_pods : slot.by_node);
    const bool fits = slots_[node].first == 0;
    if (fits && slot.scored) {
      rescored_.push_back(node);
    } else {
      SetFeasible(node, fits);
    }
  }
  ScorePods(pod, rescored_);
}

void Lane::SetFirst(NodeIndex node, RejectionId rejection) {
  RejectionId& first = slots_[node].first;
  if (first == rejection) return;
  if (first != 0) --rejections_[first - 1].nodes;
  if (rejection != 0) ++rejections_[rejection - 1].nodes;
  first = rejection;
}

void Lane::Prefetch(NodeIndex node) const {
  if (node >= slots_.size()) return;
  __builtin_prefetch(&slots_[node]);
  __builtin_prefetch(&base_[node]);
  top_.Prefetch(node);
}

void Lane::SetFeasible(NodeIndex node, bool feasible) {
  if (static_cast<bool>(ok_[node]) == feasible) return;
  ok_[node] = feasible;
  if (feasible) {
    ++ok_count_;
    unscored_.push_back(node);
    return;
  }
  --ok_count_;
  if (!slots_[node].scored) return;
  CountPresent(node, -1);
  top_.Remove(node);
  slots_[node].scored = 0;
}

bool Lane::Diagnose(const PodInfo& pod, framework::Diagnosis& diagnosis) {
  const size_t local_rejections = rejections_.size();
  using GroupId = framework::NodeToStatus::GroupId;
  std::vector<GroupId> group_of(slots_.size());
  for (NodeIndex node = 0; node < slots_.size(); ++node) group_of[node] = slots_[node].first;
  std::vector<framework::NodeToStatus::Group> groups;
  for (const Rejection& rejection : rejections_) groups.push_back({rejection.status, rejection.nodes});
  const auto move_to = [&](NodeIndex node, GroupId group) {
    if (group_of[node] != framework::NodeToStatus::kAbsent) --groups[group_of[node] - 1].nodes;
    group_of[node] = group;
    ++groups[group - 1].nodes;
  };

  // The first rejection in the profile's order is the one that counts, and that may be one by domain.
  if (!domain_filters_.empty() && !FilterByDomain(pod)) return false;
  const framework::NodeColumns& columns = cluster_.columns();
  for (NodeIndex node = 0; !domain_filters_.empty() && node < slots_.size(); ++node) {
    if (!columns.live[node]) continue;
    for (size_t k = 0; k < domain_filters_.size(); ++k) {
      const uint8_t verdict = domain_verdicts_[k][node];
      if (IsBefore(slots_[node].first, domain_filters_[k])) break;
      if (verdict == 0) continue;
      const RejectionId rejection = RejectionFor(pod, domain_filters_[k], verdict, node);
      if (rejections_.size() > groups.size()) groups.push_back({rejections_.back().status, 0});
      move_to(node, rejection);
      break;
    }
  }
  // Verdicts by domain may mean something else next time.
  rejections_.resize(local_rejections);

  // Nodes promised to other pods are judged together with those.
  for (const std::string_view name : profile_.nominator().NodesHeldFrom(pod.priority(), pod.uid())) {
    const NodeInfo* node = cluster_.Find(name);
    if (!node) continue;
    groups.push_back({profile_.RunFilterWithNominatedPods(state_, pod, *node), 0});
    if (groups.back().status.IsError()) return false;
    move_to(node->index(), static_cast<GroupId>(groups.size()));
  }
  for (const auto& group : groups) {
    if (group.nodes != 0) diagnosis.AddPluginStatus(group.status);
  }
  diagnosis.node_to_status.Assign(std::move(group_of), std::move(groups));
  return !trouble_;
}

}  // namespace berth::engine
