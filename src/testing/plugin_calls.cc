#include "testing/plugin_calls.h"

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

std::string SignatureOf(const framework::SignPlugin& plugin, const framework::PodInfo& pod) {
  framework::SignatureBuilder signature;
  CHECK_WHY(plugin.Sign(pod, signature), "the plugin does not sign this pod");
  return std::move(signature).Build();
}

}  // namespace berth::testing
