// Opinion: what berth thinks of a decision of another scheduler, in the picture that its profile sees at the moment.
#pragma once

#include <cstdint>
#include <string>

#include "engine/profile.h"
#include "framework/pod_info.h"
#include "shadow/comparison.h"

namespace berth::shadow {

// A decision of another scheduler about a pod.
struct Decision {
  std::string node;     // "": it was given up
  std::string message;  // of a pod that was given up
};

struct Opinion {
  bool agrees = false;
  // How far berth is from agreeing: 0 when it does. Comparable among pictures; whatever is not feasible is further away
  // than anything that is.
  int64_t gap = 0;
  bool is_feasible = false;  // the node
};

// Without details, to compare many pictures with.
Opinion Judge(const engine::Profile& profile, const framework::PodInfo& pod, const Decision& decision);
// The same, and what stands behind it: everything of the comparison that is about nodes and scores.
Opinion Judge(const engine::Profile& profile, const framework::PodInfo& pod, const Decision& decision,
              Comparison& details);
// Whether every filter lets the pod onto the node.
bool IsFeasible(const engine::Profile& profile, const framework::PodInfo& pod, const std::string& node);

}  // namespace berth::shadow
