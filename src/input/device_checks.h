// Checks objects of dynamic resource allocation: expressions that do not compile, requests that ask for nothing, slices
// and claims that refer to objects that do not exist.
#pragma once

#include <string>

#include "api/resource_claim.h"
#include "input/cluster_draft.h"
#include "input/field_checks.h"

namespace berth::input {

// `path` is that of the spec: "spec", or "spec.spec" in a template.
void CheckClaimSpec(const api::ResourceClaimSpec& spec, const std::string& path, FieldChecks& checks);
void CheckDeviceClass(const api::DeviceClass& device_class, FieldChecks& checks);
void CheckResourceSlice(const api::ResourceSlice& slice, FieldChecks& checks);

// Between objects: counters that no slice of the pool has are problems in hand-written objects; missing classes,
// templates and claims are only warned about, because pods wait for them.
void CheckDeviceReferences(ClusterDraft& draft);

}  // namespace berth::input
