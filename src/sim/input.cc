#include "sim/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "api/node.h"
#include "api/pod.h"
#include "api/policy.h"
#include "api/workload.h"
#include "codec/gzip.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "sim/defaults.h"
#include "sim/object_checks.h"
#include "sim/unread_kinds.h"

namespace berth::sim {

namespace {

// An object with the text it came from, to point at its fields.
struct Found {
  api::Object object;
  std::string file;
  codec::Value text;  // null: there was none, it came from a running cluster

  bool is_live() const { return text.is_null(); }
  std::string Who() const { return fmt::format("{} {}", object.info().name, api::KeyOf(object.metadata())); }
  std::string Where(std::string_view path = {}) const { return codec::Where(file, PlaceOf(text, path)); }
};

// The objects' texts below `value`, through lists, in the order of the file.
void CollectTexts(const codec::Value& value, std::vector<codec::Value>& texts) {
  const codec::Value* items = value.Find("items");
  if (!items || !items->is_array()) return texts.push_back(value);
  for (const codec::Value& item : items->items()) CollectTexts(item, texts);
}

template <class T>
const std::optional<api::LabelSelector>* SelectorAs(const api::Object& object) {
  const T* workload = object.As<T>();
  return workload ? &workload->spec.selector : nullptr;
}

// How a workload knows its pods; null for what is none.
const std::optional<api::LabelSelector>* WorkloadSelector(const api::Object& object) {
  const std::optional<api::LabelSelector>* selector = SelectorAs<api::Deployment>(object);
  if (!selector) selector = SelectorAs<api::ReplicaSet>(object);
  if (!selector) selector = SelectorAs<api::StatefulSet>(object);
  if (!selector) selector = SelectorAs<api::DaemonSet>(object);
  if (!selector) selector = SelectorAs<api::Job>(object);
  return selector;
}

template <class... T>
bool WantsNoPodsAs(const api::Object& object) {
  return (... || (object.As<T>() && object.As<T>()->spec.replicas == 0));
}

bool WantsNoPods(const api::Object& object) {
  return WantsNoPodsAs<api::Deployment, api::ReplicaSet, api::StatefulSet>(object);
}

class Reader {
 public:
  void ReadFile(const std::string& file) {
    Result<std::string> text = codec::ReadFile(file);
    if (!text) return Problem(text.error().message);
    const std::string name = file == "-" ? "standard input" : file;
    const size_t first = text->find_first_not_of(" \t\r\n");
    if (first != std::string::npos && ((*text)[first] == '{' || (*text)[first] == '[')) {
      Result<codec::Document> document = codec::ParseJson(std::move(*text), name);
      if (!document) return Problem(document.error().message);
      return ReadDocument(name, std::move(*document));
    }
    Result<std::vector<codec::Document>> documents = codec::ParseYaml(*text, name);
    if (!documents) return Problem(documents.error().message);
    if (documents->empty()) Warn(name + ": holds no objects");
    for (codec::Document& document : *documents) ReadDocument(name, std::move(document));
  }

  void TakeLive(std::vector<api::Object> objects) {
    for (api::Object& object : objects) Keep({std::move(object), "the cluster", {}});
  }

  Result<ClusterInput> Finish() {
    for (const Found& found : found_) CheckFields(found);
    CheckUids();
    // An object that could not be read is not there to be referred to; to complain about that as well would mislead.
    if (all_decoded_) CompleteAll();
    if (!problems_.empty()) return Error::InvalidArgument(fmt::format("{}", fmt::join(problems_, "\n")));

    ClusterInput input;
    for (Found& found : found_) input.objects.push_back(std::move(found.object));
    input.warnings = std::move(warnings_);
    return input;
  }

 private:
  void Problem(std::string text) { problems_.push_back(std::move(text)); }
  void Problem(const Found& found, std::string_view path, std::string_view text) {
    Problem(fmt::format("{}: {}: {}", found.Where(path), found.Who(), text));
  }
  void Warn(std::string text) { warnings_.push_back(std::move(text)); }
  void Warn(const Found& found, std::string_view path, std::string_view text) {
    Warn(fmt::format("{}: {}: {}", found.Where(path), found.Who(), text));
  }

  void ReadDocument(const std::string& file, codec::Document document) {
    if (document.root().is_null()) return;
    api::DecodedObjects decoded;
    std::vector<codec::Diagnostic> problems;
    api::DecodeObjects(document.root(), {.strict = true}, decoded, problems);
    for (const codec::Diagnostic& problem : problems) {
      Problem(fmt::format("{}: {}", codec::Where(file, problem.where), problem.ToString()));
    }
    all_decoded_ = all_decoded_ && problems.empty();
    for (const api::UnknownObject& unknown : decoded.unknown) PassOver(file, unknown);

    std::vector<codec::Value> texts;
    CollectTexts(document.root(), texts);
    size_t next = 0;
    for (api::LocatedObject& located : decoded.objects) {
      while (next < texts.size() && texts[next].mark() != located.where) ++next;
      CHECK(next < texts.size());
      Keep({std::move(located.object), file, texts[next++]});
    }
    documents_.push_back(std::move(document));
  }

  void PassOver(const std::string& file, const api::UnknownObject& unknown) {
    const UnreadKind kind = JudgeUnread(unknown.api_version, unknown.kind);
    if (kind.judgement == UnreadKind::Judgement::kHarmless) return;
    std::string text = fmt::format("{}: {} {}{}{} {}", codec::Where(file, unknown.where), unknown.api_version,
                                   unknown.kind, unknown.name.empty() ? "" : " ", unknown.name, kind.text);
    if (kind.judgement == UnreadKind::Judgement::kMistake) {
      Problem(std::move(text));
      all_decoded_ = false;
    } else {
      Warn(std::move(text));
    }
  }

  void Keep(Found found) {
    const auto [it, is_new] = by_name_.emplace(found.Who(), found_.size());
    if (is_new) return found_.push_back(std::move(found));
    Problem(found, "metadata.name", "is already given at " + found_[it->second].Where());
  }

  void CheckFields(const Found& found) {
    for (const FieldProblem& problem : ProblemsOf(found.object)) Problem(found, problem.path, problem.ToString());
    WarnOfGaps(found);
  }

  // What is allowed, but seldom meant.
  void WarnOfGaps(const Found& found) {
    switch (found.object.kind()) {
      case api::Kind::kNode: {
        const api::Object completed = WithDefaults(found.object);
        if (!completed.As<api::Node>()->status.allocatable.Contains(Symbol("pods")))
          Warn(found, "status.allocatable", "status.allocatable[pods]: missing, so no pod fits on this node");
        return;
      }
      case api::Kind::kPodDisruptionBudget:
        if (!found.is_live() && !found.text.Find("status"))
          Warn(found, {}, "status.disruptionsAllowed: missing, so it allows no disruption");
        return;
      default:
        return;
    }
  }

  // UIDs that are missing will be made up from names, and must not meet one that is given.
  void CheckUids() {
    std::map<std::pair<api::Kind, std::string>, const Found*> seen;
    for (const Found& found : found_) {
      const api::ObjectMeta& metadata = found.object.metadata();
      const std::string uid = metadata.uid.empty() ? api::KeyOf(metadata) : metadata.uid;
      const auto [it, is_new] = seen.emplace(std::pair(found.object.kind(), uid), &found);
      if (is_new) continue;
      Problem(found, "metadata.uid",
              fmt::format("metadata.uid: \"{}\" is that of {} at {}", uid, it->second->Who(), it->second->Where()));
    }
  }

  // What the API server would have filled in before the scheduler saw the object.
  void CompleteAll() {
    WarnOfWorkloads();
    for (Found& found : found_) {
      found.object = WithDefaults(found.object);
      if (const api::Pod* pod = found.object.As<api::Pod>()) CompletePod(found, *pod);
    }
  }

  void CompletePod(Found& found, const api::Pod& pod) {
    const std::string& node = pod.spec.node_name;
    if (!node.empty() && !by_name_.contains("Node " + node)) {
      Warn(found, "spec.nodeName",
           fmt::format("spec.nodeName: node \"{}\" is not in the input, so the pod counts nowhere", node));
    }
    if (pod.spec.priority) return;
    const std::string& name = pod.spec.priority_class_name;
    const std::optional<api::PriorityClass> priority_class = FindPriorityClass(name);
    if (!priority_class) {
      if (name.empty()) return;
      return Problem(found, "spec.priorityClassName",
                     fmt::format("spec.priorityClassName: no PriorityClass \"{}\" in the input", name));
    }
    api::Pod completed = pod;
    completed.spec.priority = priority_class->value;
    if (!completed.spec.preemption_policy) completed.spec.preemption_policy = priority_class->preemption_policy;
    found.object = api::MakeObject(std::move(completed));
  }

  // The class of that name; without one the default, of several the lowest.
  std::optional<api::PriorityClass> FindPriorityClass(const std::string& name) const {
    if (!name.empty()) {
      if (const auto it = by_name_.find("PriorityClass " + name); it != by_name_.end())
        return *found_[it->second].object.As<api::PriorityClass>();
      // The two that every cluster has.
      if (name == "system-node-critical") return api::PriorityClass{{}, 2'000'001'000, false, {}};
      if (name == "system-cluster-critical") return api::PriorityClass{{}, 2'000'000'000, false, {}};
      return std::nullopt;
    }
    std::optional<api::PriorityClass> chosen;
    for (const Found& found : found_) {
      const auto* candidate = found.object.As<api::PriorityClass>();
      if (candidate && candidate->global_default && (!chosen || candidate->value < chosen->value)) chosen = *candidate;
    }
    return chosen;
  }

  // Nothing makes pods here. Workloads read from a cluster have theirs beside them; without any, somebody may be
  // waiting for them in vain, unless none are wanted, as of the older ReplicaSets of every Deployment.
  void WarnOfWorkloads() {
    std::map<Symbol, std::vector<const api::Pod*>> pods;  // by namespace
    for (const Found& found : found_) {
      if (const api::Pod* pod = found.object.As<api::Pod>()) pods[pod->metadata.namespace_].push_back(pod);
    }
    std::map<std::string_view, size_t> counts;
    for (const Found& found : found_) {
      const std::optional<api::LabelSelector>* selector = WorkloadSelector(found.object);
      if (!selector || found.is_live() || WantsNoPods(found.object)) continue;
      if (!AnyMatches(pods[found.object.metadata().namespace_], *selector)) ++counts[found.object.info().name];
    }
    for (const auto& [kind, count] : counts) {
      Warn(fmt::format("{} {}{} without pods in the input: no pods are made from templates, give them as kind Pod",
                       count, kind, count == 1 ? "" : "s"));
    }
  }

  static bool AnyMatches(const std::vector<const api::Pod*>& pods, const std::optional<api::LabelSelector>& labels) {
    if (!labels) return false;
    const Result<api::Selector> selector = api::Selector::Compile(*labels);
    if (!selector) return true;  // told elsewhere
    return std::any_of(pods.begin(), pods.end(),
                       [&](const api::Pod* pod) { return selector->Matches(pod->metadata.labels); });
  }

  std::vector<codec::Document> documents_;  // what Found::text points into
  std::vector<Found> found_;
  std::map<std::string, size_t> by_name_;  // "Kind namespace/name" to the place in found_
  bool all_decoded_ = true;
  std::vector<std::string> problems_;
  std::vector<std::string> warnings_;
};

}  // namespace

Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, std::vector<api::Object> live) {
  Reader reader;
  reader.TakeLive(std::move(live));
  for (const std::string& file : files) reader.ReadFile(file);
  return reader.Finish();
}

}  // namespace berth::sim
