// Objects of a running cluster that a later input gives again. The API server refuses to change some fields; a pod
// keeps its identity; and an object that is deleted first is made anew.
#pragma once

#include "input/admission.h"
#include "input/cluster_draft.h"

namespace berth::input {

// Changes to fields that the API server treats as immutable are problems. With `replace`, and for hooks of Helm or Argo
// CD, the object is deleted and made anew instead.
void CheckChanges(const Admission& admission, bool replace, ClusterDraft& draft);

// Warns of new objects in namespaces that the cluster does not have.
void WarnOfUnknownNamespaces(ClusterDraft& draft);

}  // namespace berth::input
