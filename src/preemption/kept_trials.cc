#include "preemption/kept_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "preemption/cost.h"

namespace berth::preemption {

using framework::NodeIndex;
using framework::Status;

namespace {

// When a filter words its rejections differently for every node, looking for known ones does not pay off.
constexpr size_t kMostFailures = 256;
// Nodes times signatures: 64 MB.
constexpr size_t kMostOutcomes = size_t{1} << 20;
constexpr size_t kFewestShelves = 4;
constexpr size_t kMostShelves = 64;

size_t ShelvesFor(size_t nodes) {
  return std::clamp(kMostOutcomes / std::max<size_t>(nodes, 1), kFewestShelves, kMostShelves);
}

}  // namespace

void TrialShelf::Forget() {
  outcomes_.clear();
  failures_.clear();
  summed_ = some_start_now_ = false;
  latest_start_ = all_hold_after_ = base::Time::min();
}

void TrialShelf::Prepare(const framework::Handle& handle, const framework::PodInfo& pod,
                         std::shared_ptr<const DisruptionBudgets> budgets) {
  const std::shared_ptr<const DisruptionBudgets> before = std::exchange(budgets_, std::move(budgets));
  if (summed_ && outcomes_.size() != handle.cluster().columns().size()) summed_ = false;
  if (before && before != budgets_) {
    const std::optional<BudgetSet> changed = budgets_->ChangedSince(*before);
    if (!changed) {
      Forget();
    } else if (*changed != 0) {
      summed_ = false;
      for (Outcome& outcome : outcomes_) {
        if (outcome.budgets & *changed) outcome.generation = 0;
      }
    }
  }
  if (failures_.size() > kMostFailures) Forget();
  outcomes_.resize(handle.cluster().columns().size());

  held_.clear();
  if (handle.nominator().empty()) return;
  for (const std::string_view name : handle.nominator().NodesHeldFrom(pod.priority(), pod.uid())) {
    if (const framework::NodeInfo* node = handle.cluster().Find(name)) held_.push_back(node->index());
  }
  std::sort(held_.begin(), held_.end());
}

uint32_t TrialShelf::FailureId(Status status) {
  const size_t known = std::min(failures_.size(), kMostFailures);
  const auto end = failures_.begin() + static_cast<std::ptrdiff_t>(known);
  const auto it = std::find(failures_.begin(), end, status);
  if (it != end) return static_cast<uint32_t>(it - failures_.begin() + 1);
  failures_.push_back(std::move(status));
  return static_cast<uint32_t>(failures_.size());
}

TrialShelf::Outcome TrialShelf::Summarize(Trial trial, base::Time now) {
  Outcome outcome;
  outcome.holds_after = trial.holds_after;
  outcome.budgets = trial.budgets;
  if (!trial.status.ok()) {
    outcome.failure = FailureId(std::move(trial.status));
    return outcome;
  }
  outcome.cost = CostOf(trial.victims, now);
  outcome.starts_now = !LongestRunningOfMostImportant(trial.victims, now).start_time();
  return outcome;
}

const TrialShelf::Outcome& TrialShelf::OutcomeOn(const DryRun& dry_run, const framework::ClusterView& cluster,
                                                 NodeIndex node) {
  Outcome& kept = outcomes_[node];
  const uint64_t generation = (*generations_)[node];
  const bool held = !held_.empty() && std::binary_search(held_.begin(), held_.end(), node);
  if (kept.generation == generation && !held && dry_run.now() > kept.holds_after) return kept;

  Trial trial = dry_run.TryAlone(cluster.row(node));
  const bool keep = !held && !trial.status.IsError() && dry_run.now() > trial.holds_after;
  passing_ = Summarize(std::move(trial), dry_run.now());
  if (!keep) return passing_;
  kept = passing_;
  kept.generation = generation;
  all_hold_after_ = std::max(all_hold_after_, kept.holds_after);
  if (kept.failure == 0) {
    some_start_now_ |= kept.starts_now;
    if (!kept.starts_now) latest_start_ = std::max(latest_start_, kept.cost.earliest_start);
  }
  if (summed_) sums_.Set(node, StateOf(kept));
  return kept;
}

Shortlist TrialShelf::Find(const DryRun& dry_run, const framework::ClusterView& cluster,
                           std::span<const NodeIndex> nodes, size_t offset, size_t wanted) {
  Shortlist list;
  std::vector<CostedNode>& harmless = list.candidates;
  std::vector<CostedNode> violating;
  std::vector<framework::NodeToStatus::GroupId> failed;  // by node index
  harmless.reserve(wanted);
  generations_ = &cluster.columns().generation;
  // Trials on nodes of another cluster view must not enter the sums.
  std::vector<NodeIndex> none;
  if (!cluster.ListChangedNodes(cluster.change_count(), none)) summed_ = false;
  size_t position = offset;
  for (size_t i = 0; i < nodes.size(); ++i, ++position) {
    if (position == nodes.size()) position = 0;
    const NodeIndex node = nodes[position];
    const Outcome& outcome = OutcomeOn(dry_run, cluster, node);
    if (outcome.failure != 0) {
      if (failed.empty()) failed.resize(outcomes_.size(), framework::NodeToStatus::kAbsent);
      failed[node] = outcome.failure;
      const Status& status = failures_[outcome.failure - 1];
      if (status.IsError()) AddOnce(list.errors, status.Message());
      continue;
    }
    std::vector<CostedNode>& candidates = outcome.cost.pdb_violations == 0 ? harmless : violating;
    if (candidates.size() < wanted) {
      candidates.push_back({node, outcome.cost});
      if (outcome.starts_now) candidates.back().cost.earliest_start = dry_run.now();
    }
    if (!harmless.empty() && harmless.size() + violating.size() >= wanted) break;
  }
  std::move(violating.begin(), violating.end(), std::back_inserter(list.candidates));

  std::vector<framework::NodeToStatus::Group> groups;
  for (const Status& status : failures_) groups.push_back({status, 0});
  for (const auto group : failed) {
    if (group != framework::NodeToStatus::kAbsent) ++groups[group - 1].nodes;
  }
  list.failures.Assign(std::move(failed), std::move(groups));
  return list;
}

std::string FirstDifference(const Shortlist& list, const Findings& findings, const framework::ClusterView& cluster,
                            base::Time now) {
  if (list.candidates.size() != findings.candidates.size()) {
    return fmt::format("{} candidates against {}", list.candidates.size(), findings.candidates.size());
  }
  for (size_t i = 0; i < list.candidates.size(); ++i) {
    const std::string& name = cluster.row(list.candidates[i].node).name();
    const framework::PreemptionCandidate& other = findings.candidates[i];
    if (name != other.node_name) return fmt::format("candidate {}: {} against {}", i, name, other.node_name);
    if (list.candidates[i].cost != CostOf(other.victims, now)) return fmt::format("cost of {}", name);
  }
  if (list.errors != findings.errors) return "errors";
  for (const framework::NodeInfo* node : cluster.nodes()) {
    const NodeIndex index = node->index();
    if (list.failures.IsExplicit(index) != findings.failures.IsExplicit(index)) {
      return fmt::format("{} failed by one only", node->name());
    }
    if (list.failures.Get(index) != findings.failures.Get(index)) return fmt::format("failure of {}", node->name());
  }
  return {};
}

std::shared_ptr<const DisruptionBudgets> KeptTrials::Budgets() {
  const auto& store = handle_.objects().pod_disruption_budgets;
  if (!budgets_ || budgets_version_ != store.version()) {
    budgets_ = std::make_shared<const DisruptionBudgets>(store, budgets_.get());
    budgets_version_ = store.version();
  }
  return budgets_;
}

TrialShelf* KeptTrials::ShelfFor(const framework::CycleState& state, const framework::PodInfo& pod) {
  if (!handle_.FiltersJudgeNodesAlone(state)) return nullptr;
  std::optional<std::string> signature = handle_.Sign(pod);
  if (!signature) return nullptr;
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.priority == pod.priority() && entry.skip_filter == state.skip_filter && entry.signature == *signature;
  });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    const size_t most = ShelvesFor(handle_.cluster().columns().size());
    while (entries_.size() >= most) entries_.pop_back();
    entries_.push_front({std::move(*signature), pod.priority(), state.skip_filter, {}});
  }
  TrialShelf& shelf = entries_.front().shelf;
  shelf.Prepare(handle_, pod, Budgets());
  return &shelf;
}

}  // namespace berth::preemption
