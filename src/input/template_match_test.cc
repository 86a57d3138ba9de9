#include "input/template_match.h"

#include <gtest/gtest.h>

#include "testing/builders.h"

namespace berth::input {
namespace {

using berth::testing::MakePod;

api::PodTemplateSpec TemplateOf(const api::Pod& pod) {
  api::PodTemplateSpec made;
  made.metadata.labels = pod.metadata.labels;
  made.spec = pod.spec;
  return made;
}

TEST(SameTemplate, DefaultsAndSpellingsAreNoDifference) {
  const api::PodTemplateSpec plain = TemplateOf(MakePod("p").Label("app", "web").Request("cpu", "1000m").Obj());
  api::PodTemplateSpec printed = plain;
  printed.spec.scheduler_name = "default-scheduler";
  printed.spec.restart_policy = "Always";
  printed.spec.termination_grace_period_seconds = 30;
  printed.spec.containers[0].resources.requests.Set(Symbol("cpu"), *api::Quantity::Parse("1"));
  printed.metadata.labels.Set(Symbol("pod-template-hash"), Symbol("abc"));
  EXPECT_TRUE(SameTemplate(plain, printed));
}

TEST(SameTemplate, WhatSchedulingReadsIsADifference) {
  const api::Pod pod = MakePod("p").Label("app", "web").Request("cpu", "1").Obj();
  const api::PodTemplateSpec before = TemplateOf(pod);
  api::PodTemplateSpec after = before;
  after.spec.containers[0].resources.requests.Set(Symbol("cpu"), *api::Quantity::Parse("40"));
  EXPECT_FALSE(SameTemplate(before, after));
  after = before;
  after.spec.containers[0].image = "other";
  EXPECT_FALSE(SameTemplate(before, after));
  after = before;
  after.spec.node_selector.Set(Symbol("disk"), Symbol("ssd"));
  EXPECT_FALSE(SameTemplate(before, after));
  after = before;
  after.metadata.labels.Set(Symbol("version"), Symbol("2"));
  EXPECT_FALSE(SameTemplate(before, after));
}

TEST(IsOfTemplate, WhatWebhooksAddIsNoDifference) {
  const api::Pod prototype = MakePod("p").Label("app", "web").Request("cpu", "1").Obj();
  api::Pod pod = prototype;
  pod.metadata.labels.Set(Symbol("mesh"), Symbol("on"));
  api::Container injected;
  injected.name = "proxy";
  pod.spec.containers.push_back(injected);
  pod.spec.node_name = "n1";
  EXPECT_TRUE(IsOfTemplate(pod, prototype));
  EXPECT_EQ(RequestDifference(pod, prototype), "");
}

TEST(IsOfTemplate, WhatPeopleChangeIsOne) {
  const api::Pod pod = MakePod("p").Label("app", "web").Request("cpu", "1").Tolerate("gpu").Obj();
  api::Pod changed = pod;
  changed.spec.tolerations.clear();
  EXPECT_FALSE(IsOfTemplate(pod, changed)) << "a toleration that is gone";
  changed = pod;
  changed.spec.containers[0].resources.requests.Set(Symbol("cpu"), *api::Quantity::Parse("2"));
  EXPECT_FALSE(IsOfTemplate(pod, changed));
  EXPECT_EQ(RequestDifference(pod, changed), "cpu 2 rather than 1 in container " + pod.spec.containers[0].name);
  changed = pod;
  changed.spec.priority_class_name = "high";
  EXPECT_FALSE(IsOfTemplate(pod, changed));
}

}  // namespace
}  // namespace berth::input
