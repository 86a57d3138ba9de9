#include "engine/extender_calls.h"

#include <algorithm>
#include <future>
#include <unordered_map>
#include <utility>

#include "base/log.h"

namespace berth::engine {

using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

namespace {

// Scores come from outside and may have any value; they wrap around as they do in Go, where overflow is no error.
int64_t Weighted(int64_t score, int64_t weight) {
  constexpr uint64_t kScale = framework::kMaxNodeScore / kMaxExtenderPriority;
  return static_cast<int64_t>(static_cast<uint64_t>(score) * static_cast<uint64_t>(weight) * kScale);
}
int64_t Sum(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

void NoteReasons(const ExtenderVerdicts& verdicts, const framework::ClusterView& cluster,
                 framework::NodeToStatus& statuses) {
  for (const auto& [name, reason] : verdicts.failed_and_unresolvable) {
    const NodeInfo* node = cluster.Find(name);
    if (node) statuses.Set(node->index(), Status::UnschedulableAndUnresolvable(reason));
  }
  for (const auto& [name, reason] : verdicts.failed) {
    const NodeInfo* node = cluster.Find(name);
    if (!node || verdicts.failed_and_unresolvable.Contains(name)) continue;
    statuses.Set(node->index(), Status::Unschedulable(reason));
  }
}

using Priorities = Result<std::vector<HostPriority>>;

PluginScores ScoresOf(const Extender& extender, const std::vector<HostPriority>& priorities, const PodInfo& pod,
                      const std::unordered_map<std::string_view, size_t>& position_of) {
  PluginScores scores{extender.name(), std::vector<int64_t>(position_of.size()), {}};
  scores.weighted.resize(position_of.size());
  for (const HostPriority& priority : priorities) {
    LOG_INFO(10, "Extender scored node for pod", {"pod", pod.Key()}, {"extender", extender.name()},
             {"node", priority.host}, {"score", priority.score});
    const auto found = position_of.find(priority.host);
    if (found == position_of.end()) continue;
    int64_t& raw = scores.raw[found->second];
    raw = Sum(raw, priority.score);
    scores.weighted[found->second] = Weighted(raw, extender.weight());
  }
  return scores;
}

}  // namespace

bool AnyJudges(Extenders extenders, const PodInfo& pod) {
  return std::ranges::any_of(extenders, [&](const Extender* extender) {
    return (extender->IsFilter() || extender->IsPrioritizer()) && extender->IsInterested(pod);
  });
}

bool AnyPrioritizes(Extenders extenders, const PodInfo& pod) {
  return std::ranges::any_of(
      extenders, [&](const Extender* extender) { return extender->IsPrioritizer() && extender->IsInterested(pod); });
}

Status FilterByExtenders(Extenders extenders, const PodInfo& pod, const framework::ClusterView& cluster,
                         std::vector<const NodeInfo*>& feasible, framework::NodeToStatus& statuses) {
  for (Extender* extender : extenders) {
    if (feasible.empty()) break;
    if (!extender->IsFilter() || !extender->IsInterested(pod)) continue;
    Result<ExtenderVerdicts> verdicts = extender->Filter(pod, feasible);
    if (!verdicts) {
      if (!extender->IsIgnorable()) return Status::FromError(verdicts.error());
      LOG_INFO(0, "Skipping extender as it returned error and has ignorable flag set", {"extender", extender->name()},
               {"err", verdicts.error()});
      continue;
    }
    NoteReasons(*verdicts, cluster, statuses);
    feasible = std::move(verdicts->feasible);
    // Restores the order of names and drops duplicates.
    std::ranges::sort(feasible, {}, &NodeInfo::name);
    feasible.erase(std::unique(feasible.begin(), feasible.end()), feasible.end());
  }
  return Status::Success();
}

void ScoreByExtenders(Extenders extenders, const PodInfo& pod, Evaluation& evaluation) {
  std::vector<std::pair<const Extender*, std::future<Priorities>>> asked;
  for (Extender* extender : extenders) {
    if (!extender->IsPrioritizer() || !extender->IsInterested(pod)) continue;
    asked.emplace_back(extender, extender->Prioritize(pod, evaluation.feasible));
  }
  std::unordered_map<std::string_view, size_t> position_of;
  for (size_t i = 0; i < evaluation.feasible.size(); ++i) position_of.emplace(evaluation.feasible[i]->name(), i);
  for (auto& [extender, answer] : asked) {
    const Priorities priorities = answer.get();
    if (!priorities) {
      LOG_INFO(5, "Failed to run extender's priority function. No score given by this extender.",
               {"error", priorities.error()}, {"pod", pod.Key()}, {"extender", extender->name()});
      continue;
    }
    PluginScores scores = ScoresOf(*extender, *priorities, pod, position_of);
    for (size_t i = 0; i < evaluation.totals.size(); ++i) {
      evaluation.totals[i] = Sum(evaluation.totals[i], scores.weighted[i]);
    }
    evaluation.scores.push_back(std::move(scores));
  }
}

std::optional<Status> BindByExtender(Extenders extenders, const PodInfo& pod, const std::string& node_name) {
  for (Extender* extender : extenders) {
    if (!extender->IsBinder() || !extender->IsInterested(pod)) continue;
    const Result<void> bound = extender->Bind(pod, node_name);
    if (bound) return Status::Success();
    if (!extender->IsIgnorable()) return Status::FromError(bound.error());
    LOG_INFO(0, "Skipping extender in bind as it returned error and has ignorable flag set",
             {"extender", extender->name()}, {"err", bound.error()});
  }
  return std::nullopt;
}

}  // namespace berth::engine
