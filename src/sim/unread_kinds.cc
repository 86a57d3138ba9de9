#include "sim/unread_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "api/kind.h"

namespace berth::sim {

namespace {

// Kinds that people keep beside their pods and that scheduling never reads: passed over in silence.
constexpr std::array<std::string_view, 18> kHarmless = {"ConfigMap",
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
                                                        "APIService"};

// Kinds that change or make pods on their way into a cluster, which is not done here.
constexpr std::array<std::string_view, 5> kShapesPods = {"LimitRange", "RuntimeClass", "ResourceQuota",
                                                         "HorizontalPodAutoscaler", "CronJob"};

template <class Names>
bool Contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The API groups of Kubernetes itself: a kind they do not have is a mistake, not somebody's own resource.
bool IsBuiltInGroup(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return true;
  const std::string_view group = api_version.substr(0, slash);
  return group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// How many letters must be changed, added or dropped to get from one to the other; case does not count.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

std::string Suggest(std::string_view kind) {
  constexpr size_t kFarthest = 2;
  const api::KindInfo* nearest = nullptr;
  size_t distance = kFarthest + 1;
  for (const api::KindInfo& info : api::AllKinds()) {
    const size_t this_distance = EditDistance(kind.substr(0, 64), info.name);
    if (this_distance >= distance) continue;
    nearest = &info;
    distance = this_distance;
  }
  if (!nearest) return "check apiVersion and kind";
  return fmt::format("did you mean {} {}?", nearest->api_version(), nearest->name);
}

}  // namespace

UnreadKind JudgeUnread(std::string_view api_version, std::string_view kind) {
  using Judgement = UnreadKind::Judgement;
  if (Contains(kHarmless, kind)) return {};
  if (Contains(kShapesPods, kind)) {
    return {Judgement::kWarn, "is passed over: what it would do to pods must be done in the pods given"};
  }
  if (IsBuiltInGroup(api_version)) return {Judgement::kMistake, "is not known: " + Suggest(kind)};
  return {Judgement::kWarn, "is passed over: scheduling does not read it"};
}

}  // namespace berth::sim
