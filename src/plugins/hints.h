// Queueing hints shared by several plugins.
#pragma once

#include "api/pod.h"
#include "framework/events.h"

namespace berth::plugins {

inline framework::QueueingHint QueueIf(bool may_help) {
  return may_help ? framework::QueueingHint::kQueue : framework::QueueingHint::kSkip;
}

// Neither bound nor nominated to a node: such a pod takes no room from others and frees none when it goes.
inline bool HoldsNoPlace(const api::Pod& pod) {
  return pod.spec.node_name.empty() && pod.status.nominated_node_name.empty();
}

// For changes that can only help the pod itself.
inline framework::QueueingHint AfterOwnChange(const framework::PodInfo& pod, const framework::EventObject&,
                                              const framework::EventObject& after) {
  const api::Pod* changed = after.As<api::Pod>();
  return QueueIf(changed == nullptr || changed->metadata.uid == pod.uid());
}

// A member function of the plugin as a hint about objects of type T; null where there is no object on that side. The
// hint must not outlive the plugin.
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
