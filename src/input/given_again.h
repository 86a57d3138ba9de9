// What a later input gives again of a running cluster. The API server refuses to change some fields; a pod stays the
// pod that it is; and an object that is deleted first is made anew, with nothing left of it.
#pragma once

#include "input/admission.h"
#include "input/cluster_draft.h"

namespace berth::input {

// Fields that the API server does not let anybody change are problems. With `replace`, and of a hook of Helm or Argo
// CD, the object is deleted and made anew instead.
void CheckChanges(const Admission& admission, bool replace, ClusterDraft& draft);

// New objects in namespaces that the cluster does not have.
void WarnOfUnknownNamespaces(ClusterDraft& draft);

}  // namespace berth::input
