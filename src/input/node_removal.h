// Nodes that are removed, cordoned or drained, and what happens to the pods on them.
#pragma once

#include <string>
#include <vector>

#include "input/cluster_draft.h"

namespace berth::input {

// Each takes names of nodes in the draft.
void CordonNodes(const std::vector<std::string>& names, ClusterDraft& draft);
void RemoveNodes(const std::vector<std::string>& names, ClusterDraft& draft);
// Cordons them as well.
void DrainNodes(const std::vector<std::string>& names, ClusterDraft& draft);

}  // namespace berth::input
