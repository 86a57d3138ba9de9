#include "input/what_if.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/node.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "input/input.h"

namespace berth::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string NodeText(std::string_view name) {
  return fmt::format(
      "apiVersion: v1\nkind: Node\nmetadata: {{name: {}}}\nstatus: {{allocatable: {{cpu: 4, pods: 10}}}}\n---\n", name);
}

std::string PodText(std::string_view name, std::string_view owner_kind, std::string_view owner, std::string_view node,
                    std::string_view metadata = "") {
  const std::string owners =
      owner.empty() ? ""
                    : fmt::format(", ownerReferences: [{{kind: {}, name: {}, controller: true}}]", owner_kind, owner);
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: {}, labels: {{app: web}}{}{}}}\n"
      "spec: {{containers: [{{name: c}}]{}{}}}\n---\n",
      name, owners, metadata, node.empty() ? "" : ", nodeName: ", node);
}

std::string SetText(std::string_view name, int replicas, std::string_view metadata = "",
                    std::string_view name_space = "default") {
  return fmt::format(
      "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: {}, namespace: {}{}}}\nspec: {{replicas: {}, selector: "
      "{{matchLabels: {{app: {}}}}}, "
      "template: {{metadata: {{labels: {{app: {}}}}}, spec: {{containers: [{{name: c}}]}}}}}}\n---\n",
      name, name_space, metadata, replicas, name, name);
}

Result<ClusterInput> ReadWith(const std::string& text, WhatIf what_if) {
  return ReadClusterTexts({{"input.yaml", text}},
                          {.live = {}, .nodes = {}, .what_if = std::move(what_if), .most_pods_made = kMaxPodsMade}, 1);
}

// Pods as "name@node", sorted.
std::vector<std::string> Pods(const Result<ClusterInput>& input) {
  EXPECT_TRUE(input) << (input ? "" : input.error().message);
  std::vector<std::string> pods;
  if (!input) return pods;
  for (const api::Object& object : input->objects) {
    if (const auto* pod = object.As<api::Pod>()) pods.push_back(pod->metadata.name + "@" + pod->spec.node_name);
  }
  std::sort(pods.begin(), pods.end());
  return pods;
}

WhatIf Replicas(std::string_view text) {
  return {.replicas = {*ParseReplicaChange(text)}, .without_nodes = {}, .cordons = {}, .drains = {}};
}

TEST(WhatIf, ReplicaChangesAreParsed) {
  const ReplicaChange bare = *ParseReplicaChange("web=5");
  EXPECT_EQ(bare.name + "|" + bare.name_space + "|" + bare.kind, "web||");
  EXPECT_EQ(bare.replicas, 5);
  const ReplicaChange full = *ParseReplicaChange("Job/shop/web=0");
  EXPECT_EQ(full.name + "|" + full.name_space + "|" + full.kind, "web|shop|Job");
  for (const std::string_view text :
       {"web", "=5", "web=", "web=-1", "web=x", "web=9999999999", "/web=1", "a/b/c/d=1", ""}) {
    const Result<ReplicaChange> parsed = ParseReplicaChange(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("expected [[KIND/]NAMESPACE/]NAME=N")) << text;
  }
}

TEST(WhatIf, MoreReplicasAndFewer) {
  const std::string text = NodeText("n1") + SetText("web", 2) + PodText("a", "ReplicaSet", "web", "n1") +
                           PodText("b", "ReplicaSet", "web", "");
  EXPECT_THAT(Pods(ReadWith(text, Replicas("web=3"))), ElementsAre("a@n1", "b@", "web-0@"));
  EXPECT_THAT(Pods(ReadWith(text, Replicas("web=1"))), ElementsAre("a@n1"));
  EXPECT_THAT(Pods(ReadWith(text, Replicas("default/web=0"))), IsEmpty());
}

TEST(WhatIf, AWorkloadThatIsKnownByItsReplicaSetsOrPodsOnly) {
  const auto owned = [](int revision) {
    return fmt::format(
        ", annotations: {{deployment.kubernetes.io/revision: '{}'}}, ownerReferences: [{{kind: Deployment, name: web, "
        "controller: true}}]",
        revision);
  };
  const std::string sets = NodeText("n1") + SetText("web-a", 1, owned(9)) + SetText("web-b", 1, owned(10)) +
                           PodText("a", "ReplicaSet", "web-a", "n1") + PodText("b", "ReplicaSet", "web-b", "n1");
  EXPECT_THAT(Pods(ReadWith(sets, Replicas("web=2"))), ElementsAre("b@n1", "web-b-0@"));

  const std::string pods = NodeText("n1") + PodText("a", "CloneSet", "web", "n1") + PodText("b", "CloneSet", "web", "");
  EXPECT_THAT(Pods(ReadWith(pods, Replicas("web=3"))), ElementsAre("a@n1", "b@", "web-0@"));
  EXPECT_THAT(Pods(ReadWith(pods, Replicas("web=1"))), ElementsAre("a@n1"));
}

TEST(WhatIf, NodesThatAreGone) {
  const std::string text =
      NodeText("n1") + NodeText("n2") + PodText("owned", "ReplicaSet", "gone", "n1") + PodText("bare", "", "", "n1") +
      PodText("daemon", "DaemonSet", "agent", "n1") +
      PodText("static", "Node", "n1", "n1", ", annotations: {kubernetes.io/config.mirror: x}") +
      PodText("leaving", "ReplicaSet", "gone", "n1", ", deletionTimestamp: '2024-01-01T00:00:00Z'") +
      PodText("other", "", "", "n2");
  const Result<ClusterInput> input =
      ReadWith(text, {.replicas = {}, .without_nodes = {"n1"}, .cordons = {}, .drains = {}});
  EXPECT_THAT(Pods(input), ElementsAre("other@n2", "owned@"));
  EXPECT_THAT(input->warnings, ElementsAre("1 pod has no controller and is lost: default/bare"));
}

TEST(WhatIf, NodesThatAreCordonedOrDrained) {
  const std::string text = NodeText("n1") + NodeText("n2") + PodText("a", "ReplicaSet", "web", "n1") +
                           PodText("b", "ReplicaSet", "web", "n1") + PodText("daemon", "DaemonSet", "agent", "n1") +
                           PodText("other", "ReplicaSet", "web", "n2") +
                           "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\n"
                           "spec: {selector: {matchLabels: {app: web}}}\nstatus: {disruptionsAllowed: 1}\n";
  const Result<ClusterInput> cordoned =
      ReadWith(text, {.replicas = {}, .without_nodes = {}, .cordons = {"n1"}, .drains = {}});
  EXPECT_THAT(Pods(cordoned), ElementsAre("a@n1", "b@n1", "daemon@n1", "other@n2"));
  for (const api::Object& object : cordoned->objects) {
    const auto* node = object.As<api::Node>();
    if (!node) continue;
    EXPECT_EQ(node->spec.unschedulable, node->metadata.name == "n1");
    EXPECT_EQ(node->spec.taints.size(), node->metadata.name == "n1" ? 1u : 0u);
  }
  const Result<ClusterInput> drained =
      ReadWith(text, {.replicas = {}, .without_nodes = {}, .cordons = {}, .drains = {"n1"}});
  EXPECT_THAT(Pods(drained), ElementsAre("a@", "b@", "daemon@n1", "other@n2"));
  EXPECT_THAT(drained->warnings,
              ElementsAre("PodDisruptionBudget default/web allows 1 disruption, and 2 of its pods are "
                          "evicted: a real drain would wait"));
}

constexpr char kClaims[] = R"(apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: a-gpu
  namespace: default
  ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: ua, controller: true}]
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status:
  allocation: {devices: {results: [{request: r, driver: d, pool: p, device: g0}]}}
  reservedFor: [{resource: pods, name: a, uid: ua}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status:
  allocation: {devices: {results: [{request: r, driver: d, pool: p, device: g1}]}}
  reservedFor: [{resource: pods, name: a, uid: ua}, {resource: pods, name: other, uid: uo}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: mine, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status:
  allocation: {devices: {results: [{request: r, driver: d, pool: p, device: g2}]}}
  reservedFor: [{resource: pods, name: a, uid: ua}]
---
)";

// Claims as "name: devices held / pods", sorted.
std::vector<std::string> Claims(const Result<ClusterInput>& input) {
  EXPECT_TRUE(input) << (input ? "" : input.error().message);
  std::vector<std::string> claims;
  if (!input) return claims;
  for (const api::Object& object : input->objects) {
    if (const auto* claim = object.As<api::ResourceClaim>()) {
      const size_t held = claim->status.allocation ? claim->status.allocation->devices.results.size() : 0;
      claims.push_back(fmt::format("{}: {} / {}", claim->metadata.name, held, claim->status.reserved_for.size()));
    }
  }
  std::sort(claims.begin(), claims.end());
  return claims;
}

TEST(WhatIf, ClaimsOfPodsThatLeaveAreGivenBack) {
  const std::string text = std::string(kClaims) + NodeText("n1") + NodeText("n2") + SetText("web", 2) +
                           PodText("a", "ReplicaSet", "web", "n1", ", uid: ua") +
                           PodText("other", "ReplicaSet", "web", "n2", ", uid: uo");
  EXPECT_THAT(Claims(ReadWith(text, {})), ElementsAre("a-gpu: 1 / 1", "mine: 1 / 1", "shared: 1 / 2"));
  const auto given_back = ElementsAre("mine: 0 / 0", "shared: 1 / 1");
  EXPECT_THAT(Claims(ReadWith(text, {.replicas = {}, .without_nodes = {}, .cordons = {}, .drains = {"n1"}})),
              given_back);
  EXPECT_THAT(Claims(ReadWith(text, {.replicas = {}, .without_nodes = {"n1"}, .cordons = {}, .drains = {}})),
              given_back);
  EXPECT_THAT(Claims(ReadWith(text, Replicas("web=0"))), ElementsAre("mine: 0 / 0", "shared: 0 / 0"));
  EXPECT_THAT(Claims(ReadWith(text, {.replicas = {}, .without_nodes = {}, .cordons = {"n1"}, .drains = {}})),
              ElementsAre("a-gpu: 1 / 1", "mine: 1 / 1", "shared: 1 / 2"));
}

TEST(WhatIf, WhatIsNotThereIsToldWithWhatIsNear) {
  const std::string text = NodeText("worker-1") + NodeText("worker-2") + SetText("web", 1) +
                           SetText("web", 1, "", "shop") + PodText("d", "DaemonSet", "agent", "worker-1");
  const struct {
    WhatIf what_if;
    std::string_view error;
  } cases[] = {
      {Replicas("wbe=1"), "--replicas wbe: no workload of that name was read: did you mean web?"},
      {Replicas("web=1"),
       "--replicas web: is one of several, say NAMESPACE/NAME or KIND/NAMESPACE/NAME: ReplicaSet default/web, "
       "ReplicaSet "
       "shop/web"},
      {Replicas("agent=5"), "--replicas agent: DaemonSet default/agent has a pod for each node"},
      {Replicas("shop/web=2147483647"), "needs 2147483647 more pods"},
      {{.replicas = {}, .without_nodes = {"worker-3"}, .cordons = {}, .drains = {}},
       "--without-node worker-3: no node of that name was read: did you mean worker-1 or worker-2?"},
      {{.replicas = {}, .without_nodes = {}, .cordons = {"x"}, .drains = {}},
       "--cordon x: no node of that name was read: there is worker-1, worker-2"},
      {{.replicas = {}, .without_nodes = {}, .cordons = {}, .drains = {"wroker-1"}},
       "--drain wroker-1: no node of that name was read: did you mean worker-1"},
  };
  for (const auto& [what_if, error] : cases) {
    const Result<ClusterInput> input = ReadWith(text, what_if);
    ASSERT_FALSE(input) << error;
    EXPECT_THAT(input.error().message, HasSubstr(error));
  }
}

}  // namespace
}  // namespace berth::input
