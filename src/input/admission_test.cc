#include "input/admission.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input/testing/read_text.h"

namespace berth::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kRange[] =
    "apiVersion: v1\nkind: LimitRange\nmetadata: {name: usual, namespace: shop}\nspec:\n  limits:\n"
    "  - {type: Container, default: {cpu: 500m}, defaultRequest: {cpu: 100m}, max: {memory: 1Gi}, min: {memory: 1Mi}}\n"
    "---\n";
constexpr char kRuntimeClass[] =
    "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: gvisor}\nhandler: runsc\n"
    "overhead: {podFixed: {cpu: 250m}}\n"
    "scheduling: {nodeSelector: {sandbox: 'true'}, tolerations: [{key: sandbox, operator: Exists, effect: "
    "NoSchedule}]}\n"
    "---\n";

std::string PodText(std::string_view spec, std::string_view resources = "{}", std::string_view metadata = "") {
  return fmt::format(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: web, namespace: shop{}}}\nspec:\n  {}\n"
      "  containers: [{{name: c, resources: {}}}]\n",
      metadata, spec, resources);
}

api::Pod ReadPod(std::string text) {
  const Result<ClusterInput> input = TryRead(std::move(text));
  EXPECT_TRUE(input) << (input ? "" : input.error().message);
  if (!input) return {};
  for (const api::Object& object : input->objects) {
    if (const auto* pod = object.As<api::Pod>()) return *pod;
  }
  return {};
}

std::string Amounts(const api::ResourceList& list) {
  std::string text;
  for (const auto& [name, quantity] : list) text += fmt::format("{}={} ", name.str(), quantity.ToString());
  return text;
}

std::vector<std::string> Tolerations(const api::Pod& pod) {
  std::vector<std::string> texts;
  for (const api::Toleration& toleration : pod.spec.tolerations) {
    texts.push_back(fmt::format("{}:{}:{}", toleration.key.str(), toleration.effect.str(),
                                toleration.toleration_seconds.value_or(-1)));
  }
  return texts;
}

TEST(Admission, PodsTolerateTroubleForFiveMinutes) {
  EXPECT_THAT(
      Tolerations(ReadPod(PodText("restartPolicy: Always"))),
      ElementsAre("node.kubernetes.io/not-ready:NoExecute:300", "node.kubernetes.io/unreachable:NoExecute:300"));
  EXPECT_THAT(Tolerations(ReadPod(PodText("tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, "
                                          "effect: NoExecute, tolerationSeconds: 5}]"))),
              ElementsAre("node.kubernetes.io/not-ready:NoExecute:5", "node.kubernetes.io/unreachable:NoExecute:300"));
  EXPECT_THAT(Tolerations(ReadPod(PodText("tolerations: [{operator: Exists}]"))), ElementsAre("::-1"));
}

TEST(Admission, PodsOfAClusterAreAsTheyAre) {
  for (const std::string_view seen :
       {", uid: x", ", resourceVersion: '1'", ", creationTimestamp: '2024-01-01T00:00:00Z'"}) {
    const api::Pod pod = ReadPod(kRange + PodText("runtimeClassName: gone", "{}", seen));
    EXPECT_THAT(pod.spec.tolerations, IsEmpty()) << seen;
    EXPECT_THAT(pod.spec.containers[0].resources.requests, IsEmpty()) << seen;
  }
}

TEST(Admission, LimitRangesFillInWhatIsOpen) {
  const struct {
    std::string_view given, requests, limits;
  } cases[] = {
      // For memory there is only a maximum, which is the default limit and so the default request.
      {"{}", "cpu=100m memory=1Gi ", "cpu=500m memory=1Gi "},
      {"{requests: {cpu: 1}, limits: {cpu: 2}}", "cpu=1 memory=1Gi ", "cpu=2 memory=1Gi "},
      // Before any LimitRange applies, a limit is the request.
      {"{limits: {cpu: 2}}", "cpu=2 memory=1Gi ", "cpu=2 memory=1Gi "},
  };
  for (const auto& [given, requests, limits] : cases) {
    const api::Pod pod = ReadPod(kRange + PodText("restartPolicy: Always", given));
    EXPECT_EQ(Amounts(pod.spec.containers[0].resources.requests), requests) << given;
    EXPECT_EQ(Amounts(pod.spec.containers[0].resources.limits), limits) << given;
  }
}

TEST(Admission, RuntimeClassesAddOverheadAndPlacement) {
  const api::Pod pod = ReadPod(kRuntimeClass + PodText("runtimeClassName: gvisor\n  nodeSelector: {disk: ssd}"));
  EXPECT_EQ(Amounts(pod.spec.overhead), "cpu=250m ");
  EXPECT_EQ(pod.spec.node_selector.size(), 2u);
  EXPECT_THAT(Tolerations(pod), ElementsAre("node.kubernetes.io/not-ready:NoExecute:300",
                                            "node.kubernetes.io/unreachable:NoExecute:300", "sandbox:NoSchedule:-1"));
}

TEST(Admission, WhatItRefusesIsToldWithItsPlace) {
  const struct {
    std::string text;
    std::string_view error;
  } cases[] = {
      {PodText("priorityClassName: gone"),
       "input.yaml:5:22: Pod shop/web: spec.priorityClassName: no PriorityClass \"gone\" in the input"},
      {PodText("runtimeClassName: gone"),
       "input.yaml:5:21: Pod shop/web: spec.runtimeClassName: no RuntimeClass \"gone\" in the input"},
      {kRange + PodText("restartPolicy: Always", "{limits: {memory: 2Gi}}"),
       "input.yaml:13:55: Pod shop/web: spec.containers[0].resources.limits[memory]: LimitRange shop/usual (type "
       "Container): expected at most 1Gi, found 2Gi"},
      {kRange + PodText("restartPolicy: Always", "{requests: {memory: 1}, limits: {memory: 1Mi}}"),
       "spec.containers[0].resources.requests[memory]: LimitRange shop/usual (type Container): expected at least 1Mi, "
       "found 1"},
      {"apiVersion: v1\nkind: LimitRange\nmetadata: {name: whole, namespace: shop}\n"
       "spec: {limits: [{type: Pod, max: {cpu: 1}}]}\n---\n" +
           PodText("restartPolicy: Always", "{limits: {cpu: 2}}"),
       "LimitRange shop/whole (type Pod): expected at most 1, found 2"},
      {"apiVersion: v1\nkind: LimitRange\nmetadata: {name: ratio, namespace: shop}\n"
       "spec: {limits: [{type: Container, maxLimitRequestRatio: {cpu: 2}}]}\n---\n" +
           PodText("restartPolicy: Always", "{requests: {cpu: 1}, limits: {cpu: 3}}"),
       "LimitRange shop/ratio (type Container): expected at most 2 times the request of 1, found 3"},
      {kRuntimeClass + PodText("runtimeClassName: gvisor\n  nodeSelector: {sandbox: 'no'}"),
       "spec.nodeSelector[sandbox]: RuntimeClass \"gvisor\" demands \"true\", found \"no\""},
      {kRuntimeClass + PodText("runtimeClassName: gvisor\n  overhead: {cpu: 1}"),
       "spec.overhead: differs from that of RuntimeClass \"gvisor\""},
  };
  for (const auto& [text, error] : cases) {
    const Result<ClusterInput> input = TryRead(text);
    ASSERT_FALSE(input) << text;
    EXPECT_THAT(input.error().message, HasSubstr(error)) << text;
  }
}

}  // namespace
}  // namespace berth::input
