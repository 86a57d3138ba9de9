// Explaining a pod: one evaluation from scratch of the cluster as it is, every filter asked about every node, the dry
// runs of preemption, and changes that are tried before they are told.
//
// Knows no plugin by name: numbers and remedies come from the plugins themselves (framework/explanation.h).
#pragma once

#include <functional>

#include "engine/profile.h"
#include "explain/explanation.h"
#include "framework/pod_info.h"

namespace berth::explain {

struct Limits {
  // Asked between nodes and between parts; once it says yes, what is left is left out (Explanation::cut_short). Empty:
  // never.
  std::function<bool()> out_of_time{};

  bool Over() const { return out_of_time && out_of_time(); }
};

// Says what an attempt to schedule `pod` right now would find. The cluster is only read: remedies are tried on forks of
// it, which the profile's plugins see for a moment. On the scheduling thread, between cycles. Where the pod ends up is
// for the caller to fill in.
Explanation Explain(engine::Profile& profile, const framework::PodInfo& pod, const Limits& limits = {});

}  // namespace berth::explain
