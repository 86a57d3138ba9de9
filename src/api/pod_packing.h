// Pods in a small form: most of a pod is equal to every other pod of its template and can be stored once, encoded; what
// is its own is a handful of names and times.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/pod.h"

namespace berth::api {

// What no two pods have in common.
struct PodIdentity {
  std::string name;
  std::string uid;
  std::string resource_version;
  std::optional<Time> creation_timestamp;
  std::optional<Time> start_time;
  Symbol node_name;

  static PodIdentity Of(const Pod& pod);
};

// Appends everything else, as a Pod in protobuf. Pods of one template append equal bytes.
void AppendPodTemplate(const Pod& pod, std::string& out);

// Whether they append equal bytes, found out without writing them. False is no promise that they do not.
bool HaveSameTemplate(const Pod& a, const Pod& b);

// The pod again. `pod_template` must come from AppendPodTemplate.
Pod UnpackPod(std::string_view pod_template, const PodIdentity& identity);

}  // namespace berth::api
