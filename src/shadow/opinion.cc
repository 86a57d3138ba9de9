#include "shadow/opinion.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/search.h"
#include "explain/plugin_explainers.h"

namespace berth::shadow {

using engine::Evaluation;
using framework::NodeInfo;

namespace {

// More than any difference of scores.
constexpr int64_t kFarAway = 1'000'000'000;
// How many of berth's best nodes are named.
constexpr size_t kNamedNodes = 3;

struct Search {
  Search(const engine::Profile& searched, const framework::PodInfo& pod)
      : profile(searched),
        state(profile.NewCycleState()),
        evaluation(engine::EvaluateFromScratch(profile, state, pod, engine::Scope::kEverything)) {}

  // Its position among the feasible nodes; npos if it is infeasible.
  size_t PositionOf(const std::string& node) const {
    const auto found = std::find_if(evaluation.feasible.begin(), evaluation.feasible.end(),
                                    [&](const NodeInfo* feasible) { return feasible->name() == node; });
    return found == evaluation.feasible.end() ? std::string::npos
                                              : static_cast<size_t>(found - evaluation.feasible.begin());
  }

  const engine::Profile& profile;
  framework::CycleState state;
  const Evaluation evaluation;
};

Opinion OpinionOf(const Search& search, const Decision& decision) {
  const Evaluation& found = search.evaluation;
  Opinion opinion;
  if (decision.node.empty()) {
    opinion.gap = static_cast<int64_t>(found.feasible.size());
    opinion.agrees = found.error.ok() && opinion.gap == 0;
    return opinion;
  }
  const size_t position = found.error.ok() ? search.PositionOf(decision.node) : std::string::npos;
  opinion.is_feasible = position != std::string::npos;
  if (!opinion.is_feasible) {
    opinion.gap = kFarAway;
    return opinion;
  }
  // A nominated node that is still feasible is chosen without evaluating the others.
  if (found.nominated) {
    opinion.gap = found.nominated->name() == decision.node ? 0 : 1;
  } else if (!found.totals.empty()) {
    opinion.gap = found.totals[found.best.front()] - found.totals[position];
  }
  opinion.agrees = opinion.gap == 0;
  return opinion;
}

void DescribeBest(const Search& search, Comparison& details) {
  const Evaluation& found = search.evaluation;
  details.nodes = search.profile.cluster().nodes().size();
  details.feasible_nodes = found.feasible.size();
  details.best.clear();
  if (found.nominated) {
    details.best = {found.nominated->name()};
    details.best_count = 1;
  } else {
    details.best_count = found.best.size();
    for (const uint32_t position : found.best) {
      if (details.best.size() < kNamedNodes) details.best.push_back(found.feasible[position]->name());
    }
  }
  details.best_score.reset();
  if (!found.totals.empty()) details.best_score = found.totals[found.best.front()];
}

void DescribeScores(const Search& search, const std::string& node, Comparison& details) {
  const Evaluation& found = search.evaluation;
  const size_t position = search.PositionOf(node);
  details.score.reset();
  details.plugins.clear();
  if (position == std::string::npos || found.totals.empty()) return;
  details.score = found.totals[position];
  for (const engine::PluginScores& scores : found.scores) {
    const int64_t chosen = scores.weighted[position];
    const int64_t best = scores.weighted[found.best.front()];
    if (chosen != best) details.plugins.push_back({std::string(scores.plugin), chosen, best});
  }
}

// Why the node is infeasible.
void DescribeRejection(const Search& search, const framework::PodInfo& pod, const std::string& name,
                       Comparison& details) {
  const Evaluation& found = search.evaluation;
  const framework::Status* status = !found.error.ok() ? &found.error : nullptr;
  const NodeInfo* node = search.profile.cluster().Find(name);
  if (status == nullptr && node == nullptr) {
    details.reason = fmt::format("node {} is not known", name);
    return;
  }
  if (status == nullptr) status = &found.diagnosis.node_to_status.Get(node->index());
  details.plugin = status->plugin();
  details.reason = status->Message();
  if (node == nullptr) return;
  const explain::PluginExplainers explainers(search.profile, pod);
  details.detail.clear();
  for (const framework::Finding& finding : explainers.Of(status->plugin()).Findings(*status, *node)) {
    details.detail += (details.detail.empty() ? "" : "; ") + finding.Text();
  }
}

// The other scheduler's message continues after the nodes' reasons with the result of preemption.
bool IsSameMessage(const Search& search, const std::string& theirs) {
  if (search.profile.cluster().nodes().empty()) return theirs.starts_with(framework::kNoNodesMessage);
  std::string ours = framework::FitErrorMessage(search.evaluation.diagnosis, search.profile.cluster().nodes().size());
  while (ours.ends_with(' ')) ours.pop_back();
  return theirs.starts_with(ours);
}

}  // namespace

Opinion Judge(const engine::Profile& profile, const framework::PodInfo& pod, const Decision& decision) {
  return OpinionOf(Search(profile, pod), decision);
}

Opinion Judge(const engine::Profile& profile, const framework::PodInfo& pod, const Decision& decision,
              Comparison& details) {
  const Search search(profile, pod);
  const Opinion opinion = OpinionOf(search, decision);
  DescribeBest(search, details);
  details.nominated = search.evaluation.nominated != nullptr && search.evaluation.nominated->name() == decision.node;
  if (decision.node.empty()) {
    details.is_same_message = opinion.agrees && IsSameMessage(search, decision.message);
    return opinion;
  }
  DescribeScores(search, decision.node, details);
  if (!opinion.is_feasible) DescribeRejection(search, pod, decision.node, details);
  return opinion;
}

bool IsFeasible(const engine::Profile& profile, const framework::PodInfo& pod, const std::string& node) {
  return Search(profile, pod).PositionOf(node) != std::string::npos;
}

}  // namespace berth::shadow
