#include "engine/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "engine/search.h"

namespace berth::engine {

using framework::CycleState;
using framework::DependsOn;
using framework::FilterPlugin;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

namespace {

bool IsLocal(DependsOn what) { return what == DependsOn::kNode || what == DependsOn::kNodeAndPods; }

Status ScoreEach(const framework::ScorePlugin& plugin, const CycleState& state, const PodInfo& pod,
                 std::span<const NodeInfo* const> nodes, std::vector<int64_t>& raw) {
  raw.reserve(nodes.size());
  for (const NodeInfo* node : nodes) {
    const framework::ScoreResult result = plugin.Score(state, pod, *node);
    if (!result.status.ok()) return result.status;
    raw.push_back(result.score);
  }
  return Status::Success();
}

}  // namespace

Evaluation EvaluateFromScratch(const Profile& profile, CycleState& state, const PodInfo& pod, Scope scope) {
  Evaluation evaluation;
  if (!RunPreFilterPhase(profile, state, pod, evaluation)) return evaluation;
  RunFilterPhase(
      profile, pod, scope, [&](const NodeInfo& node) { return profile.RunFilterWithNominatedPods(state, pod, node); },
      evaluation);
  if (!evaluation.error.ok()) return evaluation;
  RunScorePhase(
      profile, state, pod,
      [&](size_t position, std::span<const NodeInfo* const> feasible, std::vector<int64_t>& raw) {
        return ScoreEach(*profile.scores()[position].plugin, state, pod, feasible, raw);
      },
      evaluation);
  return evaluation;
}

Evaluator::Evaluator(const Profile& profile, const cluster::Cluster& cluster, Options options)
    : profile_(profile), cluster_(cluster), options_(options), reach_(profile) {
  CHECK_WHY(profile.filters().size() < kFits, "filter positions are kept in a byte");
  for (const auto& filter : profile.filters()) filter_is_local_.push_back(IsLocal(filter.plugin->filter_depends_on()));
  for (const auto& score : profile.scores()) score_is_local_.push_back(IsLocal(score.plugin->score_depends_on()));
}

Evaluator::~Evaluator() = default;

Evaluator::Decision Evaluator::Decide(const PodInfo& pod, base::Random& random) {
  Decision decision;
  // A nomination of the pod's own, or one it must not push aside, is looked at node by node.
  if (!pod.pod().status.nominated_node_name.empty()) return decision;
  if (!profile_.nominator().empty() && profile_.nominator().HasOtherAtLeast(pod.priority(), pod.uid())) return decision;
  const std::optional<std::string> signature = profile_.Sign(pod);
  if (!signature) return decision;

  Lane& lane = LaneOf(*signature);
  if (!lane.CatchUp(pod)) return decision;
  bool failed = false;
  const std::optional<Lane::Choice> choice = lane.Choose(pod, random, failed);
  if (failed) return decision;
  ++statistics_.decisions;
  decision.kind = choice ? Decision::Kind::kChosen : Decision::Kind::kNoFit;
  if (choice) decision.choice = *choice;
  decision.state = &lane.state();
  if (options_.verify) Verify(pod, decision);
  return decision;
}

Lane& Evaluator::LaneOf(const std::string& signature) {
  if (const auto found = lane_by_signature_.find(signature); found != lane_by_signature_.end()) {
    lanes_.splice(lanes_.begin(), lanes_, found->second);
    return lanes_.front().lane;
  }
  if (lanes_.size() >= options_.max_kept) {
    lane_by_signature_.erase(lanes_.back().signature);
    lanes_.pop_back();
  }
  lanes_.push_front({signature, Lane(profile_, cluster_, reach_)});
  lane_by_signature_[signature] = lanes_.begin();
  return lanes_.front().lane;
}

void Evaluator::Verify(const PodInfo& pod, const Decision& decision) const {
  CycleState twin = profile_.NewCycleState();
  const Evaluation expected = EvaluateFromScratch(profile_, twin, pod, Scope::kDecide);
  std::string difference;
  const Lane::Choice& choice = decision.choice;
  if (expected.feasible.size() != choice.feasible) {
    difference = fmt::format("{} feasible nodes against {}", choice.feasible, expected.feasible.size());
  } else if (decision.kind == Decision::Kind::kChosen) {
    const bool is_best = std::any_of(expected.best.begin(), expected.best.end(),
                                     [&](uint32_t i) { return expected.feasible[i] == choice.node; });
    if (!is_best) difference = fmt::format("{} is not among the best", choice.node->name());
    if (choice.ties != expected.best.size())
      difference = fmt::format("{} ties against {}", choice.ties, expected.best.size());
    if (choice.scored != !expected.totals.empty()) difference = "scored by one only";
    if (choice.scored && is_best && expected.totals[expected.best.front()] != choice.total) {
      difference = fmt::format("total {} against {}", choice.total, expected.totals[expected.best.front()]);
    }
  }
  CHECK_WHY(difference.empty(),
            fmt::format("decision about {} differs from scratch: {}", pod.Key(), difference).c_str());
}

Evaluation Evaluator::Evaluate(CycleState& state, const PodInfo& pod, Scope scope) {
  ++statistics_.evaluations;
  Evaluation evaluation = Incrementally(state, pod, scope);
  if (options_.verify) {
    CycleState twin = profile_.NewCycleState();
    const Evaluation expected = EvaluateFromScratch(profile_, twin, pod, scope);
    const std::string difference = FirstDifference(evaluation, expected);
    CHECK_WHY(difference.empty(),
              fmt::format("incremental evaluation of {} differs from scratch: {}", pod.Key(), difference).c_str());
  }
  return evaluation;
}

Evaluation Evaluator::Incrementally(CycleState& state, const PodInfo& pod, Scope scope) {
  const std::optional<std::string> signature = profile_.Sign(pod);
  if (!signature) return EvaluateFromScratch(profile_, state, pod, scope);

  Evaluation evaluation;
  if (!RunPreFilterPhase(profile_, state, pod, evaluation)) return evaluation;
  Kept& kept = Recall(*signature);
  CatchUp(kept, state, pod);
  RunFilterPhase(
      profile_, pod, scope, [&](const NodeInfo& node) { return Judge(kept, state, pod, node); }, evaluation);
  if (!evaluation.error.ok()) return evaluation;
  RunScorePhase(
      profile_, state, pod,
      [&](size_t position, std::span<const NodeInfo* const> feasible, std::vector<int64_t>& raw) {
        return RawScores(kept, position, state, pod, feasible, raw);
      },
      evaluation);
  return evaluation;
}

Evaluator::Kept& Evaluator::Recall(const std::string& signature) {
  if (const auto found = by_signature_.find(signature); found != by_signature_.end()) {
    ++statistics_.reused;
    kept_.splice(kept_.begin(), kept_, found->second);
    return kept_.front();
  }
  if (kept_.size() >= options_.max_kept) {
    by_signature_.erase(kept_.back().signature);
    kept_.pop_back();
  }
  kept_.emplace_front();
  kept_.front().signature = signature;
  by_signature_[signature] = kept_.begin();
  return kept_.front();
}

void Evaluator::CatchUp(Kept& kept, const CycleState& state, const PodInfo& pod) {
  const size_t slots = cluster_.columns().size();
  const bool is_new = kept.first_rejection.empty();
  const cluster::ChangeLog& log = cluster_.table().changes();
  const cluster::ChangeLog::Cursor since = std::exchange(kept.cursor, log.end());
  // Asking a few nodes one by one beats a pass over all; past a quarter of them it no longer does.
  if (is_new || kept.skip_filter != state.skip_filter || !log.Knows(since) || log.end() - since > slots / 4 + 8) {
    AskAll(kept, state, pod);
    return;
  }
  kept.first_rejection.resize(slots, kFits);
  kept.rejection.resize(slots);
  for (auto& known : kept.score_known) known.resize(slots, 0);
  for (auto& raw : kept.raw_score) raw.resize(slots, 0);
  const framework::NodeColumns& columns = cluster_.columns();
  for (auto cursor = since; cursor < log.end(); ++cursor) {
    const framework::NodeIndex index = log.at(cursor).node;
    for (auto& known : kept.score_known) known[index] = 0;
    if (columns.live[index]) AskNode(kept, state, pod, cluster_.table().row(index));
  }
}

// Column passes where plugins offer them, node by node where they do not.
void Evaluator::AskAll(Kept& kept, const CycleState& state, const PodInfo& pod) {
  const framework::NodeColumns& columns = cluster_.columns();
  const size_t slots = columns.size();
  kept.skip_filter = state.skip_filter;
  kept.first_rejection.assign(slots, kFits);
  kept.rejection.assign(slots, Status());
  kept.raw_score.assign(profile_.scores().size(), std::vector<int64_t>(slots, 0));
  kept.score_known.assign(profile_.scores().size(), std::vector<uint8_t>(slots, 0));
  statistics_.nodes_asked += cluster_.nodes().size();

  for (size_t position = 0; position < profile_.filters().size(); ++position) {
    const auto& filter = profile_.filters()[position];
    if (!filter_is_local_[position] || IsSkipped(state.skip_filter, filter.id)) continue;
    verdicts_.assign(slots, FilterPlugin::kAskFilter);
    if (!filter.plugin->FilterRange(state, pod, columns, 0, verdicts_)) {
      std::fill(verdicts_.begin(), verdicts_.end(), FilterPlugin::kAskFilter);
    }
    // Nodes with the same verdict share one Status, asked for once.
    std::array<Status, 256> by_verdict;
    for (const NodeInfo* node : cluster_.nodes()) {
      const framework::NodeIndex i = node->index();
      const uint8_t verdict = verdicts_[i];
      if (verdict == 0 || kept.first_rejection[i] != kFits) continue;
      Status status = verdict == FilterPlugin::kAskFilter ? Status() : by_verdict[verdict];
      if (status.ok()) status = profile_.RunOneFilter(filter, state, pod, *node);
      if (status.ok()) {
        CHECK_WHY(verdict == FilterPlugin::kAskFilter, "FilterRange rejects a node that Filter accepts");
        continue;
      }
      if (verdict != FilterPlugin::kAskFilter) by_verdict[verdict] = status;
      kept.first_rejection[i] = static_cast<uint8_t>(position);
      kept.rejection[i] = std::move(status);
    }
  }
}

void Evaluator::AskNode(Kept& kept, const CycleState& state, const PodInfo& pod, const NodeInfo& node) {
  ++statistics_.nodes_asked;
  const framework::NodeIndex i = node.index();
  kept.first_rejection[i] = kFits;
  kept.rejection[i] = Status();
  for (size_t position = 0; position < profile_.filters().size(); ++position) {
    const auto& filter = profile_.filters()[position];
    if (!filter_is_local_[position] || IsSkipped(state.skip_filter, filter.id)) continue;
    Status status = profile_.RunOneFilter(filter, state, pod, node);
    if (status.ok()) continue;
    kept.first_rejection[i] = static_cast<uint8_t>(position);
    kept.rejection[i] = std::move(status);
    return;
  }
}

// The first rejection in the profile's order wins, so only filters that stand before the kept rejection need asking.
Status Evaluator::Judge(const Kept& kept, CycleState& state, const PodInfo& pod, const NodeInfo& node) const {
  if (profile_.HasNominatedPodsFor(pod, node)) return profile_.RunFilterWithNominatedPods(state, pod, node);
  const uint8_t rejected_at = kept.first_rejection[node.index()];
  const size_t until = std::min<size_t>(rejected_at, profile_.filters().size());
  for (size_t position = 0; position < until; ++position) {
    const auto& filter = profile_.filters()[position];
    if (filter_is_local_[position] || IsSkipped(state.skip_filter, filter.id)) continue;
    if (Status status = profile_.RunOneFilter(filter, state, pod, node); !status.ok()) return status;
  }
  return rejected_at == kFits ? Status::Success() : kept.rejection[node.index()];
}

Status Evaluator::RawScores(Kept& kept, size_t position, const CycleState& state, const PodInfo& pod,
                            std::span<const NodeInfo* const> feasible, std::vector<int64_t>& raw) {
  const framework::ScorePlugin& plugin = *profile_.scores()[position].plugin;
  if (!score_is_local_[position]) return ScoreEach(plugin, state, pod, feasible, raw);

  std::vector<int64_t>& scores = kept.raw_score[position];
  std::vector<uint8_t>& known = kept.score_known[position];
  const auto missing = static_cast<size_t>(
      std::count_if(feasible.begin(), feasible.end(), [&](const NodeInfo* node) { return !known[node->index()]; }));
  if (missing > scores.size() / 4 + 8 && plugin.ScoreRange(state, pod, cluster_.columns(), 0, scores)) {
    std::fill(known.begin(), known.end(), uint8_t{1});
  }
  raw.resize(feasible.size());
  for (size_t i = 0; i < feasible.size(); ++i) {
    const framework::NodeIndex index = feasible[i]->index();
    if (!known[index]) {
      const framework::ScoreResult result = plugin.Score(state, pod, *feasible[i]);
      if (!result.status.ok()) return result.status;
      scores[index] = result.score;
      known[index] = 1;
    }
    raw[i] = scores[index];
  }
  return Status::Success();
}

}  // namespace berth::engine
