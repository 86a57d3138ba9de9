// Kinds that a dump leaves out. A kind that is missing altogether was not dumped, and references to it cannot be
// checked: that is one warning, instead of one dangling reference each.
#pragma once

#include <set>
#include <string>

#include "api/kind.h"
#include "input/cluster_draft.h"

namespace berth::input {

// The command that dumps everything that simulate reads.
std::string DumpCommand();

// Kinds that objects of the draft refer to and that the input lacks altogether.
std::set<api::Kind> FindAbsentKinds(const ClusterDraft& draft);

// One warning per kind, with the number of objects that refer to it and the full command.
void WarnOfAbsentKinds(const std::set<api::Kind>& absent, ClusterDraft& draft);

// Claims and volumes that contradict each other, or refer to an object that does not exist.
void WarnOfContradictions(ClusterDraft& draft);

}  // namespace berth::input
