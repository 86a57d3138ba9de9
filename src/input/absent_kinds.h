// What a dump leaves out. A kind that is missing as a whole was not asked for, and what refers to it cannot be judged:
// that is one warning, instead of one dangling reference for each.
#pragma once

#include <set>
#include <string>

#include "api/kind.h"
#include "input/cluster_draft.h"

namespace berth::input {

// The command that dumps everything that simulate reads.
std::string DumpCommand();

// Kinds that objects of the draft refer to and of which the input has none.
std::set<api::Kind> FindAbsentKinds(const ClusterDraft& draft);

// One warning for each of them, with the number of those who refer to it and the full command.
void WarnOfAbsentKinds(const std::set<api::Kind>& absent, ClusterDraft& draft);

// Claims and volumes that contradict each other, or name one another in vain.
void WarnOfContradictions(ClusterDraft& draft);

}  // namespace berth::input
