// What can be wrong with the objects of dynamic resource allocation: expressions that do not compile, requests that ask
// for nothing, slices and claims that name what is not there.
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

// Between objects: counters that no slice of the pool has are problems in what a person wrote; classes, templates and
// claims that are missing are warned of, because the pods only wait for them.
void CheckDeviceReferences(ClusterDraft& draft);

}  // namespace berth::input
