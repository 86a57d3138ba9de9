// Nodes that leave or are emptied, and what becomes of the pods on them.
#pragma once

#include <string>
#include <vector>

#include "input/cluster_draft.h"

namespace berth::input {

// Each takes names of nodes that are in the draft.
void CordonNodes(const std::vector<std::string>& names, ClusterDraft& draft);
void RemoveNodes(const std::vector<std::string>& names, ClusterDraft& draft);
// Cordons them as well.
void DrainNodes(const std::vector<std::string>& names, ClusterDraft& draft);

}  // namespace berth::input
