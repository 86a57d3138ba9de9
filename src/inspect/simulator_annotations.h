// What kube-scheduler-simulator writes on pods, for the tools that read it: the outcome of filters and scores by node
// as annotations kube-scheduler-simulator.sigs.k8s.io/*.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/profile.h"
#include "scheduler/attempt.h"

namespace berth::inspect {

using AnnotationTexts = std::vector<std::pair<std::string, std::string>>;

// All annotations of an object may be 256 KiB together; others want theirs, too.
inline constexpr size_t kLongestAnnotation = 48 * 1024;

// Of an attempt that looked at every node (engine::Scope::kEverything), right after its scheduling cycle:
// filter-result, and as far as there are any score-result, finalscore-result and postfilter-result. Where a text would
// be longer than `longest`, the nodes that came last are left out: feasible ones go in first, the best in front. Of a
// node that was rejected the filters up to the one that did it are told, as they were asked.
AnnotationTexts SimulatorAnnotations(const scheduler::Attempt& attempt, const engine::Profile& profile,
                                     size_t longest = kLongestAnnotation);

// The one that names the node a pod was bound to.
std::pair<std::string, std::string> SelectedNodeAnnotation(const std::string& node);

}  // namespace berth::inspect
