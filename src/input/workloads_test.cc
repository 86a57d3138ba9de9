#include "input/workloads.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/storage.h"
#include "api/workload.h"
#include "input/testing/read_text.h"

namespace berth::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ClusterInput Read(std::string text) {
  Result<ClusterInput> input = TryRead(std::move(text));
  EXPECT_TRUE(input) << (input ? "" : input.error().message);
  return input ? std::move(*input) : ClusterInput{};
}

// Pods that wait for a node, by name.
std::map<std::string, const api::Pod*> Pending(const ClusterInput& input) {
  std::map<std::string, const api::Pod*> pods;
  for (const api::Object& object : input.objects) {
    const api::Pod* pod = object.As<api::Pod>();
    if (pod && pod->spec.node_name.empty() && !api::IsTerminated(*pod)) pods.emplace(pod->metadata.name, pod);
  }
  return pods;
}

std::vector<std::string> PendingNames(const ClusterInput& input) {
  std::vector<std::string> names;
  for (const auto& [name, pod] : Pending(input)) names.push_back(name);
  return names;
}

std::string Label(const api::ObjectMeta& metadata, std::string_view key) {
  const Symbol* value = metadata.labels.Find(Symbol(key));
  return value ? std::string(value->str()) : "-";
}

// A workload with selector and template; `spec` is one more line of its spec.
std::string Workload(std::string_view api_version, std::string_view kind, std::string_view spec) {
  return fmt::format(
      "apiVersion: {}\nkind: {}\nmetadata: {{name: web, namespace: shop}}\nspec:\n  {}\n"
      "  selector: {{matchLabels: {{app: web}}}}\n"
      "  template:\n    metadata: {{labels: {{app: web}}}}\n"
      "    spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}\n---\n",
      api_version, kind, spec);
}

std::string WorkloadPodText(std::string_view name, std::string_view metadata, std::string_view spec = "",
                            std::string_view status = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: {}, namespace: shop{}{}}}\n"
      "spec: {{containers: [{{name: c}}]{}{}}}\nstatus: {{{}}}\n---\n",
      name, metadata.empty() ? "" : ", ", metadata, spec.empty() ? "" : ", ", spec, status);
}

std::string SizedNodeText(std::string_view name, std::string_view more = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Node\nmetadata: {{name: {}, labels: {{kind: {}}}}}\n{}"
      "status: {{allocatable: {{cpu: 4, pods: 10}}}}\n---\n",
      name, name, more);
}

TEST(Workloads, ADeploymentHasAReplicaSetAndThatHasPods) {
  const ClusterInput input = Read(Workload("apps/v1", "Deployment", "replicas: 3"));
  const api::ReplicaSet* set = nullptr;
  for (const api::Object& object : input.objects) {
    if (object.As<api::ReplicaSet>()) set = object.As<api::ReplicaSet>();
  }
  ASSERT_NE(set, nullptr);
  const std::string hash = Label(set->metadata, "pod-template-hash");
  EXPECT_EQ(set->metadata.name, "web-" + hash);
  EXPECT_EQ(api::ControllerOf(set->metadata)->name, "web");
  const Symbol* selected = set->spec.selector->match_labels.Find(Symbol("pod-template-hash"));
  ASSERT_NE(selected, nullptr);
  EXPECT_EQ(selected->str(), hash);

  const auto pods = Pending(input);
  EXPECT_THAT(PendingNames(input),
              ElementsAre(set->metadata.name + "-0", set->metadata.name + "-1", set->metadata.name + "-2"));
  const api::Pod& pod = *pods.begin()->second;
  EXPECT_EQ(Label(pod.metadata, "pod-template-hash"), hash);
  EXPECT_EQ(Label(pod.metadata, "app"), "web");
  EXPECT_EQ(api::ControllerOf(pod.metadata)->kind, "ReplicaSet");
  EXPECT_EQ(api::ControllerOf(pod.metadata)->name, set->metadata.name);
  EXPECT_EQ(pod.metadata.uid, "shop/" + pod.metadata.name);
  EXPECT_EQ(pod.spec.scheduler_name, "default-scheduler");
  EXPECT_THAT(pod.spec.tolerations, SizeIs(2));
  EXPECT_THAT(input.warnings, IsEmpty());
}

TEST(Workloads, OnlyWhatIsMissingIsMade) {
  const std::string owned =
      "labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}]";
  const struct {
    std::string_view what;
    std::string pods;
    size_t made;
  } cases[] = {
      {"none yet", "", 3},
      {"one by owner", WorkloadPodText("a", owned), 2},
      {"one by selector", WorkloadPodText("a", "labels: {app: web}"), 2},
      {"another's",
       WorkloadPodText("a", "labels: {app: web}, ownerReferences: [{kind: Job, name: web, controller: true}]"), 3},
      {"of another incarnation",
       WorkloadPodText("a", "labels: {app: web}, ownerReferences: [{kind: ReplicaSet, name: other, controller: true}]"),
       3},
      {"not selected", WorkloadPodText("a", "labels: {app: db}"), 3},
      {"done", WorkloadPodText("a", owned, "", "phase: Succeeded"), 3},
      {"failed", WorkloadPodText("a", owned, "", "phase: Failed"), 3},
      {"terminating", WorkloadPodText("a", owned + ", deletionTimestamp: '2024-01-01T00:00:00Z'", "nodeName: n1"), 3},
      {"more than wanted",
       WorkloadPodText("a", owned) + WorkloadPodText("b", owned) + WorkloadPodText("c", owned) +
           WorkloadPodText("d", owned),
       0},
  };
  for (const auto& [what, pods, made] : cases) {
    const ClusterInput input = Read(Workload("apps/v1", "ReplicaSet", "replicas: 3") + SizedNodeText("n1") + pods);
    size_t found = 0;
    for (const auto& [name, pod] : Pending(input)) found += name.starts_with("web-") ? 1 : 0;
    EXPECT_EQ(found, made) << what;
  }
}

TEST(Workloads, ADeploymentReplacesThePodsOfItsOlderReplicaSets) {
  const auto set = [](std::string_view name, int replicas, std::string_view image) {
    return fmt::format(
        "apiVersion: apps/v1\nkind: ReplicaSet\n"
        "metadata: {{name: {}, namespace: shop, labels: {{app: web}}, ownerReferences: [{{kind: Deployment, name: web, "
        "controller: true}}]}}\n"
        "spec: {{replicas: {}, selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web, "
        "pod-template-hash: x}}}}, "
        "spec: {{containers: [{{name: c{}, resources: {{requests: {{cpu: 1}}}}}}]}}}}}}\n---\n",
        name, replicas, image);
  };
  const auto pod = [](std::string_view name, std::string_view owner) {
    return WorkloadPodText(
        name, fmt::format("labels: {{app: web}}, ownerReferences: [{{kind: ReplicaSet, name: {}, controller: true}}]",
                          owner));
  };
  // The set "web-new" has the Deployment's template; "web-old" is empty, as after a roll-out.
  const ClusterInput input = Read(Workload("apps/v1", "Deployment", "replicas: 3") + set("web-old", 0, ", image: old") +
                                  set("web-new", 3, "") + pod("one", "web-old") + pod("two", "web-new"));
  EXPECT_THAT(PendingNames(input), ElementsAre("two", "web-new-0", "web-new-1")) << "one had no node to keep";
  EXPECT_THAT(input.rollouts, IsEmpty());
}

TEST(Workloads, AReplicationController) {
  EXPECT_THAT(
      PendingNames(Read("apiVersion: v1\nkind: ReplicationController\nmetadata: {name: web}\nspec:\n  replicas: 2\n"
                        "  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}\n")),
      ElementsAre("web-0", "web-1"));
}

TEST(Workloads, AStatefulSetHasOrdinalsAndClaims) {
  const std::string set = Workload("apps/v1", "StatefulSet",
                                   "replicas: 3\n  ordinals: {start: 1}\n  volumeClaimTemplates:\n"
                                   "  - metadata: {name: data}\n    spec: {resources: {requests: {storage: 1Gi}}}");
  const ClusterInput input =
      Read(set +
           WorkloadPodText("web-2",
                           "labels: {app: web}, ownerReferences: [{kind: StatefulSet, name: web, controller: true}]") +
           "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data-web-3, namespace: shop}\nspec: "
           "{volumeName: old}\n");
  EXPECT_THAT(PendingNames(input), ElementsAre("web-1", "web-2", "web-3"));
  const api::Pod& pod = *Pending(input).at("web-1");
  EXPECT_EQ(Label(pod.metadata, "apps.kubernetes.io/pod-index"), "1");
  EXPECT_EQ(Label(pod.metadata, "statefulset.kubernetes.io/pod-name"), "web-1");
  ASSERT_THAT(pod.spec.volumes, SizeIs(1));
  EXPECT_EQ(pod.spec.volumes[0].from().persistent_volume_claim->claim_name, "data-web-1");
  std::map<std::string, std::string> claims;  // to volume names
  for (const api::Object& object : input.objects) {
    if (const auto* claim = object.As<api::PersistentVolumeClaim>())
      claims[claim->metadata.name] = claim->spec.volume_name;
  }
  EXPECT_THAT(claims,
              ElementsAre(std::pair("data-web-1", ""), std::pair("data-web-2", ""), std::pair("data-web-3", "old")))
      << "web-2 was of another template, and is made anew";
}

TEST(Workloads, ADaemonSetHasAPodForEachNodeItMatches) {
  const ClusterInput input = Read(
      Workload("apps/v1", "DaemonSet", "minReadySeconds: 0") + SizedNodeText("a") +
      SizedNodeText("b", "spec: {taints: [{key: gpu, effect: NoSchedule}]}\n") +
      SizedNodeText(
          "c", "spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}\n") +
      SizedNodeText("d") +
      WorkloadPodText("there", "labels: {app: web}, ownerReferences: [{kind: DaemonSet, name: web, controller: true}]",
                      "nodeName: d"));
  EXPECT_THAT(PendingNames(input), ElementsAre("web-a", "web-c"));
  const api::Pod& pod = *Pending(input).at("web-a");
  const auto& terms =
      pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution->node_selector_terms;
  ASSERT_THAT(terms, SizeIs(1));
  EXPECT_EQ(terms[0].match_fields.at(0).values.at(0).str(), "a");
  EXPECT_THAT(pod.spec.tolerations, SizeIs(6)) << "admission adds none to those of daemons";
}

TEST(Workloads, JobsWantPodsUntilTheyAreDone) {
  const std::string done = "labels: {job-name: web}, ownerReferences: [{kind: Job, name: web, controller: true}]";
  const auto job = [](std::string_view spec, std::string_view status = "{}") {
    return fmt::format(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: web, namespace: shop}}\nspec:\n  {}\n"
        "  template: {{spec: {{containers: [{{name: c}}]}}}}\nstatus: {}\n---\n",
        spec, status);
  };
  const struct {
    std::string text;
    std::vector<std::string> made;
  } cases[] = {
      {job("backoffLimit: 1"), {"web-0"}},
      {job("parallelism: 2"), {"web-0", "web-1"}},
      {job("parallelism: 2\n  completions: 5"), {"web-0", "web-1"}},
      {job("parallelism: 4\n  completions: 5", "{succeeded: 3}"), {"web-0", "web-1"}},
      {job("parallelism: 2", "{succeeded: 1}"), {}},
      {job("parallelism: 2\n  suspend: true"), {}},
      {job("parallelism: 2", "{conditions: [{type: Complete, status: 'True'}]}"), {}},
      {job("parallelism: 2\n  completions: 2") + WorkloadPodText("a", done, "", "phase: Succeeded"), {"web-0"}},
      {job("parallelism: 3\n  completions: 8\n  completionMode: Indexed", "{completedIndexes: '0-1,3', succeeded: 3}"),
       {"web-2", "web-4", "web-5"}},
  };
  for (const auto& [text, made] : cases)
    EXPECT_THAT(PendingNames(Read(text)), ::testing::ElementsAreArray(made)) << text;
  const ClusterInput indexed = Read(job("completions: 1\n  completionMode: Indexed"));
  const api::Pod& pod = *Pending(indexed).at("web-0");
  EXPECT_EQ(Label(pod.metadata, "batch.kubernetes.io/job-completion-index"), "0");
  EXPECT_EQ(Label(pod.metadata, "batch.kubernetes.io/job-name"), "web");
}

TEST(Workloads, WithoutATemplateThereIsAWarning) {
  EXPECT_THAT(
      Read("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, uid: r1}\nspec: {replicas: 2}\n").warnings,
      ElementsAre("1 ReplicaSet without a pod template: the pods that are missing are not made"));
  EXPECT_THAT(
      Read("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, uid: r1}\nspec: {replicas: 0}\n").warnings,
      IsEmpty());
}

TEST(Workloads, WhatIsWrongIsToldOnceWithItsPlace) {
  const struct {
    std::string text;
    std::string_view error;
  } cases[] = {
      {Workload("apps/v1", "Deployment", "replicas: -1"),
       "input.yaml:5:13: Deployment shop/web: spec.replicas: must not be negative, found -1"},
      {Workload("apps/v1", "Deployment", "replicas: 2000000000"),
       "input.yaml:5:13: Deployment shop/web: needs 2000000000 more pods, and 250000 are the most"},
      {Workload("apps/v1", "StatefulSet", "replicas: 2000000000"), "are the most that workloads may need together"},
      {Workload("apps/v1", "ReplicaSet", "replicas: 1000000000000"),
       "input.yaml:5:13: spec.replicas: expected a 32-bit integer, found number 1000000000000"},
      {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {completionMode: Indexed, completions: 2147483647, "
       "parallelism: 2147483647, template: {spec: {containers: [{name: c}]}}}\n",
       "are the most that workloads may need together"},
      {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: 50\n  selector: {matchLabels: "
       "{a: b}}\n"
       "  template:\n    metadata: {labels: {a: b}}\n    spec:\n      priorityClassName: none\n      containers: "
       "[{name: c}]\n",
       "input.yaml:10:26: Deployment default/d: spec.template.spec.priorityClassName: no PriorityClass \"none\" in the "
       "input"},
      {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  selector: {matchLabels: {a: b}}\n"
       "  template:\n    metadata: {labels: {a: c}}\n    spec:\n      containers: [{name: c}, {name: c}]\n",
       "input.yaml:9:38: Deployment default/d: spec.template.spec.containers[1].name: \"c\" is used twice\n"
       "input.yaml:5:13: Deployment default/d: spec.selector: does not match the labels of spec.template"},
  };
  for (const auto& [text, error] : cases) {
    const Result<ClusterInput> input = TryRead(text);
    ASSERT_FALSE(input) << text;
    EXPECT_THAT(input.error().message, HasSubstr(error)) << text;
    EXPECT_LE(std::count(input.error().message.begin(), input.error().message.end(), '\n'), 1) << input.error().message;
  }
}

}  // namespace
}  // namespace berth::input
