// What tests want to know about a plugin, in one call each.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"

namespace berth::testing {

// The plugin of type P; arguments that it rejects fail a CHECK.
template <class P>
std::unique_ptr<P> MakePlugin(framework::Handle& handle, const config::PluginArgs& args = {}) {
  Result<std::unique_ptr<framework::Plugin>> made = P::Create(args, handle);
  CHECK_WHY(made.ok(), "the plugin refused its arguments");
  return std::unique_ptr<P>(static_cast<P*>(made->release()));
}

// The verdict of PreFilter, or of Filter on `node` after it.
template <class P>
framework::Status Judge(const P& plugin, const framework::PodInfo& pod, const framework::NodeInfo& node) {
  framework::CycleState state;
  const framework::PreFilterResult result = plugin.PreFilter(state, pod);
  return result.status.ok() ? plugin.Filter(state, pod, node) : result.status;
}

// Raw and normalized scores by node name; none if PreScore skips. Any other failure fails a CHECK.
using Scores = std::map<std::string, std::pair<int64_t, int64_t>>;
template <class P>
Scores ScoreAll(const P& plugin, const framework::PodInfo& pod, std::span<const framework::NodeInfo* const> nodes) {
  framework::CycleState state;
  const framework::Status pre_score = plugin.PreScore(state, pod, nodes);
  if (pre_score.IsSkip()) return {};
  CHECK_WHY(pre_score.ok(), "PreScore failed");
  std::vector<framework::NodeScore> scores;
  for (const framework::NodeInfo* node : nodes) scores.push_back({node, plugin.Score(state, pod, *node).score});
  Scores result;
  for (const framework::NodeScore& score : scores) result[score.node->name()].first = score.score;
  CHECK_WHY(plugin.NormalizeScore(state, pod, scores).ok(), "NormalizeScore failed");
  for (const framework::NodeScore& score : scores) result[score.node->name()].second = score.score;
  return result;
}

// The result of the first hint registered for events of this kind; kQueue if there is none.
framework::QueueingHint AskHint(const framework::EnqueueExtensions& plugin, framework::EventResource resource,
                                const framework::PodInfo& pod, const framework::EventObject& before,
                                const framework::EventObject& after);

// What the plugin says about the node, each as "subject | asked | there | text".
std::vector<std::string> FindingsOf(const framework::ExplainsRejections& plugin, const framework::PodInfo& pod,
                                    const framework::NodeInfo& node, const framework::Status& status = {});
// The remedies that it proposes if no other plugin has; and the steps of one: "tolerate t:NoSchedule and uncordon n".
std::vector<framework::Remedy> RemediesOf(const framework::ExplainsRejections& plugin, const framework::PodInfo& pod,
                                          const framework::NodeInfo& node);
std::string TextOf(const framework::Remedy& remedy);
// The node with the changes of the remedy, and the pod.
framework::NodeInfo ChangedNode(const framework::NodeInfo& node, const framework::Remedy& remedy);
framework::PodInfoPtr ChangedPod(const framework::Remedy& remedy);

// For a pod that the plugin is willing to sign.
std::string SignatureOf(const framework::SignPlugin& plugin, const framework::PodInfo& pod);

}  // namespace berth::testing
