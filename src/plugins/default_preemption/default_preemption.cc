#include "plugins/default_preemption/default_preemption.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "framework/diagnosis.h"
#include "framework/node_to_status.h"
#include "plugins/args.h"
#include "preemption/candidates.h"
#include "preemption/dry_run.h"
#include "preemption/eligibility.h"
#include "preemption/extenders.h"

namespace berth::plugins {

using framework::NodeInfo;
using framework::PostFilterResult;
using framework::PreemptionCandidate;
using framework::Status;

namespace {

std::string Prefixed(std::string_view message) { return fmt::format("preemption: {}", message); }

Status BrokenDryRuns(const std::vector<std::string>& errors) {
  return Status::Error(Prefixed(errors.size() == 1 ? errors.front() : fmt::format("[{}]", fmt::join(errors, ", "))));
}

// No eviction helps, so an earlier nomination is withdrawn as well.
PostFilterResult Hopeless(framework::NodeToStatus failures, size_t node_count) {
  framework::Diagnosis diagnosis;
  diagnosis.node_to_status = std::move(failures);
  diagnosis.node_to_status.SetAbsent(Status::UnschedulableAndUnresolvable("Preemption is not helpful for scheduling"));
  PostFilterResult result = Status::Unschedulable(Prefixed(framework::FitErrorMessage(diagnosis, node_count)));
  result.clear_nomination = true;
  return result;
}

template <class Range, class Name>
void SortByName(Range& range, Name name) {
  std::ranges::sort(range, {}, name);
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> DefaultPreemption::Create(const config::PluginArgs& args,
                                                                     framework::Handle& handle) {
  const Result<config::DefaultPreemptionArgs> mine = ReadArgs<config::DefaultPreemptionArgs>(args, kName);
  if (!mine) return mine.error();
  return std::unique_ptr<framework::Plugin>(new DefaultPreemption(*mine, handle));
}

Status DefaultPreemption::PreEnqueue(const framework::PodInfo& pod) const {
  if (!async_ || !handle_.api().IsEvictingFor(pod)) return Status::Success();
  return Status::UnschedulableAndUnresolvable("waiting for the preemption for this pod to be finished");
}

std::vector<framework::ClusterEventWithHint> DefaultPreemption::EventsToRegister() const {
  if (!async_) return {};
  const auto never = [](const framework::PodInfo&, const framework::EventObject&, const framework::EventObject&) {
    return framework::QueueingHint::kSkip;
  };
  return {{{framework::EventResource::kPod, framework::ActionType::kDelete}, never}};
}

size_t DefaultPreemption::CandidatesWanted(size_t nodes) const {
  const int64_t count = static_cast<int64_t>(nodes);
  const int64_t share = count * args_.min_candidate_nodes_percentage / 100;
  return static_cast<size_t>(std::min(count, std::max<int64_t>(share, args_.min_candidate_nodes_absolute)));
}

PostFilterResult DefaultPreemption::PostFilter(framework::CycleState& state, const framework::PodInfo& pod,
                                               const framework::NodeToStatus& statuses) const {
  const framework::ClusterView& cluster = handle_.cluster();
  const NodeInfo* nominated = cluster.Find(pod.pod().status.nominated_node_name);
  const Status& nominated_status = nominated ? statuses.Get(nominated->index()) : statuses.absent();
  if (const auto reason = preemption::WhyNotEligible(cluster, pod, nominated_status); !reason.empty()) {
    return Status::Unschedulable(Prefixed(reason));
  }
  if (cluster.nodes().empty()) return Status::Error(Prefixed("no nodes available"));
  const bool exhaustive = state.exhaustive_preemption;
  // Explanations and extenders need the victims on every node, which are not kept.
  const bool afresh = exhaustive || preemption::AnyHasASay(handle_.preemption_extenders(), pod);
  const bool all = !afresh && preemption::AllAreWorthTrying(cluster, statuses);
  Plan plan{{}, 0, 0};
  if (!all) plan.nodes = preemption::NodesWorthTrying(cluster, statuses);
  const size_t count = all ? cluster.nodes().size() : plan.nodes.size();
  if (count == 0) return Hopeless({}, cluster.nodes().size());

  if (exhaustive) {
    SortByName(plan.nodes, [&](framework::NodeIndex node) -> const std::string& { return cluster.row(node).name(); });
  }
  plan.offset = exhaustive ? 0 : handle_.random().Below(count);
  plan.wanted = exhaustive ? count : CandidatesWanted(count);
  const preemption::DryRun dry_run(handle_, state, pod, kept_.Budgets());
  preemption::TrialShelf* shelf = afresh ? nullptr : kept_.ShelfFor(state, pod);
  if (shelf && all) {
    if (auto found = SearchSums(plan, dry_run, *shelf, state.verify_incremental)) return *std::move(found);
  }
  if (all) plan.nodes = preemption::NodesWorthTrying(cluster, statuses);
  return shelf ? SearchKept(plan, dry_run, *shelf, state.verify_incremental)
               : SearchAfresh(plan, dry_run, pod, exhaustive);
}

PostFilterResult DefaultPreemption::SearchAfresh(const Plan& plan, const preemption::DryRun& dry_run,
                                                 const framework::PodInfo& pod, bool exhaustive) const {
  const framework::ClusterView& cluster = handle_.cluster();
  preemption::Findings findings = preemption::FindCandidates(dry_run, cluster, plan.nodes, plan.offset, plan.wanted);
  std::vector<PreemptionCandidate>& candidates = findings.candidates;
  if (candidates.empty()) {
    if (!findings.errors.empty()) return BrokenDryRuns(findings.errors);
    return Hopeless(std::move(findings.failures), cluster.nodes().size());
  }
  if (exhaustive) SortByName(candidates, &PreemptionCandidate::node_name);
  auto left = preemption::AskExtenders(handle_.preemption_extenders(), pod, std::move(candidates), cluster);
  if (!left) return Status::Error(Prefixed(left.error().message));
  if (left->empty()) return Status::Unschedulable(Prefixed("no candidate node for preemption"));
  candidates = std::move(*left);
  const std::vector<size_t> best = preemption::BestCandidates(candidates, dry_run.now());
  const size_t pick = exhaustive || best.size() == 1 ? 0 : handle_.random().Below(best.size());
  PreemptionCandidate& chosen = candidates[best[pick]];
  PostFilterResult result;
  result.nominated_node_name = chosen.node_name;
  if (exhaustive) {
    result.victims = chosen.victims;
    result.candidates = std::move(candidates);
  } else {
    result.victims = std::move(chosen.victims);
  }
  return result;
}

namespace {

// The nth live node, by index.
framework::NodeIndex NthLive(const framework::ClusterView& cluster, size_t nth) {
  const std::vector<uint8_t>& live = cluster.columns().live;
  if (cluster.nodes().size() == live.size()) return static_cast<framework::NodeIndex>(nth);
  // Finds the block that contains it, then the node.
  constexpr size_t kStretch = 256;
  size_t begin = 0;
  for (;; begin += kStretch) {
    size_t here = 0;
    for (size_t i = begin; i < std::min(begin + kStretch, live.size()); ++i) here += live[i];
    if (nth < here) break;
    nth -= here;
  }
  for (;; ++begin) {
    if (live[begin] && nth-- == 0) return static_cast<framework::NodeIndex>(begin);
  }
}

}  // namespace

std::optional<PostFilterResult> DefaultPreemption::SearchSums(const Plan& plan, const preemption::DryRun& dry_run,
                                                              preemption::TrialShelf& shelf, bool verify) const {
  const framework::ClusterView& cluster = handle_.cluster();
  const framework::NodeIndex start = NthLive(cluster, plan.offset);
  base::Random same_numbers = handle_.random();
  const std::optional<framework::NodeIndex> chosen =
      shelf.FindCheapest(dry_run, cluster, start, plan.wanted, handle_.random());
  if (!chosen) return std::nullopt;
  PostFilterResult result;
  result.nominated_node_name = cluster.row(*chosen).name();
  result.victims = dry_run.TryAlone(cluster.row(*chosen)).victims;
  if (verify) {
    std::vector<framework::NodeIndex> nodes;
    for (const NodeInfo* node : cluster.nodes()) nodes.push_back(node->index());
    std::ranges::sort(nodes);
    const preemption::Findings twin = preemption::FindCandidates(dry_run, cluster, nodes, plan.offset, plan.wanted);
    const std::vector<size_t> best = preemption::BestCandidates(twin.candidates, dry_run.now());
    const PreemptionCandidate& expected = twin.candidates[best[best.size() == 1 ? 0 : same_numbers.Below(best.size())]];
    CHECK_WHY(
        expected.node_name == result.nominated_node_name && expected.victims.pods == result.victims.pods,
        fmt::format("preemption differs from scratch: {} against {}", result.nominated_node_name, expected.node_name)
            .c_str());
  }
  return result;
}

PostFilterResult DefaultPreemption::SearchKept(const Plan& plan, const preemption::DryRun& dry_run,
                                               preemption::TrialShelf& shelf, bool verify) const {
  const framework::ClusterView& cluster = handle_.cluster();
  preemption::Shortlist list = shelf.Find(dry_run, cluster, plan.nodes, plan.offset, plan.wanted);
  preemption::Findings twin;
  if (verify) {
    twin = preemption::FindCandidates(dry_run, cluster, plan.nodes, plan.offset, plan.wanted);
    const std::string difference = preemption::FirstDifference(list, twin, cluster, dry_run.now());
    CHECK_WHY(difference.empty(), fmt::format("preemption differs from scratch: {}", difference).c_str());
  }
  if (list.candidates.empty()) {
    if (!list.errors.empty()) return BrokenDryRuns(list.errors);
    return Hopeless(std::move(list.failures), cluster.nodes().size());
  }
  const std::vector<size_t> best =
      preemption::Cheapest(list.candidates.size(), [&](size_t i) { return list.candidates[i].cost; });
  const size_t chosen = best[best.size() == 1 ? 0 : handle_.random().Below(best.size())];
  const NodeInfo& node = cluster.row(list.candidates[chosen].node);
  PostFilterResult result;
  result.nominated_node_name = node.name();
  result.victims = dry_run.TryAlone(node).victims;
  CHECK_WHY(!verify || result.victims.pods == twin.candidates[chosen].victims.pods,
            "preemption differs from scratch: victims");
  return result;
}

}  // namespace berth::plugins
