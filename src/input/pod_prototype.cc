#include "input/pod_prototype.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "codec/json_writer.h"
#include "input/defaults.h"

namespace berth::input {

namespace {

uint32_t Fnv1a(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

std::string TemplateHash(const api::PodTemplateSpec& pod_template) {
  api::PodTemplateSpec bare = pod_template;
  bare.metadata.labels.Erase(Symbol(kPodTemplateHash));
  // Without vowels and the digits that resemble them, so that no words are formed.
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (uint32_t rest = Fnv1a(codec::EncodeJson(bare)); rest != 0; rest /= kLetters.size()) {
    text += kLetters[rest % kLetters.size()];
  }
  return text.empty() ? std::string(1, kLetters[0]) : text;
}

api::OwnerReference ControllerReference(const api::Object& workload) {
  const api::ObjectMeta& metadata = workload.metadata();
  return {.api_version = std::string(workload.info().api_version()),
          .kind = std::string(workload.info().name),
          .name = metadata.name,
          .uid = metadata.uid.empty() ? api::KeyOf(metadata) : metadata.uid,
          .controller = true};
}

api::Pod MakePrototype(const api::Object& workload, const api::PodTemplateSpec& pod_template) {
  api::Pod pod;
  pod.metadata.namespace_ = workload.metadata().namespace_;
  pod.metadata.labels = pod_template.metadata.labels;
  pod.metadata.annotations = pod_template.metadata.annotations;
  pod.metadata.owner_references = {ControllerReference(workload)};
  pod.spec = pod_template.spec;
  return *WithDefaults(api::MakeObject(std::move(pod))).As<api::Pod>();
}

api::Pod Named(api::Pod prototype, std::string name) {
  prototype.metadata.name = std::move(name);
  prototype.metadata.uid = api::KeyOf(prototype.metadata);
  return prototype;
}

}  // namespace berth::input
