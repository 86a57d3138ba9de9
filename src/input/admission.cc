#include "input/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::input {

namespace {

constexpr int64_t kDefaultTolerationSeconds = 300;

bool Concerns(const api::Toleration& toleration, const Symbol& key) {
  return (toleration.key == key || toleration.key.empty()) &&
         (toleration.effect == api::NoExecute() || toleration.effect.empty());
}

// Pods stay for five minutes on a node that is not ready or unreachable, unless they say otherwise.
void AddDefaultTolerations(api::Pod& pod) {
  for (const char* name : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const Symbol key(name);
    std::vector<api::Toleration>& tolerations = pod.spec.tolerations;
    if (std::any_of(tolerations.begin(), tolerations.end(),
                    [&](const api::Toleration& toleration) { return Concerns(toleration, key); }))
      continue;
    tolerations.push_back({.key = key,
                           .op = api::TolerationExists(),
                           .value = {},
                           .effect = api::NoExecute(),
                           .toleration_seconds = kDefaultTolerationSeconds});
  }
}

// Whether everything that `narrow` tolerates is tolerated by `wide`.
bool Covers(const api::Toleration& wide, const api::Toleration& narrow) {
  if (wide == narrow) return true;
  const bool any_key = wide.key.empty() && wide.op == api::TolerationExists();
  if (wide.key != narrow.key && !any_key) return false;
  if (wide.effect != narrow.effect && !wide.effect.empty()) return false;
  if (wide.effect == api::NoExecute() && wide.toleration_seconds &&
      (!narrow.toleration_seconds || *narrow.toleration_seconds > *wide.toleration_seconds)) {
    return false;
  }
  if (wide.op == api::TolerationExists()) return true;
  if (!wide.op.empty() && wide.op != api::TolerationEqual()) return false;
  return narrow.op == api::TolerationEqual() && narrow.value == wide.value;
}

// Both lists, without tolerations that another one covers; of equal ones the first stays.
std::vector<api::Toleration> Merge(std::vector<api::Toleration> all, const std::vector<api::Toleration>& more) {
  all.insert(all.end(), more.begin(), more.end());
  std::vector<api::Toleration> merged;
  for (auto it = all.begin(); it != all.end(); ++it) {
    const bool covered =
        std::any_of(merged.begin(), merged.end(), [&](const api::Toleration& other) { return Covers(other, *it); }) ||
        std::any_of(it + 1, all.end(),
                    [&](const api::Toleration& later) { return later != *it && Covers(later, *it); });
    if (!covered) merged.push_back(*it);
  }
  return merged;
}

}  // namespace

Admission::Admission(const ClusterDraft& draft) {
  for (const DraftObject& found : draft.objects()) {
    const api::ObjectMeta& metadata = found.object.metadata();
    if (auto priority_class = found.object.Share<api::PriorityClass>()) {
      priority_classes_.emplace(metadata.name, std::move(priority_class));
    } else if (auto runtime_class = found.object.Share<api::RuntimeClass>()) {
      runtime_classes_.emplace(metadata.name, std::move(runtime_class));
    } else if (auto range = found.object.Share<api::LimitRange>()) {
      limit_ranges_[metadata.namespace_].push_back(std::move(range));
    }
  }
  for (auto& [name_space, ranges] : limit_ranges_) {
    std::sort(ranges.begin(), ranges.end(),
              [](const LimitRangePtr& a, const LimitRangePtr& b) { return a->metadata.name < b->metadata.name; });
  }
}

api::Pod Admission::Admit(api::Pod pod, const Report& report) const {
  const auto ranges = limit_ranges_.find(pod.metadata.namespace_);
  if (ranges != limit_ranges_.end()) FillFromLimitRanges(ranges->second, pod);
  SetPriority(pod, report);
  AddDefaultTolerations(pod);
  ApplyRuntimeClass(pod, report);
  if (ranges != limit_ranges_.end()) CheckLimitRanges(ranges->second, pod, report);
  return pod;
}

bool Admission::LacksPriority(const api::Pod& pod) const {
  return !pod.spec.priority && (!pod.spec.priority_class_name.empty() || FindPriorityClass({}));
}

void Admission::SetPriority(api::Pod& pod, const Report& report) const {
  if (pod.spec.priority) return;
  const std::string& name = pod.spec.priority_class_name;
  const std::optional<api::PriorityClass> priority_class = FindPriorityClass(name);
  if (priority_class) {
    pod.spec.priority = priority_class->value;
    if (!pod.spec.preemption_policy) pod.spec.preemption_policy = priority_class->preemption_policy;
  } else if (!name.empty()) {
    constexpr char kPath[] = "spec.priorityClassName";
    report(kPath, fmt::format("{}: no PriorityClass \"{}\" in the input", kPath, name));
  }
}

std::optional<api::PriorityClass> Admission::FindPriorityClass(const std::string& name) const {
  if (!name.empty()) {
    if (const auto it = priority_classes_.find(name); it != priority_classes_.end()) return *it->second;
    // The two that every cluster has.
    if (name == "system-node-critical") return api::PriorityClass{{}, 2'000'001'000, false, {}};
    if (name == "system-cluster-critical") return api::PriorityClass{{}, 2'000'000'000, false, {}};
    return std::nullopt;
  }
  std::optional<api::PriorityClass> chosen;
  for (const auto& [candidate_name, candidate] : priority_classes_) {
    if (candidate->global_default && (!chosen || candidate->value < chosen->value)) chosen = *candidate;
  }
  return chosen;
}

void Admission::ApplyRuntimeClass(api::Pod& pod, const Report& report) const {
  const std::string name = pod.spec.runtime_class_name.value_or("");
  if (name.empty()) return;
  constexpr char kPath[] = "spec.runtimeClassName";
  const auto it = runtime_classes_.find(name);
  if (it == runtime_classes_.end()) {
    return report(kPath, fmt::format("{}: no RuntimeClass \"{}\" in the input", kPath, name));
  }
  const api::RuntimeClass& runtime_class = *it->second;
  if (runtime_class.overhead) {
    if (!pod.spec.overhead.empty() && pod.spec.overhead != runtime_class.overhead->pod_fixed) {
      report("spec.overhead", fmt::format("spec.overhead: differs from that of RuntimeClass \"{}\"", name));
    }
    pod.spec.overhead = runtime_class.overhead->pod_fixed;
  }
  if (!runtime_class.scheduling) return;
  for (const auto& [key, value] : runtime_class.scheduling->node_selector) {
    const Symbol* own = pod.spec.node_selector.Find(key);
    if (own && *own != value) {
      const std::string path = fmt::format("spec.nodeSelector[{}]", key.str());
      report(path,
             fmt::format("{}: RuntimeClass \"{}\" demands \"{}\", found \"{}\"", path, name, value.str(), own->str()));
    }
    pod.spec.node_selector.Set(key, value);
  }
  pod.spec.tolerations = Merge(std::move(pod.spec.tolerations), runtime_class.scheduling->tolerations);
}

namespace {

// Pods on nodes that do not exist, by node: how many, and the first.
class StrandedPods {
 public:
  void Add(const std::string& node, const DraftObject& pod) {
    Stranded& entry = by_node_[node];
    if (++entry.count == 1) entry.first = pod;
  }

  // One warning per node, up to a limit, and one for the rest.
  void Warn(ClusterDraft& draft) const {
    constexpr size_t kShown = 10;
    size_t shown = 0, rest = 0;
    for (const auto& [node, entry] : by_node_) {
      if (++shown > kShown) {
        rest += entry.count;
        continue;
      }
      const std::string others = entry.count == 1 ? "the pod counts" : fmt::format("its {} pods count", entry.count);
      draft.Warn(*entry.first, "spec.nodeName",
                 fmt::format("spec.nodeName: node \"{}\" is not in the input, so {} nowhere", node, others));
    }
    if (rest > 0)
      draft.Warn(fmt::format("{} more pods are on nodes that are not in the input, and count nowhere", rest));
  }

 private:
  struct Stranded {
    size_t count = 0;
    std::optional<DraftObject> first;
  };
  std::map<std::string, Stranded> by_node_;
};

// Sums the large requests per node, and reports sums that could overflow.
class LargeSums {
 public:
  void Add(const DraftObject& found, const api::Pod& pod, ClusterDraft& draft) {
    for (const std::vector<api::Container>* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
      for (const api::Container& container : *containers) {
        for (const auto& [name, quantity] : container.resources.requests) {
          const bool large = quantity > api::Quantity::FromInt(kLarge);
          if (!large) continue;
          api::Quantity& sum = by_node_[{pod.spec.node_name, std::string(name.str())}];
          const bool told = sum > api::Quantity::FromInt(kMost);
          sum.Add(quantity);
          if (told || sum <= api::Quantity::FromInt(kMost)) continue;
          const std::string whose = pod.spec.node_name.empty() ? "pods without a node"
                                                               : fmt::format("pods on node \"{}\"", pod.spec.node_name);
          draft.Problem(found, "spec.containers",
                        fmt::format("spec.containers: with this, {} ask for {} {}: that cannot be meant", whose,
                                    sum.ToString(), name.str()));
        }
      }
    }
  }

 private:
  static constexpr int64_t kLarge = int64_t{1} << 44;
  static constexpr int64_t kMost = int64_t{1} << 60;
  std::map<std::pair<std::string, std::string>, api::Quantity> by_node_;
};

}  // namespace

void AdmitPods(const Admission& admission, ClusterDraft& draft) {
  StrandedPods stranded;
  LargeSums sums;
  for (size_t i = 0; i < draft.objects().size(); ++i) {
    const DraftObject found = draft.objects()[i];
    const api::Pod* pod = found.object.As<api::Pod>();
    if (!pod) continue;
    const Admission::Report report = [&](const std::string& path, const std::string& text) {
      draft.Problem(found, path, text);
    };
    if (found.is_new) {
      draft.Replace(i, api::MakeObject(admission.Admit(*pod, report)));
    } else if (admission.LacksPriority(*pod)) {
      api::Pod completed = *pod;
      admission.SetPriority(completed, report);
      draft.Replace(i, api::MakeObject(std::move(completed)));
    }
    sums.Add(found, *pod, draft);
    const std::string& node = pod->spec.node_name;
    if (node.empty() || api::IsTerminated(*pod) || draft.Find(api::Kind::kNode, node)) continue;
    stranded.Add(node, found);
  }
  stranded.Warn(draft);
}

}  // namespace berth::input
