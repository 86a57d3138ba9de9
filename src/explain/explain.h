// Explains a pod: one evaluation from scratch of the current cluster, every filter run on every node, the dry runs of
// preemption, and changes that are tried before they are reported.
//
// Knows no plugin by name: amounts and remedies come from the plugins themselves (framework/explanation.h).
#pragma once

#include <functional>

#include "engine/profile.h"
#include "explain/explanation.h"
#include "framework/pod_info.h"

namespace berth::explain {

struct Limits {
  // Called between nodes and between parts; once it returns true, the rest is omitted (Explanation::cut_short). Empty:
  // never.
  std::function<bool()> out_of_time{};

  bool Over() const { return out_of_time && out_of_time(); }
};

// Reports what an attempt to schedule `pod` right now would find. The cluster is only read: remedies are tried on
// forks, which the profile's plugins see temporarily. On the scheduling thread, between cycles. The caller fills in the
// node that the pod ends up on.
Explanation Explain(engine::Profile& profile, const framework::PodInfo& pod, const Limits& limits = {});

}  // namespace berth::explain
