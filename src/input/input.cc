#include "input/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "input/absent_kinds.h"
#include "input/admission.h"
#include "input/cluster_draft.h"
#include "input/defaults.h"
#include "input/device_checks.h"
#include "input/given_again.h"
#include "input/object_checks.h"
#include "input/object_reader.h"

namespace berth::input {

namespace {

// More than this is of no use, and ten thousand pods may all have the same mistake.
constexpr size_t kProblemsShown = 1'000;
constexpr size_t kMaxThreads = 8;

// Objects of a running cluster have passed its API server, but not the checks that files go through.
void AddLive(std::vector<api::Object> objects, ClusterDraft& draft) {
  for (api::Object& object : objects) {
    const DraftObject found{WithDefaults(object)};
    for (const FieldProblem& problem : ProblemsOf(object)) draft.Problem(found, problem.path, problem.ToString());
    draft.Add(found);
  }
}

void AddDescribedNodes(const std::vector<NodeTemplate>& templates, ClusterDraft& draft) {
  for (const NodeTemplate& node_template : templates) {
    std::vector<std::shared_ptr<const api::Node>> shared;
    for (const DraftObject& found : draft.objects()) {
      if (auto node = found.object.Share<api::Node>()) shared.push_back(std::move(node));
    }
    std::vector<const api::Node*> existing;
    for (const std::shared_ptr<const api::Node>& node : shared) existing.push_back(node.get());
    std::vector<api::Node> nodes = MakeNodes(node_template, existing);
    for (api::Object& object : MakeDevices(node_template, nodes)) {
      if (draft.Find(object.kind(), object.metadata().name)) continue;  // the class exists already
      draft.Add({std::move(object), {ObjectOrigin::kFlags, {}}});
    }
    for (api::Node& node : nodes) draft.Add({api::MakeObject(std::move(node)), {ObjectOrigin::kFlags, {}}});
  }
}

// Missing UIDs are derived from names, and must not collide with a given one.
void CheckUids(ClusterDraft& draft) {
  std::map<std::pair<api::Kind, std::string>, size_t> seen;
  for (size_t i = 0; i < draft.objects().size(); ++i) {
    const DraftObject& found = draft.objects()[i];
    const api::ObjectMeta& metadata = found.object.metadata();
    const std::string uid = metadata.uid.empty() ? api::KeyOf(metadata) : metadata.uid;
    const auto [it, is_new] = seen.emplace(std::pair(found.object.kind(), uid), i);
    if (is_new) continue;
    const DraftObject& first = draft.objects()[it->second];
    draft.Problem(found, "metadata.uid",
                  fmt::format("metadata.uid: \"{}\" is that of {} at {}", uid, first.Who(), draft.WhereText(first)));
  }
}

Error ProblemsAsError(const std::vector<std::string>& problems) {
  const size_t shown = std::min(problems.size(), kProblemsShown);
  std::string text =
      fmt::format("{}", fmt::join(problems.begin(), problems.begin() + static_cast<int64_t>(shown), "\n"));
  if (problems.size() > shown) text += fmt::format("\nand {} more problems", problems.size() - shown);
  return Error::InvalidArgument(std::move(text));
}

Result<ClusterInput> Assemble(InputFiles files, InputChanges changes, size_t threads) {
  ObjectReader reader(std::move(files.files), {.validation = changes.validation,
                                               .default_namespace = Symbol(changes.name_space),
                                               .keep_custom = changes.keep_custom});
  ClusterDraft draft([&](const ObjectOrigin& origin, std::string_view path) { return reader.Where(origin, path); },
                     changes.strict);
  for (const std::string& problem : files.problems) draft.Problem(problem);
  for (const std::string& warning : files.warnings) draft.Warn(warning);
  AddLive(std::move(changes.live), draft);
  const bool all_read = reader.ReadInto(draft, threads, changes.progress) && files.problems.empty();
  CheckUids(draft);
  ClusterInput input;
  // An object that could not be read cannot be referred to; reporting such references as well would mislead.
  if (all_read) {
    AddDescribedNodes(changes.nodes, draft);
    if (draft.objects().empty() && draft.problems().empty())
      draft.Problem("the input holds no object that berth reads");
    const std::set<std::string> exact = ApplyWhatIf(changes.what_if, draft);
    const Admission admission(draft);
    CheckChanges(admission, changes.replace, draft);
    AdmitPods(admission, draft);
    input.absent = FindAbsentKinds(draft);
    // Missing DaemonSets matter only for new nodes.
    std::set<api::Kind> told = input.absent;
    if (changes.nodes.empty()) told.erase(api::Kind::kDaemonSet);
    if (!changes.is_part) WarnOfAbsentKinds(told, draft);
    if (!changes.is_part) WarnOfUnknownNamespaces(draft);
    WarnOfContradictions(draft);
    input.rollouts = ExpandWorkloads(
        admission, {.exact = exact, .most_pods = changes.most_pods_made, .replace = changes.replace}, draft);
    if (!changes.is_part) CheckDeviceReferences(draft);
    input.refused = RefusePods(draft);
  }
  if (!draft.problems().empty()) return ProblemsAsError(draft.problems());

  for (DraftObject& found : draft.TakeObjects()) input.objects.push_back(std::move(found.object));
  for (api::Object& custom : reader.TakeCustom()) input.objects.push_back(std::move(custom));
  input.warnings = draft.TakeWarnings();
  input.notes = draft.TakeNotes();
  input.passed_over = reader.passed_over();
  return input;
}

}  // namespace

Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, InputChanges changes) {
  const size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  const size_t max_bytes = changes.max_bytes;
  return Assemble(ReadInputFiles(files, max_bytes), std::move(changes), threads);
}

Result<ClusterInput> ReadCluster(const std::vector<std::string>& files, std::vector<api::Object> live) {
  InputChanges changes;
  changes.live = std::move(live);
  return ReadCluster(files, std::move(changes));
}

Result<ClusterInput> ReadClusterTexts(std::vector<InputFile> files, InputChanges changes, size_t threads) {
  return Assemble({.files = std::move(files), .problems = {}, .warnings = {}}, std::move(changes), threads);
}

std::vector<api::Object> DaemonPodsOn(const std::vector<api::Node>& nodes, const std::vector<api::Object>& objects) {
  // A cluster of just these nodes, with the kinds that define and shape daemons.
  ClusterDraft draft([](const ObjectOrigin&, std::string_view) { return std::string("the cluster"); });
  for (const api::Object& object : objects) {
    switch (object.kind()) {
      case api::Kind::kDaemonSet:
      case api::Kind::kPriorityClass:
      case api::Kind::kRuntimeClass:
      case api::Kind::kLimitRange:
        draft.Add({object});
        break;
      default:
        break;
    }
  }
  for (const api::Node& node : nodes) draft.Add({api::MakeObject(node)});
  const Admission admission(draft);
  ExpandWorkloads(admission, {}, draft);
  std::vector<api::Object> pods;
  for (DraftObject& found : draft.TakeObjects()) {
    if (found.object.kind() == api::Kind::kPod) pods.push_back(std::move(found.object));
  }
  return pods;
}

}  // namespace berth::input
