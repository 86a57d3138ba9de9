#include "engine/lane.h"

#include <algorithm>
#include <utility>

#include "framework/normalize_score.h"

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

// Beyond this a bucket per total would be waste; such weights are for a full evaluation.
constexpr int64_t kMostBuckets = 1 << 16;

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
    max_total += score.weight * framework::kMaxNodeScore;
  }
  incremental = profile.IncrementalPlugins();
}

Lane::Lane(const Profile& profile, const cluster::Cluster& cluster, const ProfileReach& reach)
    : profile_(profile),
      cluster_(cluster),
      reach_(reach),
      state_(profile.NewCycleState()),
      queue_(std::min(reach.max_total, kMostBuckets)) {}

bool Lane::CatchUp(const PodInfo& pod) {
  if (reach_.max_total > kMostBuckets) return false;
  const cluster::ChangeLog& log = cluster_.table().changes();
  const uint64_t objects = cluster_.objects().topology_version();
  const bool same_objects = objects == std::exchange(built_objects_, objects);
  // Asking changed nodes one by one beats a pass over all; past a quarter of them it no longer does.
  const bool replay =
      built_ && same_objects && log.Knows(cursor_) && log.end() - cursor_ <= cluster_.columns().size() / 4 + 64;
  built_ = replay ? Replay(pod) : Build(pod);
  cursor_ = log.end();
  return built_ && StillSkips(pod);
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

bool Lane::Build(const PodInfo& pod) {
  state_ = profile_.NewCycleState();
  if (!RunPreFilter(pod)) return false;
  built_skip_filter_ = state_.skip_filter;
  pre_score_current_ = false;
  bad_score_ = false;
  local_scores_.clear();
  unscored_.clear();
  score_all_ = true;

  const size_t slots = cluster_.columns().size();
  position_.assign(slots, 0);
  touched_.assign(slots, 0);
  scored_.assign(slots, 0);
  base_.assign(slots, 0);
  local_feasible_.clear();
  queue_.Resize(slots);
  queue_.Clear();
  totals_current_ = false;
  AskAll(pod);
  return true;
}

// What happened since, change by change: counts by domain follow each pod, nodes are asked again once.
bool Lane::Replay(const PodInfo& pod) {
  const cluster::ChangeLog& log = cluster_.table().changes();
  const framework::NodeColumns& columns = cluster_.columns();
  const size_t slots = columns.size();
  if (slots > node_ok_.size()) {
    for (auto* column : {&node_ok_, &local_ok_, &scored_}) column->resize(slots, 0);
    base_.resize(slots, 0);
    position_.resize(slots, 0);
    touched_.resize(slots, 0);
    for (LocalScore& score : local_scores_) score.raw.resize(slots, 0);
    queue_.Resize(slots);
  }

  bool nodes_changed = false;
  bool count_again = false;
  for (auto cursor = cursor_; cursor < log.end(); ++cursor) nodes_changed |= log.at(cursor).pod == nullptr;
  for (auto cursor = cursor_; cursor < log.end() && !nodes_changed; ++cursor) {
    const cluster::Change& change = log.at(cursor);
    const framework::PodChange pod_change{*change.pod, cluster_.table().row(change.node), change.sign};
    for (const auto& [id, plugin] : reach_.incremental) {
      if (!plugin->CatchUpPreFilter(state_, pod, pod_change)) count_again = true;
      if (pre_score_current_ && !plugin->CatchUpPreScore(state_, pod, pod_change)) pre_score_current_ = false;
    }
  }
  if (nodes_changed || count_again) {
    if (!RunPreFilter(pod)) return false;
    if (state_.skip_filter != built_skip_filter_) return Build(pod);
  }
  if (nodes_changed) {
    pre_score_current_ = false;
    // An answer that depends on all nodes is stale everywhere.
    const bool all = std::any_of(local_scores_.begin(), local_scores_.end(),
                                 [](const LocalScore& score) { return score.reach == Reach::kAllNodes; });
    if (all) score_all_ = true;
  }

  ++replay_;
  // Nodes whose Node object changed come first, so that the fuller question is the one asked.
  for (const bool whole_node : {true, false}) {
    for (auto cursor = cursor_; cursor < log.end(); ++cursor) {
      const cluster::Change& change = log.at(cursor);
      if ((change.pod == nullptr) != whole_node || touched_[change.node] == replay_) continue;
      touched_[change.node] = replay_;
      if (columns.live[change.node]) {
        AskNode(pod, cluster_.table().row(change.node), whole_node);
      } else {
        SetFeasible(change.node, false);
        scored_[change.node] = 0;
      }
    }
  }
  return !bad_score_;
}

// Plugins of unknown reach are out only because they said Skip; whether they still do may depend on anything.
bool Lane::StillSkips(const PodInfo& pod) {
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    if (reach_.filters[position] != Reach::kUnknown) continue;
    if (!profile_.PreFilterSkips(profile_.filters()[position].id, state_, pod)) return built_ = false;
  }
  return true;
}

void Lane::AskAll(const PodInfo& pod) {
  const framework::NodeColumns& columns = cluster_.columns();
  const size_t slots = columns.size();
  node_ok_.assign(columns.live.begin(), columns.live.end());
  local_ok_.assign(slots, 0);
  std::vector<uint8_t> pods_ok(columns.live.begin(), columns.live.end());
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    const auto& filter = profile_.filters()[position];
    const Reach reach = reach_.filters[position];
    if ((reach != Reach::kNode && reach != Reach::kPods) || IsSkipped(state_.skip_filter, filter.id)) continue;
    std::vector<uint8_t>& ok = reach == Reach::kNode ? node_ok_ : pods_ok;
    verdicts_.assign(slots, FilterPlugin::kAskFilter);
    const bool ranged = filter.plugin->FilterRange(state_, pod, columns, 0, verdicts_);
    for (const NodeInfo* node : cluster_.nodes()) {
      const NodeIndex i = node->index();
      if (!ok[i]) continue;
      ok[i] = ranged && verdicts_[i] != FilterPlugin::kAskFilter ? verdicts_[i] == 0
                                                                 : filter.plugin->Filter(state_, pod, *node).ok();
    }
  }
  for (const NodeInfo* node : cluster_.nodes()) {
    if (node_ok_[node->index()] && pods_ok[node->index()]) SetFeasible(node->index(), true);
  }
}

void Lane::AskNode(const PodInfo& pod, const NodeInfo& node, bool node_changed) {
  const NodeIndex i = node.index();
  if (node_changed) node_ok_[i] = 1;
  bool pods_ok = true;
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    const auto& filter = profile_.filters()[position];
    const Reach reach = reach_.filters[position];
    if (IsSkipped(state_.skip_filter, filter.id)) continue;
    if (reach == Reach::kNode && node_changed && node_ok_[i])
      node_ok_[i] = filter.plugin->Filter(state_, pod, node).ok();
    if (reach == Reach::kPods && node_ok_[i] && pods_ok) pods_ok = filter.plugin->Filter(state_, pod, node).ok();
  }
  // The old scores leave the histogram before they are replaced.
  SetFeasible(i, false);
  if (node_changed) scored_[i] = 0;
  if (!node_ok_[i] || !pods_ok) {
    scored_[i] = 0;
    return;
  }
  if (scored_[i] && !ScoreNode(pod, node, /*pods_only=*/true)) bad_score_ = true;
  SetFeasible(i, true);
}

void Lane::SetFeasible(NodeIndex index, bool feasible) {
  if (static_cast<bool>(local_ok_[index]) == feasible) return;
  local_ok_[index] = feasible;
  if (feasible) {
    position_[index] = static_cast<uint32_t>(local_feasible_.size());
    local_feasible_.push_back(index);
  } else {
    const uint32_t hole = position_[index];
    local_feasible_[hole] = local_feasible_.back();
    position_[local_feasible_[hole]] = hole;
    local_feasible_.pop_back();
    queue_.Remove(index);
  }
  if (!scored_[index]) {
    if (feasible) unscored_.push_back(index);
    return;
  }
  CountPresent(index, feasible ? +1 : -1);
  if (feasible && totals_current_) queue_.Set(index, LocalTotal(index));
}

bool Lane::HasDomainFilters() const {
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    if (reach_.filters[position] == Reach::kDomain && !IsSkipped(state_.skip_filter, profile_.filters()[position].id))
      return true;
  }
  return false;
}

bool Lane::HasDomainScores() const {
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    if (reach_.scores[position] == Reach::kDomain && !IsSkipped(state_.skip_score, profile_.scores()[position].id))
      return true;
  }
  return false;
}

}  // namespace berth::engine
