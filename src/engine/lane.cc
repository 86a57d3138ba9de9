#include "engine/lane.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace berth::engine {

using framework::DependsOn;
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
    case DependsOn::kNodeAndDevices:
      return Reach::kDevices;
    case DependsOn::kAllNodes:
      return Reach::kAllNodes;
    case DependsOn::kTopologyDomain:
      return keeps_state ? Reach::kDomain : Reach::kUnknown;
    case DependsOn::kAnything:
      return Reach::kUnknown;
  }
  return Reach::kUnknown;
}

// Totals are kept in 32 bits; weights that need more require a full evaluation.
constexpr int64_t kHighestTotal = 1 << 28;

}  // namespace

ProfileReach::ProfileReach(const Profile& profile) {
  for (const auto& filter : profile.filters()) {
    const bool keeps_state = profile.FindIncremental(filter.id) != nullptr;
    const Reach reach = ReachOf(filter.plugin->filter_depends_on(), keeps_state);
    // Changed devices list a node for another look just as changed pods do.
    filters.push_back(reach == Reach::kAllNodes ? Reach::kUnknown : reach == Reach::kDevices ? Reach::kPods : reach);
    filter_classes.push_back(dynamic_cast<const framework::TellsNodesApart*>(filter.plugin));
  }
  for (const auto& score : profile.scores()) {
    const bool keeps_state = profile.FindIncremental(score.id) != nullptr;
    Reach reach = ReachOf(score.plugin->score_depends_on(), keeps_state);
    if (reach != Reach::kDomain && score.plugin->normalization() == Normalization::kOwn) reach = Reach::kUnknown;
    scores.push_back(reach);
    score_classes.push_back(dynamic_cast<const framework::TellsNodesApart*>(score.plugin));
    max_total += std::abs(score.weight) * framework::kMaxNodeScore;
  }
  incremental = profile.IncrementalPlugins();
  for (const auto& [id, plugin] : incremental) {
    incremental_classes.push_back(dynamic_cast<const framework::TellsNodesApart*>(plugin));
  }
  pre_filters_alone = profile.PreFiltersWithoutFilter();
  devices = profile.DeviceFollowers();
}

Lane::Lane(const Profile& profile, const cluster::Cluster& cluster, const ProfileReach& reach, base::Workers& workers,
           LaneScratch& scratch, bool by_class)
    : profile_(profile),
      cluster_(cluster),
      reach_(reach),
      workers_(workers),
      scratch_(scratch),
      timing_(profile.lane_observer(), profile.clock()),
      by_class_(by_class),
      state_(profile.NewCycleState()) {}

bool Lane::CatchUp(const PodInfo& pod) {
  why_ = LongWay::kNone;
  if (reach_.max_total > kHighestTotal) return GiveUp(LongWay::kWideWeights);
  if (scratch_.reads_nodes_after_all) return GiveUp(LongWay::kUndeclared);
  const cluster::ChangeLog& log = cluster_.table().changes();
  const uint64_t objects = cluster_.objects().topology_version();
  const bool same_objects = objects == std::exchange(built_objects_, objects);
  // Asking about changed nodes one by one beats a pass over all, up to about a quarter of them.
  const bool replay =
      built_ && same_objects && log.Knows(cursor_) && log.end() - cursor_ <= cluster_.columns().size() / 4 + 64;
  timing_.Begin(replay ? LaneWork::kCatchUp : LaneWork::kBuild);
  built_ = replay ? Replay(pod) : Build(pod);
  cursor_ = log.end();
  if (!built_ || !StillPasses(pod)) return built_ = false;
  HeedNominations(pod);
  return built_ = !trouble_;
}

// True when every participating filter's answers can be kept and PreFilter does not narrow the search.
bool Lane::RunPreFilter(const PodInfo& pod) {
  const PreFilterOutcome outcome = profile_.RunPreFilter(state_, pod);
  if (!outcome.status.ok()) return GiveUp(LongWay::kRejected);
  if (outcome.node_names) return GiveUp(LongWay::kNarrowed);
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    const bool skipped = IsSkipped(state_.skip_filter, profile_.filters()[position].id);
    if (!skipped && reach_.filters[position] == Reach::kUnknown) return GiveUp(LongWay::kUndeclared);
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
  trouble_ = false;
  if (!RunPreFilter(pod)) return false;
  built_skip_filter_ = state_.skip_filter;
  if (!FollowDevices(pod)) return GiveUp(LongWay::kUnfollowed);
  ListFilters();
  pre_score_current_ = false;
  local_scores_.clear();
  unscored_.clear();
  held_.clear();
  holds_kept_ = false;
  rejections_.clear();
  score_all_ = true;
  classes_made_ = classes_refused_ = false;
  unclassed_.clear();
  told_.reset();
  untold_.clear();

  const size_t slots = cluster_.columns().size();
  slots_.assign(slots, {});
  ok_.assign(slots, 0);
  base_.assign(slots, 0);
  ok_count_ = ok_index_sum_ = 0;
  totals_current_ = false;
  AskAll(pod);
  return !trouble_;
}

void Lane::Grow(size_t slots) {
  slots_.resize(slots);
  ok_.resize(slots, 0);
  base_.resize(slots, 0);
  for (LocalScore& score : local_scores_) {
    if (!score.raw.empty()) score.raw.resize(slots, 0);
  }
  if (totals_current_) top_.Grow(slots);
  if (classes_made_) classes_.Grow(slots);
}

bool Lane::FollowDevices(const PodInfo& pod) {
  device_changes_.clear();
  for (const auto& [id, plugin] : reach_.devices) {
    // Pods with the same signature agree on whether the plugin takes part.
    if (IsSkipped(built_skip_filter_, id)) continue;
    if (!plugin->CatchUpDevices(state_, pod, device_changes_)) return false;
  }
  return true;
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

// Follows the changes one by one: counts by domain are updated for each pod, nodes are asked about once at the end.
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

  changed_.clear();
  if (!FollowDevices(pod)) return Build(pod);
  for (const NodeIndex node : device_changes_) List(node);
  const bool promises = !held_.empty() || !profile_.nominator().empty();
  for (auto cursor = cursor_; cursor < log.end(); ++cursor) {
    const cluster::Change& change = log.at(cursor);
    change.pod == nullptr ? AskNode(pod, change.node) : List(change.node);
    if (promises) holds_to_check_.push_back(change.node);
  }
  AskPods(pod, changed_);
  if (classes_made_) unclassed_.insert(unclassed_.end(), changed_.begin(), changed_.end());
  // The classes have not been used for so long that starting over is cheaper.
  if (unclassed_.size() > slots_.size() + 64) {
    classes_made_ = false;
    unclassed_.clear();
  }
  return !trouble_;
}

// Plugins of unknown reach are left out only because they returned Skip; whether they still do may depend on anything.
bool Lane::StillPasses(const PodInfo& pod) {
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    if (reach_.filters[position] != Reach::kUnknown) continue;
    if (!profile_.PreFilterSkips(profile_.filters()[position].id, state_, pod)) return GiveUp(LongWay::kUndeclared);
  }
  for (const uint32_t id : reach_.pre_filters_alone) {
    if (!profile_.PreFilterPasses(id, state_, pod)) return GiveUp(LongWay::kRejected);
  }
  return true;
}

bool Lane::FitsWithNominated(const PodInfo& pod, const NodeInfo& node) {
  const framework::Status status = profile_.RunFilterWithNominatedPods(state_, pod, node);
  if (status.IsError()) trouble_ = true;
  return status.ok();
}

bool Lane::ListHoldsToCheck(const PodInfo& pod, std::vector<NodeIndex>& nodes) {
  const framework::Nominator& nominator = profile_.nominator();
  std::vector<std::string_view> names;
  if (!holds_kept_ || held_priority_ != pod.priority() || !nominator.ListChangedNodes(held_at_, names)) return false;
  for (const std::string_view name : names) {
    if (const NodeInfo* node = cluster_.Find(name)) nodes.push_back(node->index());
  }
  return true;
}

void Lane::Release(NodeIndex node) {
  if (held_.erase(node) != 0) SetFeasible(node, cluster_.columns().live[node] && slots_[node].first == 0);
}

// Nominated pods can only make a node infeasible, so nodes that are infeasible already need no second look.
void Lane::Hold(const PodInfo& pod, NodeIndex node) {
  std::optional<framework::Status>& status = held_[node];
  if (!ok_[node]) return;
  status = JudgeHeld(pod, node);
  if (status->IsError()) trouble_ = true;
  if (!status->ok()) SetFeasible(node, false);
}

framework::Status Lane::JudgeHeld(const PodInfo& pod, NodeIndex node) {
  framework::Status status = profile_.RunFilterWithNominatedPods(state_, pod, cluster_.table().row(node));
  // Usually all rejections are equal; sharing one object makes them one group.
  if (status == held_status_) return held_status_;
  return held_status_ = std::move(status);
}

void Lane::HoldOrRelease(const PodInfo& pod, NodeIndex node) {
  Release(node);
  if (!cluster_.columns().live[node]) return;
  const NodeInfo& row = cluster_.table().row(node);
  if (profile_.HasNominatedPodsFor(pod, row)) Hold(pod, node);
}

void Lane::HeedNominations(const PodInfo& pod) {
  const framework::Nominator& nominator = profile_.nominator();
  const NodeInfo* own = nominator.empty() ? nullptr : cluster_.Find(nominator.NodeOf(pod.uid()));
  if (!nominator.empty() || !held_.empty()) {
    if (ListHoldsToCheck(pod, holds_to_check_)) {
      // A node may be listed more than once.
      for (const NodeIndex node : holds_to_check_) HoldOrRelease(pod, node);
      if (own) HoldOrRelease(pod, own->index());
    } else {
      while (!held_.empty()) Release(held_.begin()->first);
      for (const std::string_view name : nominator.NodesHeldFrom(pod.priority(), pod.uid())) {
        if (const NodeInfo* node = cluster_.Find(name)) Hold(pod, node->index());
      }
    }
  }
  holds_to_check_.clear();
  // The node nominated to this pod is not held from it, but will be held from the next pod.
  if (own) holds_to_check_.push_back(own->index());
  held_priority_ = pod.priority();
  held_at_ = nominator.change_count();
  holds_kept_ = profile_.FiltersJudgeNodesAlone(state_);
}

}  // namespace berth::engine
