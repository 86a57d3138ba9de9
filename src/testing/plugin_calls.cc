#include "testing/plugin_calls.h"

#include "framework/pod_resources.h"

namespace berth::testing {

framework::QueueingHint AskHint(const framework::EnqueueExtensions& plugin, framework::EventResource resource,
                                const framework::PodInfo& pod, const framework::EventObject& before,
                                const framework::EventObject& after) {
  for (const framework::ClusterEventWithHint& entry : plugin.EventsToRegister()) {
    if (entry.event.resource == resource) {
      return entry.hint ? entry.hint(pod, before, after) : framework::QueueingHint::kQueue;
    }
  }
  CHECK_WHY(false, "no event of this kind is registered");
  return framework::QueueingHint::kSkip;
}

std::vector<std::string> FindingsOf(const framework::ExplainsRejections& plugin, const framework::PodInfo& pod,
                                    const framework::NodeInfo& node, const framework::Status& status) {
  std::vector<std::string> texts;
  for (const framework::Finding& finding : plugin.ExplainRejections(pod)->Findings(status, node)) {
    texts.push_back(finding.subject + " | " + finding.asked + " | " + finding.there + " | " + finding.Text());
  }
  return texts;
}

std::vector<framework::Remedy> RemediesOf(const framework::ExplainsRejections& plugin, const framework::PodInfo& pod,
                                          const framework::NodeInfo& node) {
  return plugin.ExplainRejections(pod)->Remedies(node, framework::Remedy(pod.shared_pod(), node.shared_node()));
}

std::string TextOf(const framework::Remedy& remedy) {
  std::string text;
  for (const framework::RemedyStep& step : remedy.steps()) text += (text.empty() ? "" : " and ") + step.text;
  return text;
}

framework::NodeInfo ChangedNode(const framework::NodeInfo& node, const framework::Remedy& remedy) {
  framework::NodeInfo changed = node;
  changed.SetNode(remedy.node());
  return changed;
}

framework::PodInfoPtr ChangedPod(const framework::Remedy& remedy) {
  return framework::PodInfo::Make(remedy.pod(), framework::RunningPodOptions({}));
}

std::string SignatureOf(const framework::SignPlugin& plugin, const framework::PodInfo& pod) {
  framework::SignatureBuilder signature;
  CHECK_WHY(plugin.Sign(pod, signature), "the plugin does not sign this pod");
  return std::move(signature).Build();
}

}  // namespace berth::testing
