#include "explain/remedies.h"

#include <algorithm>
#include <optional>
#include <set>

#include "explain/cluster_fork.h"
#include "framework/pod_resources.h"

namespace berth::explain {

using framework::NodeInfo;
using framework::Remedy;

namespace {

constexpr size_t kMaxTold = 3;
constexpr size_t kMaxTried = 24;
constexpr size_t kMaxPerNode = 8;

// Every one of `drafts`, continued in each way that the plugin proposes.
std::vector<Remedy> Extend(const std::vector<Remedy>& drafts, const framework::RejectionExplainer& plugin,
                           const NodeInfo& node) {
  std::vector<Remedy> longer;
  for (const Remedy& draft : drafts) {
    for (Remedy& next : plugin.Remedies(node, draft)) {
      if (longer.size() < kMaxPerNode) longer.push_back(std::move(next));
    }
  }
  return longer;
}

// Empty when one of the plugins that reject the node proposes no remedy.
std::vector<Remedy> ProposalsFor(const NodeInfo& node, const NodeVerdict& verdict, const framework::PodInfo& pod,
                                 const PluginExplainers& explainers) {
  std::vector<Remedy> drafts = {Remedy(pod.shared_pod(), node.shared_node())};
  for (const NodeRejection& rejection : verdict.rejections) {
    if (rejection.plugin.empty() && rejection.left_out_by.empty()) return {};
    if (!rejection.plugin.empty()) drafts = Extend(drafts, explainers.Of(rejection.plugin), node);
    for (const std::string& plugin : rejection.left_out_by) drafts = Extend(drafts, explainers.Of(plugin), node);
  }
  std::erase_if(drafts, [](const Remedy& draft) { return draft.steps().empty(); });
  return drafts;
}

using Kinds = std::set<std::string>;

Kinds KindsOf(const Remedy& remedy) {
  Kinds kinds;
  for (const framework::RemedyStep& step : remedy.steps()) kinds.insert(step.kind);
  return kinds;
}

// Whether a remedy already reported needs only these kinds of changes, or some of them.
bool IsMore(const Kinds& kinds, const std::vector<Kinds>& told) {
  return std::any_of(told.begin(), told.end(), [&](const Kinds& fewer) {
    return std::includes(kinds.begin(), kinds.end(), fewer.begin(), fewer.end());
  });
}

// Whether the filters accept the changed pod on the changed node.
bool Fits(engine::Profile& profile, const framework::PodInfo& pod, const Remedy& remedy) {
  ClusterFork fork(profile.cluster());
  if (remedy.changes_node()) fork.ReplaceNode(remedy.node());
  std::optional<framework::Objects> objects;
  if (remedy.changes_objects()) remedy.ApplyTo(objects.emplace(profile.objects()));
  const framework::PodInfoPtr changed =
      remedy.changes_pod() ? framework::PodInfo::Make(remedy.pod(), framework::RunningPodOptions(profile.gates()))
                           : nullptr;
  const framework::PodInfo& tried = changed ? *changed : pod;

  const engine::OtherPicture seen(profile, fork, objects ? *objects : profile.objects());
  framework::CycleState state = profile.NewCycleState();
  const std::string& node = remedy.node()->metadata.name;
  const engine::PreFilterOutcome outcome = profile.RunPreFilter(state, tried);
  return outcome.status.ok() && (!outcome.node_names || outcome.node_names->contains(node)) &&
         profile.RunFilterWithNominatedPods(state, tried, *fork.Find(node)).ok();
}

}  // namespace

void FindRemedies(engine::Profile& profile, const framework::PodInfo& pod, const PluginExplainers& explainers,
                  const Limits& limits, Explanation& told) {
  std::vector<Remedy> proposals;
  for (const NodeVerdict& verdict : told.nodes) {
    if (limits.Over()) {
      told.cut_short = true;
      return;
    }
    std::vector<Remedy> more = ProposalsFor(*profile.cluster().Find(verdict.node), verdict, pod, explainers);
    std::move(more.begin(), more.end(), std::back_inserter(proposals));
  }
  std::stable_sort(proposals.begin(), proposals.end(),
                   [](const Remedy& a, const Remedy& b) { return a.cost() < b.cost(); });
  std::vector<Kinds> seen;
  for (const Remedy& proposal : proposals) {
    if (told.remedies.size() == kMaxTold || told.remedies_tried == kMaxTried) break;
    if (limits.Over()) {
      told.cut_short = true;
      break;
    }
    Kinds kinds = KindsOf(proposal);
    if (IsMore(kinds, seen)) continue;
    ++told.remedies_tried;
    if (!Fits(profile, pod, proposal)) continue;
    seen.push_back(std::move(kinds));
    ProvenRemedy& proven = told.remedies.emplace_back();
    proven.node = proposal.node()->metadata.name;
    for (const framework::RemedyStep& step : proposal.steps()) proven.changes.push_back(step.text);
  }
}

}  // namespace berth::explain
