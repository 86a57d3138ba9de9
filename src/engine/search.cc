#include "engine/search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "engine/extender_calls.h"
#include "engine/node_sampling.h"

namespace berth::engine {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

namespace {

// Reports to the observer how long the rest of a function took, with the code of `status` at its end.
class StepTimer {
 public:
  StepTimer(const Profile& profile, Step step, const Status& status)
      : profile_(profile),
        step_(step),
        status_(status),
        start_(profile.observer() ? profile.clock().Now() : base::Time()) {}
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;
  ~StepTimer() {
    if (PluginObserver* const observer = profile_.observer()) {
      observer->OnStep(step_, status_.code(), profile_.clock().Now() - start_);
    }
  }

 private:
  const Profile& profile_;
  const Step step_;
  const Status& status_;
  const base::Time start_;
};

std::vector<const NodeInfo*> NodesToFilter(const Profile& profile, const Evaluation& evaluation) {
  std::vector<const NodeInfo*> nodes;
  if (evaluation.narrowed_to) {
    for (const std::string& name : *evaluation.narrowed_to) {
      if (const NodeInfo* node = profile.cluster().Find(name)) nodes.push_back(node);
    }
  } else {
    const auto all = profile.cluster().nodes();
    nodes.assign(all.begin(), all.end());
  }
  return nodes;
}

// Normalises, checks the range and applies the weight.
Status Weigh(const Enabled<framework::ScorePlugin>& enabled, const CycleState& state, const PodInfo& pod,
             std::span<const NodeInfo* const> nodes, PluginScores& scores) {
  std::vector<framework::NodeScore> list(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) list[i] = {nodes[i], scores.raw[i]};
  if (enabled.plugin->normalization() != framework::Normalization::kNone) {
    const Status status = enabled.plugin->NormalizeScore(state, pod, list);
    if (!status.ok()) {
      return Status::Error(fmt::format("running Normalize on Score plugins: plugin \"{}\" failed with: {}",
                                       enabled.name, status.Message()));
    }
  }
  scores.weighted.resize(nodes.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t score = list[i].score;
    if (score > framework::kMaxNodeScore || score < framework::kMinNodeScore) {
      return Status::Error(
          fmt::format("applying score defaultWeights on Score plugins: plugin \"{}\" returns an invalid score {}, "
                      "it should in the range of [{}, {}] after normalizing",
                      enabled.name, score, framework::kMinNodeScore, framework::kMaxNodeScore));
    }
    scores.weighted[i] = score * enabled.weight;
  }
  return Status::Success();
}

void FindBest(Evaluation& evaluation) {
  evaluation.best.clear();
  if (evaluation.totals.empty()) {
    evaluation.best.resize(evaluation.feasible.size());
    std::iota(evaluation.best.begin(), evaluation.best.end(), 0u);
    return;
  }
  const int64_t highest = *std::max_element(evaluation.totals.begin(), evaluation.totals.end());
  for (uint32_t i = 0; i < evaluation.totals.size(); ++i) {
    if (evaluation.totals[i] == highest) evaluation.best.push_back(i);
  }
}

// False when PreFilter has already decided (the evaluation is then complete).
bool RunPreFilterPhase(const Profile& profile, CycleState& state, const PodInfo& pod, Evaluation& evaluation) {
  PreFilterOutcome outcome = profile.RunPreFilter(state, pod);
  evaluation.narrowed_by = std::move(outcome.narrowed_by);
  evaluation.diagnosis.unschedulable_plugins = evaluation.narrowed_by;
  if (!outcome.status.ok()) {
    if (!outcome.status.IsRejected()) {
      evaluation.error = outcome.status;
      return false;
    }
    evaluation.pre_filter = outcome.status;
    evaluation.diagnosis.pre_filter_message = outcome.status.Message();
    evaluation.diagnosis.node_to_status.SetAbsent(outcome.status);
    evaluation.diagnosis.AddPluginStatus(outcome.status);
    return false;
  }
  if (outcome.node_names) {
    evaluation.narrowed_to = std::move(outcome.node_names);
    evaluation.diagnosis.node_to_status.SetAbsent(Status::UnschedulableAndUnresolvable(fmt::format(
        "node(s) didn't satisfy plugin(s) [{}]", fmt::join(evaluation.diagnosis.unschedulable_plugins, " "))));
  }
  return true;
}

// Whether the pod's nominated node passes everything. An extender's error is not reported here: it occurs again when
// all nodes are searched.
bool NominationHolds(const Profile& profile, const PodInfo& pod, const NodeInfo& node, const Status& judged) {
  if (!judged.ok()) return false;
  std::vector<const NodeInfo*> feasible = {&node};
  framework::NodeToStatus unused;
  return FilterByExtenders(profile.extenders(), pod, profile.cluster(), feasible, unused).ok() && !feasible.empty();
}

void RunExtenderFilters(const Profile& profile, const PodInfo& pod, Evaluation& evaluation) {
  const size_t before = evaluation.feasible.size();
  evaluation.error = FilterByExtenders(profile.extenders(), pod, profile.cluster(), evaluation.feasible,
                                       evaluation.diagnosis.node_to_status);
  if (evaluation.feasible.size() != before) evaluation.diagnosis.unschedulable_plugins.emplace(kExtenderName);
}

// The number of feasible nodes, out of `nodes`, at which the search ends.
size_t NodesToFind(const Profile& profile, const Sample* sample, size_t nodes) {
  if (!sample) return nodes;
  // Any feasible node will do when no plugin scores and no extender filters or prioritizes.
  const bool anyone_judges = std::ranges::any_of(
      profile.extenders(), [](const Extender* extender) { return extender->IsFilter() || extender->IsPrioritizer(); });
  if (profile.scores().empty() && !anyone_judges) return std::min<size_t>(nodes, 1);
  return sample->rule.NodesToFind(nodes);
}

// The nodes in search order.
std::vector<const NodeInfo*> NodesToSearch(const Profile& profile, const Sample* sample, const Evaluation& evaluation) {
  if (!sample) return NodesToFilter(profile, evaluation);
  std::vector<const NodeInfo*> nodes = evaluation.narrowed_to ? NodesToFilter(profile, evaluation)
                                                              : std::vector(sample->nodes.begin(), sample->nodes.end());
  if (!nodes.empty()) std::ranges::rotate(nodes, nodes.begin() + sample->start % nodes.size());
  return nodes;
}

// True when the pod's nominated node fits and no other node need be considered.
template <class Judge>
bool TryNomination(const Profile& profile, const PodInfo& pod, Scope scope, const Sample* sample, Judge&& judge,
                   Evaluation& evaluation) {
  const std::string& nomination = pod.pod().status.nominated_node_name;
  const NodeInfo* node = nomination.empty() ? nullptr : profile.cluster().Find(nomination);
  if (!node) return false;
  Status judged = judge(*node);
  if (!NominationHolds(profile, pod, *node, judged)) {
    // Counts as evaluated, even if the search does not reach it.
    if (sample && judged.IsRejected()) evaluation.diagnosis.node_to_status.Set(node->index(), std::move(judged));
    return false;
  }
  evaluation.nominated = node;
  if (scope == Scope::kEverything) return false;
  evaluation.feasible = {node};
  return true;
}

void RunFilterPhase(const Profile& profile, CycleState& state, const PodInfo& pod, Scope scope, const Sample* sample,
                    Evaluation& evaluation) {
  const StepTimer timer(profile, Step::kFilter, evaluation.error);
  const auto judge = [&](const NodeInfo& node) { return profile.RunFilterWithNominatedPods(state, pod, node); };
  // The nominated node is tried first: it is likely the only one that fits.
  if (TryNomination(profile, pod, scope, sample, judge, evaluation)) return;
  const std::vector<const NodeInfo*> nodes = NodesToSearch(profile, sample, evaluation);
  const size_t wanted = NodesToFind(profile, sample, nodes.size());
  for (const NodeInfo* node : nodes) {
    Status status = judge(*node);
    if (status.ok()) {
      // As upstream, which stops only when it finds one node too many.
      if (evaluation.feasible.size() == wanted) break;
      evaluation.feasible.push_back(node);
      continue;
    }
    if (status.IsError() && evaluation.error.ok()) evaluation.error = status;
    if (status.IsError() && sample) break;
    evaluation.diagnosis.AddPluginStatus(status);
    evaluation.diagnosis.node_to_status.Set(node->index(), std::move(status));
  }
  if (sample) {
    const size_t rejected = evaluation.diagnosis.node_to_status.explicit_count();
    evaluation.sampled = SampledNodes{evaluation.feasible, evaluation.feasible.size() + rejected};
  }
  std::sort(evaluation.feasible.begin(), evaluation.feasible.end(),
            [](const NodeInfo* a, const NodeInfo* b) { return a->name() < b->name(); });
  if (evaluation.error.ok()) RunExtenderFilters(profile, pod, evaluation);
}

Status ScoreEach(const Profile& profile, const Enabled<framework::ScorePlugin>& enabled, const CycleState& state,
                 const PodInfo& pod, std::span<const NodeInfo* const> nodes, std::vector<int64_t>& raw) {
  PluginObserver* const observer = profile.observer();
  const bool timed = observer != nullptr && observer->times_plugins(Step::kScore);
  const base::Time start = timed ? profile.clock().Now() : base::Time();
  raw.reserve(nodes.size());
  for (const NodeInfo* node : nodes) {
    const framework::ScoreResult result = enabled.plugin->Score(state, pod, *node);
    if (!result.status.ok()) return result.status;
    raw.push_back(result.score);
  }
  if (timed) {
    const base::Duration took = (profile.clock().Now() - start) / static_cast<int64_t>(nodes.size());
    observer->OnPlugin(Step::kScore, enabled.name, Code::kSuccess, took, nodes.size());
  }
  return Status::Success();
}

void RunScorePhase(const Profile& profile, CycleState& state, const PodInfo& pod, Evaluation& evaluation) {
  const bool prioritized = AnyPrioritizes(profile.extenders(), pod);
  if (evaluation.feasible.size() < 2 || (profile.scores().empty() && !prioritized)) {
    FindBest(evaluation);
    return;
  }
  evaluation.error = profile.RunPreScore(state, pod, evaluation.feasible);
  if (!evaluation.error.ok()) return;
  const StepTimer timer(profile, Step::kScore, evaluation.error);
  evaluation.totals.assign(evaluation.feasible.size(), 0);
  for (const Enabled<framework::ScorePlugin>& enabled : profile.scores()) {
    if (IsSkipped(state.skip_score, enabled.id)) continue;
    PluginScores scores{enabled.name, {}, {}};
    if (const Status status = ScoreEach(profile, enabled, state, pod, evaluation.feasible, scores.raw); !status.ok()) {
      evaluation.error = Status::Error(
          fmt::format("running Score plugins: plugin \"{}\" failed with: {}", enabled.name, status.Message()));
      return;
    }
    evaluation.error = Weigh(enabled, state, pod, evaluation.feasible, scores);
    if (!evaluation.error.ok()) return;
    for (size_t i = 0; i < scores.weighted.size(); ++i) evaluation.totals[i] += scores.weighted[i];
    evaluation.scores.push_back(std::move(scores));
  }
  if (prioritized) ScoreByExtenders(profile.extenders(), pod, evaluation);
  FindBest(evaluation);
}

}  // namespace

Evaluation EvaluateFromScratch(const Profile& profile, CycleState& state, const PodInfo& pod, Scope scope,
                               const Sample* sample) {
  Evaluation evaluation;
  if (!RunPreFilterPhase(profile, state, pod, evaluation)) return evaluation;
  RunFilterPhase(profile, state, pod, scope, sample, evaluation);
  if (evaluation.error.ok()) RunScorePhase(profile, state, pod, evaluation);
  return evaluation;
}

}  // namespace berth::engine
