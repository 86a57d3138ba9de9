#include "explain/explain.h"

#include <algorithm>
#include <map>

#include "engine/search.h"
#include "explain/explain_details.h"
#include "explain/explain_preemption.h"
#include "explain/explain_remedies.h"

namespace berth::explain {

using framework::NodeInfo;
using framework::Status;

namespace {

// Everything that was found out about one pod, on its way into an Explanation.
class Account {
 public:
  Account(const engine::Profile& profile, const framework::PodInfo& pod)
      : profile_(profile),
        pod_(pod),
        state_(profile.NewCycleState()),
        evaluation_(engine::EvaluateFromScratch(profile, state_, pod, engine::Scope::kEverything)),
        details_(profile, pod) {
    for (const NodeInfo* node : profile.cluster().nodes()) nodes_.push_back(node);
    std::sort(nodes_.begin(), nodes_.end(), [](const NodeInfo* a, const NodeInfo* b) { return a->name() < b->name(); });
  }

  const engine::Evaluation& evaluation() const { return evaluation_; }
  const framework::CycleState& state() const { return state_; }

  Explanation Tell() {
    Explanation told;
    told.pod = pod_.Key();
    if (!evaluation_.error.ok()) {
      told.pre_filter = evaluation_.error.Message();
      told.pre_filter_plugin = evaluation_.error.plugin();
      return told;
    }
    if (!evaluation_.pre_filter.ok()) {
      told.pre_filter = evaluation_.pre_filter.Message();
      told.pre_filter_plugin = evaluation_.pre_filter.plugin();
      return told;
    }
    std::map<const NodeInfo*, size_t> feasible;
    for (size_t i = 0; i < evaluation_.feasible.size(); ++i) feasible[evaluation_.feasible[i]] = i;
    for (const engine::PluginScores& scores : evaluation_.scores) {
      told.score_plugins.push_back({std::string(scores.plugin), WeightOf(scores.plugin)});
    }
    for (const NodeInfo* node : nodes_) {
      const auto found = feasible.find(node);
      told.nodes.push_back(found == feasible.end() ? Rejected(*node) : Scored(*node, found->second, told));
    }
    return told;
  }

 private:
  int64_t WeightOf(std::string_view plugin) const {
    for (const auto& score : profile_.scores()) {
      if (score.name == plugin) return score.weight;
    }
    return 1;
  }

  NodeVerdict Scored(const NodeInfo& node, size_t position, const Explanation& told) const {
    NodeVerdict verdict{.node = node.name()};
    if (evaluation_.totals.empty()) return verdict;
    verdict.total = evaluation_.totals[position];
    for (size_t i = 0; i < evaluation_.scores.size(); ++i) {
      const engine::PluginScores& scores = evaluation_.scores[i];
      const int64_t weight = told.score_plugins[i].weight;
      const int64_t weighted = scores.weighted[position];
      verdict.points.push_back({scores.raw[position], weight == 0 ? 0 : weighted / weight, weighted});
    }
    return verdict;
  }

  NodeVerdict Rejected(const NodeInfo& node) const {
    NodeVerdict verdict{.node = node.name()};
    const Status& first = evaluation_.diagnosis.node_to_status.Get(node.index());
    verdict.rejections.push_back(Told(first, node));
    for (const auto& filter : profile_.filters()) {
      if (filter.name == first.plugin() || engine::IsSkipped(state_.skip_filter, filter.id)) continue;
      const Status status = profile_.RunOneFilter(filter, state_, pod_, node);
      if (!status.ok()) verdict.rejections.push_back(Told(status.WithPlugin(filter.name), node));
    }
    return verdict;
  }

  Rejection Told(const Status& status, const NodeInfo& node) const {
    return {std::string(status.plugin()), status.Message(), details_.Of(status, node)};
  }

  const engine::Profile& profile_;
  const framework::PodInfo& pod_;
  framework::CycleState state_;
  const engine::Evaluation evaluation_;
  const DetailFinder details_;
  std::vector<const NodeInfo*> nodes_;  // by name
};

}  // namespace

Explanation Explain(const engine::Profile& profile, cluster::Cluster& cluster, const framework::PodInfo& pod) {
  Account account(profile, pod);
  Explanation told = account.Tell();
  if (account.evaluation().fits() || !account.evaluation().error.ok()) return told;
  told.preemption = TellPreemption(profile, account.state(), pod, account.evaluation().diagnosis);
  FindRemedies(profile, cluster, pod, told);
  return told;
}

}  // namespace berth::explain
