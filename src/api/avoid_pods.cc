#include "api/avoid_pods.h"

#include <optional>
#include <utility>

#include "api/scalars.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "codec/schema.h"

namespace berth::api {

// The annotation's own format; unused fields are decoded because a bad value in them makes the whole annotation
// invalid.
struct PodSignature {
  std::optional<OwnerReference> pod_controller;
};
struct PreferAvoidPodsEntry {
  PodSignature pod_signature;
  std::optional<Time> eviction_time;
  std::string reason;
  std::string message;
};
struct AvoidPods {
  std::vector<PreferAvoidPodsEntry> prefer_avoid_pods;
};

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const PodSignature*) {
  static const codec::Message message = codec::MessageOf<PodSignature>("PodSignature", {
      codec::Field("podController", 0, &PodSignature::pod_controller),
  });
  return message;
}

const codec::Message& Describe(const PreferAvoidPodsEntry*) {
  static const codec::Message message = codec::MessageOf<PreferAvoidPodsEntry>("PreferAvoidPodsEntry", {
      codec::Field("podSignature", 0, &PreferAvoidPodsEntry::pod_signature),
      codec::Field("evictionTime", 0, &PreferAvoidPodsEntry::eviction_time),
      codec::Field("reason", 0, &PreferAvoidPodsEntry::reason),
      codec::Field("message", 0, &PreferAvoidPodsEntry::message),
  });
  return message;
}

const codec::Message& Describe(const AvoidPods*) {
  static const codec::Message message = codec::MessageOf<AvoidPods>("AvoidPods", {
      codec::Field("preferAvoidPods", 0, &AvoidPods::prefer_avoid_pods),
  });
  return message;
}

// clang-format on

Result<std::vector<OwnerReference>> ControllersToAvoid(const Annotations& annotations) {
  std::vector<OwnerReference> controllers;
  const std::string* text = annotations.Find(std::string(kPreferAvoidPodsAnnotation));
  if (text == nullptr || text->empty()) return controllers;
  const Result<codec::Document> document = codec::ParseJson(*text, std::string(kPreferAvoidPodsAnnotation));
  if (!document) return document.error();
  Result<AvoidPods> decoded = codec::DecodeDocument<AvoidPods>(*document, {});
  if (!decoded) return decoded.error();
  for (PreferAvoidPodsEntry& entry : decoded->prefer_avoid_pods) {
    if (entry.pod_signature.pod_controller) controllers.push_back(*std::move(entry.pod_signature.pod_controller));
  }
  return controllers;
}

}  // namespace berth::api
