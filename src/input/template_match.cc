#include "input/template_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "api/object.h"
#include "codec/json_writer.h"
#include "input/defaults.h"
#include "input/pod_prototype.h"

namespace berth::input {

namespace {

const api::Container* FindContainer(const std::vector<api::Container>& containers, const std::string& name) {
  const auto found = std::find_if(containers.begin(), containers.end(),
                                  [&](const api::Container& container) { return container.name == name; });
  return found == containers.end() ? nullptr : &*found;
}

// Everything except the amounts, whose spelling varies.
std::string TextOfRest(api::Container container) {
  container.resources.requests = {};
  container.resources.limits = {};
  return codec::EncodeJson(container);
}

bool SameContainer(const api::Container& a, const api::Container& b) {
  return a.resources.requests == b.resources.requests && a.resources.limits == b.resources.limits &&
         TextOfRest(a) == TextOfRest(b);
}

bool SameContainers(const std::vector<api::Container>& a, const std::vector<api::Container>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameContainer);
}

bool SameResources(const std::optional<api::ResourceRequirements>& a,
                   const std::optional<api::ResourceRequirements>& b) {
  return a.has_value() == b.has_value() && (!a || (a->requests == b->requests && a->limits == b->limits));
}

// The template as a pod with its defaults.
api::Pod Completed(const api::PodTemplateSpec& pod_template) {
  api::Pod pod;
  pod.metadata.labels = pod_template.metadata.labels;
  pod.metadata.annotations = pod_template.metadata.annotations;
  pod.spec = pod_template.spec;
  pod.metadata.labels.Erase(Symbol(kPodTemplateHash));
  return *WithDefaults(api::MakeObject(std::move(pod))).As<api::Pod>();
}

std::string TextWithoutContainers(api::PodSpec spec) {
  spec.containers.clear();
  spec.init_containers.clear();
  spec.resources.reset();
  spec.overhead = {};
  // The API server treats empty and absent alike, and fills in the other defaults.
  if (spec.restart_policy.empty()) spec.restart_policy = "Always";
  if (!spec.termination_grace_period_seconds) spec.termination_grace_period_seconds = 30;
  return codec::EncodeJson(spec);
}

// Every container of the template is in the pod as the template has it.
bool HasContainers(const std::vector<api::Container>& have, const std::vector<api::Container>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const api::Container& container) {
    const api::Container* found = FindContainer(have, container.name);
    return found && found->image == container.image && found->resources.requests == container.resources.requests &&
           found->restart_policy == container.restart_policy &&
           std::equal(found->ports.begin(), found->ports.end(), container.ports.begin(), container.ports.end(),
                      [](const api::ContainerPort& a, const api::ContainerPort& b) {
                        return a.host_port == b.host_port && a.protocol == b.protocol && a.host_ip == b.host_ip;
                      });
  });
}

// Tolerations that people write; those for the node controller's taints are added by admission.
std::set<std::string> OwnTolerations(const api::Pod& pod) {
  std::set<std::string> texts;
  for (const api::Toleration& toleration : pod.spec.tolerations) {
    if (toleration.key.str().starts_with("node.kubernetes.io/")) continue;
    const Symbol& op = toleration.op.empty() ? api::TolerationEqual() : toleration.op;
    texts.insert(fmt::format("{} {} {} {} {}", toleration.key.str(), op.str(), toleration.value.str(),
                             toleration.effect.str(), toleration.toleration_seconds.value_or(-1)));
  }
  return texts;
}

std::set<std::string> Claims(const api::Pod& pod) {
  std::set<std::string> names;
  for (const api::Volume& volume : pod.spec.volumes) {
    const api::VolumeSource& source = volume.from();
    if (source.persistent_volume_claim) names.insert(source.persistent_volume_claim->claim_name);
  }
  return names;
}

// The fields that decide where a pod may go, besides containers, tolerations and volumes.
std::string TextOfPlacement(const api::PodSpec& spec) {
  api::PodSpec kept;
  kept.node_selector = spec.node_selector;
  kept.affinity = spec.affinity;
  kept.topology_spread_constraints = spec.topology_spread_constraints;
  kept.priority_class_name = spec.priority_class_name;
  kept.runtime_class_name = spec.runtime_class_name;
  if (kept.runtime_class_name && kept.runtime_class_name->empty()) kept.runtime_class_name.reset();
  kept.scheduler_name = spec.scheduler_name;
  kept.host_network = spec.host_network;
  kept.resource_claims = spec.resource_claims;
  return codec::EncodeJson(kept);
}

void AppendDifference(const std::vector<api::Container>& have, const std::vector<api::Container>& wanted,
                      std::string& text) {
  for (const api::Container& container : wanted) {
    const api::Container* found = FindContainer(have, container.name);
    if (!found) continue;
    for (const auto& [name, quantity] : container.resources.requests) {
      const api::Quantity* other = found->resources.requests.Find(name);
      if (other && *other == quantity) continue;
      text += fmt::format("{}{} {} rather than {} in container {}", text.empty() ? "" : ", ", name.str(),
                          quantity.ToString(), other ? other->ToString() : "none", container.name);
    }
  }
}

}  // namespace

bool SameTemplate(const api::PodTemplateSpec& a, const api::PodTemplateSpec& b) {
  const api::Pod left = Completed(a);
  const api::Pod right = Completed(b);
  return left.metadata.labels == right.metadata.labels && left.metadata.annotations == right.metadata.annotations &&
         SameContainers(left.spec.containers, right.spec.containers) &&
         SameContainers(left.spec.init_containers, right.spec.init_containers) &&
         SameResources(left.spec.resources, right.spec.resources) && left.spec.overhead == right.spec.overhead &&
         TextWithoutContainers(left.spec) == TextWithoutContainers(right.spec);
}

bool IsOfTemplate(const api::Pod& pod, const api::Pod& prototype) {
  const auto has_label = [&](const auto& label) {
    if (label.first.str() == kPodTemplateHash) return true;
    const Symbol* value = pod.metadata.labels.Find(label.first);
    return value && *value == label.second;
  };
  const std::set<std::string> claims = Claims(pod);
  const std::set<std::string> wanted_claims = Claims(prototype);
  const auto has_annotation = [&](const auto& annotation) {
    const std::string* value = pod.metadata.annotations.Find(annotation.first);
    return value && *value == annotation.second;
  };
  const auto& annotations = prototype.metadata.annotations;
  return std::all_of(prototype.metadata.labels.begin(), prototype.metadata.labels.end(), has_label) &&
         std::all_of(annotations.begin(), annotations.end(), has_annotation) &&
         HasContainers(pod.spec.containers, prototype.spec.containers) &&
         HasContainers(pod.spec.init_containers, prototype.spec.init_containers) &&
         SameResources(pod.spec.resources, prototype.spec.resources) && pod.spec.overhead == prototype.spec.overhead &&
         OwnTolerations(pod) == OwnTolerations(prototype) &&
         std::includes(claims.begin(), claims.end(), wanted_claims.begin(), wanted_claims.end()) &&
         TextOfPlacement(pod.spec) == TextOfPlacement(prototype.spec);
}

std::string RequestDifference(const api::Pod& pod, const api::Pod& prototype) {
  std::string text;
  AppendDifference(pod.spec.init_containers, prototype.spec.init_containers, text);
  AppendDifference(pod.spec.containers, prototype.spec.containers, text);
  return text;
}

}  // namespace berth::input
