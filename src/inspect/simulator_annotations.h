// What kube-scheduler-simulator writes on pods, for the tools that read it: the results of filters and scores by node
// as annotations kube-scheduler-simulator.sigs.k8s.io/*.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/profile.h"
#include "scheduler/attempt.h"

namespace berth::inspect {

using AnnotationTexts = std::vector<std::pair<std::string, std::string>>;

// All annotations of an object together are limited to 256 KiB; this leaves room for others.
inline constexpr size_t kLongestAnnotation = 48 * 1024;

// For an attempt that evaluated every node (engine::Scope::kEverything), right after its scheduling cycle:
// filter-result and, if there are any, score-result, finalscore-result and postfilter-result. If a text would be longer
// than `longest`, the last nodes are omitted: feasible ones come first, the best in front. For a rejected node the
// filters up to the one that rejected it are listed, in the order they ran.
AnnotationTexts SimulatorAnnotations(const scheduler::Attempt& attempt, const engine::Profile& profile,
                                     size_t longest = kLongestAnnotation);

// The annotation that names the node a pod was bound to.
std::pair<std::string, std::string> SelectedNodeAnnotation(const std::string& node);

}  // namespace berth::inspect
