#include "explain/explain.h"

#include <algorithm>
#include <map>

#include "engine/search.h"
#include "explain/plugin_explainers.h"
#include "explain/priority_remedies.h"
#include "explain/remedies.h"

namespace berth::explain {

using framework::NodeInfo;
using framework::Status;

namespace {

// A search for a node, to be turned into an Explanation.
class ExplainedSearch {
 public:
  ExplainedSearch(const engine::Profile& profile, const framework::PodInfo& pod, const PluginExplainers& explainers)
      : profile_(profile),
        pod_(pod),
        explainers_(explainers),
        state_(profile.NewCycleState()),
        evaluation_(engine::EvaluateFromScratch(profile, state_, pod, engine::Scope::kEverything)) {
    for (const NodeInfo* node : profile.cluster().nodes()) nodes_.push_back(node);
    std::sort(nodes_.begin(), nodes_.end(), [](const NodeInfo* a, const NodeInfo* b) { return a->name() < b->name(); });
  }

  const engine::Evaluation& evaluation() const { return evaluation_; }

  Explanation Explain(const Limits& limits) const {
    Explanation told;
    told.pod = pod_.Key();
    const Status& whole = evaluation_.error.ok() ? evaluation_.pre_filter : evaluation_.error;
    if (!whole.ok()) {
      told.pre_filter = whole.Message();
      told.pre_filter_plugin = whole.plugin();
      return told;
    }
    std::map<const NodeInfo*, size_t> feasible;
    for (size_t i = 0; i < evaluation_.feasible.size(); ++i) feasible[evaluation_.feasible[i]] = i;
    for (const engine::PluginScores& scores : evaluation_.scores) {
      told.score_plugins.push_back({std::string(scores.plugin), WeightOf(scores.plugin)});
    }
    for (const NodeInfo* node : nodes_) {
      const auto found = feasible.find(node);
      if (found != feasible.end()) {
        told.nodes.push_back(Scored(*node, found->second, told));
        continue;
      }
      told.cut_short = told.cut_short || limits.Over();
      told.nodes.push_back(told.cut_short ? FirstRejection(*node) : Rejected(*node));
    }
    return told;
  }

  // From the first plugin that preempts and explains itself; unset when there is none.
  // `pod` is this one, or a copy with another priority or preemption policy.
  std::optional<framework::PreemptionExplanation> ExplainPreemption(const framework::PodInfo& pod) const {
    for (const std::string_view name : profile_.PluginsAt(config::ExtensionPoint::kPostFilter)) {
      const auto* plugin = dynamic_cast<const framework::ExplainsPreemption*>(profile_.FindPlugin(name));
      if (plugin) return plugin->ExplainPreemption(state_, pod, evaluation_.diagnosis.node_to_status);
    }
    return std::nullopt;
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

  // What the scheduler itself found, without the amounts behind it.
  NodeVerdict FirstRejection(const NodeInfo& node) const {
    const Status& first = evaluation_.diagnosis.node_to_status.Get(node.index());
    NodeVerdict verdict{.node = node.name()};
    verdict.rejections.push_back({std::string(first.plugin()), first.Message(), {}, {}});
    return verdict;
  }

  NodeVerdict Rejected(const NodeInfo& node) const {
    NodeVerdict verdict{.node = node.name()};
    const Status& first = evaluation_.diagnosis.node_to_status.Get(node.index());
    verdict.rejections.push_back(RejectionOf(first, node));
    for (const auto& filter : profile_.filters()) {
      if (filter.name == first.plugin() || engine::IsSkipped(state_.skip_filter, filter.id)) continue;
      const Status status = profile_.RunOneFilter(filter, state_, pod_, node);
      if (!status.ok()) verdict.rejections.push_back(RejectionOf(status.WithPlugin(filter.name), node));
    }
    if (evaluation_.narrowed_to && !evaluation_.narrowed_to->contains(node.name())) NoteLeftOut(first, node, verdict);
    return verdict;
  }

  NodeRejection RejectionOf(const Status& status, const NodeInfo& node) const {
    return {std::string(status.plugin()), status.Message(), {}, explainers_.Of(status.plugin()).Findings(status, node)};
  }

  // The first rejection is PreFilter's, which names no plugin. A plugin that also rejects the node in Filter is
  // explained there.
  void NoteLeftOut(const Status& status, const NodeInfo& node, NodeVerdict& verdict) const {
    NodeRejection& first = verdict.rejections.front();
    for (const std::string& plugin : evaluation_.narrowed_by) {
      const bool known = std::any_of(verdict.rejections.begin(), verdict.rejections.end(),
                                     [&](const NodeRejection& rejection) { return rejection.plugin == plugin; });
      if (known) continue;
      first.left_out_by.push_back(plugin);
      std::vector<framework::Finding> findings = explainers_.Of(plugin).Findings(status, node);
      std::move(findings.begin(), findings.end(), std::back_inserter(first.findings));
    }
  }

  const engine::Profile& profile_;
  const framework::PodInfo& pod_;
  const PluginExplainers& explainers_;
  framework::CycleState state_;
  const engine::Evaluation evaluation_;
  std::vector<const NodeInfo*> nodes_;  // by name
};

}  // namespace

std::string NodeRejection::Detail() const {
  std::string text;
  for (const framework::Finding& finding : findings) text += (text.empty() ? "" : "; ") + finding.Text();
  return text;
}

std::string NodeRejection::Sort() const {
  std::string text = plugin + "\n" + reason;
  for (const framework::Finding& finding : findings) text += "\n" + finding.subject + " " + finding.sort;
  return text;
}

double NodeRejection::Shortage() const {
  double sum = 0;
  for (const framework::Finding& finding : findings) sum += finding.shortage;
  return sum;
}

namespace {

// The hints of every plugin that rejected the pod or a node, in the order of rejection.
std::vector<std::string> CollectHints(const PluginExplainers& explainers, const Explanation& told) {
  std::vector<std::string> plugins;
  const auto note = [&](const std::string& plugin) {
    if (!plugin.empty() && std::find(plugins.begin(), plugins.end(), plugin) == plugins.end())
      plugins.push_back(plugin);
  };
  note(told.pre_filter_plugin);
  for (const NodeVerdict& verdict : told.nodes) {
    for (const NodeRejection& rejection : verdict.rejections) {
      note(rejection.plugin);
      for (const std::string& plugin : rejection.left_out_by) note(plugin);
    }
  }
  std::vector<std::string> hints;
  for (const std::string& plugin : plugins) {
    for (std::string& hint : explainers.Of(plugin).Hints()) {
      if (std::find(hints.begin(), hints.end(), hint) == hints.end()) hints.push_back(std::move(hint));
    }
  }
  return hints;
}

}  // namespace

Explanation Explain(engine::Profile& profile, const framework::PodInfo& pod, const Limits& limits) {
  const PluginExplainers explainers(profile, pod);
  const ExplainedSearch search(profile, pod, explainers);
  Explanation told = search.Explain(limits);
  if (search.evaluation().fits()) return told;
  if (!search.evaluation().error.ok()) {
    told.hints = CollectHints(explainers, told);
    return told;
  }
  const auto may_go_on = [&] {
    told.cut_short = told.cut_short || limits.Over();
    return !told.cut_short;
  };
  if (may_go_on()) told.preemption = search.ExplainPreemption(pod);
  if (may_go_on()) FindRemedies(profile, pod, explainers, limits, told);
  if (told.nodes.empty() || !may_go_on()) {
    told.hints = CollectHints(explainers, told);
    return told;
  }
  const auto preempt_as = [&](const framework::PodInfo& other) { return search.ExplainPreemption(other); };
  FindPriorityRemedies(profile, pod, preempt_as, told);
  told.hints = CollectHints(explainers, told);
  return told;
}

}  // namespace berth::explain
