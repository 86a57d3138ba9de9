#include "input/unread_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/kind.h"
#include "base/spelling.h"

namespace berth::input {

namespace {

// Kinds that are common beside pods and that scheduling never reads: ignored silently.
constexpr std::string_view kHarmless[] = {
    "ConfigMap",
    "Secret",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "Ingress",
    "IngressClass",
    "NetworkPolicy",
    "Endpoints",
    "EndpointSlice",
    "PodTemplate",
    "ControllerRevision",
    "CustomResourceDefinition",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "APIService",
    "CertificateSigningRequest",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "IPAddress",
    "ServiceCIDR",
    "VolumeAttributesClass",
    "PodSecurityPolicy",
    "ComponentStatus",
};

// Kinds that change or create pods at admission, which is not done here.
struct Shaper {
  std::string_view kind;
  std::string_view text;
};
constexpr Shaper kShapesPods[] = {
    {"HorizontalPodAutoscaler", "is passed over: replicas are taken as they are"},
    {"CronJob", "is passed over: its pods come at times of their own; give a Job to see where they would go"},
    {"VerticalPodAutoscaler", "is passed over: requests are taken as they are"},
    {"Workload", "is passed over: its pods are scheduled one by one"},
    {"PodGroup", "is passed over: its pods are scheduled one by one"},
};

// The API groups of Kubernetes itself, besides the core.
constexpr std::string_view kBuiltInGroups[] = {
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
};

template <class Names>
bool Contains(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string Suggest(std::string_view kind) {
  constexpr size_t kFarthest = 2;
  const api::KindInfo* nearest = nullptr;
  size_t distance = kFarthest + 1;
  for (const api::KindInfo& info : api::AllKinds()) {
    const size_t this_distance = base::EditDistance(kind.substr(0, 64), info.name);
    if (this_distance >= distance) continue;
    nearest = &info;
    distance = this_distance;
  }
  if (!nearest) return "check apiVersion and kind";
  return fmt::format("did you mean {} {}?", nearest->api_version(), nearest->name);
}

}  // namespace

// An unknown kind in such a group is a mistake, not a custom resource: those are in groups with a dot.
bool IsBuiltInGroup(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  const std::string_view group = api_version.substr(0, slash);
  return slash == std::string_view::npos || group.find('.') == std::string_view::npos ||
         Contains(kBuiltInGroups, group);
}

UnreadKind JudgeUnread(std::string_view api_version, std::string_view kind) {
  using Judgement = UnreadKind::Judgement;
  if (Contains(kHarmless, kind)) return {};
  for (const Shaper& shaper : kShapesPods) {
    if (shaper.kind == kind) return {Judgement::kWarn, std::string(shaper.text)};
  }
  if (IsBuiltInGroup(api_version)) return {Judgement::kMistake, "is not known: " + Suggest(kind)};
  return {Judgement::kWarn, "is passed over: berth does not know this kind, nor which pods it makes"};
}

}  // namespace berth::input
