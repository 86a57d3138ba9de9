// Opinion: berth's view of another scheduler's decision, in the picture that its profile sees at the moment.
#pragma once

#include <cstdint>
#include <string>

#include "engine/profile.h"
#include "framework/pod_info.h"
#include "shadow/comparison.h"

namespace berth::shadow {

// A decision of another scheduler about a pod.
struct Decision {
  std::string node;     // "": no node was found
  std::string message;  // if no node was found
};

struct Opinion {
  bool agrees = false;
  // How far berth is from agreeing: 0 if it agrees. Comparable between pictures; an infeasible node is always further
  // away than a feasible one.
  int64_t gap = 0;
  bool is_feasible = false;  // the node
};

// Without details, for evaluating many pictures.
Opinion Judge(const engine::Profile& profile, const framework::PodInfo& pod, const Decision& decision);
// The same with details: everything in the comparison that is about nodes and scores.
Opinion Judge(const engine::Profile& profile, const framework::PodInfo& pod, const Decision& decision,
              Comparison& details);
// Whether the pod passes every filter on the node.
bool IsFeasible(const engine::Profile& profile, const framework::PodInfo& pod, const std::string& node);

}  // namespace berth::shadow
