// What the queueing hints of several plugins have in common.
#pragma once

#include "api/pod.h"
#include "framework/events.h"

namespace berth::plugins {

inline framework::QueueingHint QueueIf(bool may_help) {
  return may_help ? framework::QueueingHint::kQueue : framework::QueueingHint::kSkip;
}

// Neither on a node nor promised one: nobody else is worse off for such a pod, nor better off without it.
inline bool HoldsNoPlace(const api::Pod& pod) {
  return pod.spec.node_name.empty() && pod.status.nominated_node_name.empty();
}

// For changes that only the pod itself can profit from.
inline framework::QueueingHint AfterOwnChange(const framework::PodInfo& pod, const framework::EventObject&,
                                              const framework::EventObject& after) {
  const api::Pod* changed = after.As<api::Pod>();
  return QueueIf(changed == nullptr || changed->metadata.uid == pod.uid());
}

// A member of the plugin as a hint about objects of type T; null where there is no such object on that side. The hint
// lives no longer than the plugin.
template <class P, class T>
framework::QueueingHintFn HintOf(const P* plugin,
                                 framework::QueueingHint (P::*judge)(const framework::PodInfo& pod, const T* before,
                                                                     const T* after) const) {
  return [plugin, judge](const framework::PodInfo& pod, const framework::EventObject& before,
                         const framework::EventObject& after) {
    return (plugin->*judge)(pod, before.As<T>(), after.As<T>());
  };
}

}  // namespace berth::plugins
