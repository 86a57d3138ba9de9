// What controllers make of a pod template: a pod with an owner, and a hash that distinguishes templates.
#pragma once

#include <string>

#include "api/object.h"
#include "api/pod.h"

namespace berth::input {

// The same for templates that differ only in the label that holds this hash. Only letters and digits allowed in names.
std::string TemplateHash(const api::PodTemplateSpec& pod_template);

inline constexpr char kPodTemplateHash[] = "pod-template-hash";

// A reference to the workload as its controller writes it.
api::OwnerReference ControllerReference(const api::Object& workload);

// A pod of that workload, without a name; with the API server's defaults, before admission.
api::Pod MakePrototype(const api::Object& workload, const api::PodTemplateSpec& pod_template);

// The pod with this name.
api::Pod Named(api::Pod prototype, std::string name);

}  // namespace berth::input
