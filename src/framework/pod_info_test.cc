#include "framework/pod_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/pod_resources.h"
#include "testing/builders.h"

namespace berth::framework {
namespace {

using berth::testing::LabelsOf;
using berth::testing::MakeAffinityTerm;
using berth::testing::MakePod;
using berth::testing::PodBuilder;
using berth::testing::SelectorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(PodInfo, NonZeroRequestsAssumeSomethingForEveryContainer) {
  constexpr int64_t kMi = 1 << 20;
  const struct {
    std::string_view what;
    PodBuilder pod;
    int64_t milli_cpu, memory, non_zero_milli_cpu, non_zero_memory;
  } kCases[] = {
      {"no container", MakePod("p"), 0, 0, 0, 0},
      {"one bare container", MakePod("p").Container(), 0, 0, 100, 200 * kMi},
      {"an explicit zero stays zero", MakePod("p").Request("cpu", "0").Request("memory", "0"), 0, 0, 0, 0},
      {"each container on its own",
       MakePod("p").Container().Request("cpu", "1").Container().Request("memory", "10Mi").Container(), 1000, 10 * kMi,
       1200, 410 * kMi},
      {"sidecars and init containers too", MakePod("p").Sidecar().InitContainer().Container(), 0, 0, 200, 400 * kMi},
      {"pod-level requests leave nothing to assume",
       MakePod("p").Container().PodLevelRequest("cpu", "2").PodLevelRequest("memory", "1Mi"), 2000, kMi, 2000, kMi},
      {"pod-level cpu alone still assumes memory", MakePod("p").Container().Container().PodLevelRequest("cpu", "2"),
       2000, 0, 2000, 400 * kMi},
      {"with pod-level cpu, memory that some container names is not assumed for the others",
       MakePod("p").Container().Request("memory", "1Mi").Container().PodLevelRequest("cpu", "2"), 2000, kMi, 2000, kMi},
      {"overhead counts", MakePod("p").Container().Overhead("cpu", "50m"), 50, 0, 150, 200 * kMi},
  };
  for (const auto& c : kCases) {
    const PodInfoPtr info = c.pod.Info();
    EXPECT_EQ(info->requests().milli_cpu, c.milli_cpu) << c.what;
    EXPECT_EQ(info->requests().memory, c.memory) << c.what;
    EXPECT_EQ(info->non_zero_milli_cpu(), c.non_zero_milli_cpu) << c.what;
    EXPECT_EQ(info->non_zero_memory(), c.non_zero_memory) << c.what;
  }
}

TEST(PodInfo, HostPortsOfWhatKeepsRunning) {
  const PodInfoPtr info = MakePod("p")
                              .Container()
                              .HostPort(80)
                              .HostPort(0)
                              .HostPort(53, "UDP", "10.0.0.1")
                              .InitContainer()
                              .HostPort(8080)
                              .Sidecar()
                              .HostPort(9090, "SCTP")
                              .Info();
  EXPECT_THAT(info->host_ports(), ElementsAre(HostPort{"0.0.0.0", "SCTP", 9090}, HostPort{"0.0.0.0", "TCP", 80},
                                              HostPort{"10.0.0.1", "UDP", 53}));
}

TEST(PodInfo, CompilesEveryKindOfTerm) {
  const PodInfoPtr info = MakePod("p")
                              .Namespace("team")
                              .Priority(7)
                              .PodAffinity("zone", {{"app", "db"}})
                              .PodAntiAffinity("host", {{"app", "web"}})
                              .PreferredPodAffinity(3, "rack", {{"app", "cache"}})
                              .PreferredPodAntiAffinity(5, "row", {{"app", "noisy"}})
                              .Info();
  EXPECT_EQ(info->priority(), 7);
  EXPECT_EQ(info->Key(), "team/p");
  EXPECT_TRUE(info->has_affinity_terms());
  EXPECT_EQ(info->parse_error(), "");
  ASSERT_THAT(info->required_affinity_terms(), SizeIs(1));
  EXPECT_EQ(info->required_affinity_terms()[0].topology_key, "zone");
  EXPECT_THAT(info->required_affinity_terms()[0].namespaces, ElementsAre(Symbol("team")));
  ASSERT_THAT(info->required_anti_affinity_terms(), SizeIs(1));
  EXPECT_EQ(info->required_anti_affinity_terms()[0].topology_key, "host");
  ASSERT_THAT(info->preferred_affinity_terms(), SizeIs(1));
  EXPECT_EQ(info->preferred_affinity_terms()[0].weight, 3);
  ASSERT_THAT(info->preferred_anti_affinity_terms(), SizeIs(1));
  EXPECT_EQ(info->preferred_anti_affinity_terms()[0].weight, 5);
  EXPECT_FALSE(MakePod("q").NodeAffinityExists("zone").Info()->has_affinity_terms());
}

TEST(PodInfo, OneBadTermDropsItsKindAndNoOther) {
  const api::LabelSelector bad = SelectorOf("app", "Like", {"x"});
  const PodInfoPtr info = MakePod("p")
                              .PodAffinity("zone", {{"app", "db"}})
                              .PodAffinity("zone", bad)
                              .PodAntiAffinity("host", {{"app", "web"}})
                              .Info();
  EXPECT_THAT(info->required_affinity_terms(), IsEmpty());
  EXPECT_THAT(info->required_anti_affinity_terms(), SizeIs(1));
  EXPECT_THAT(info->parse_error(), StartsWith("requiredAffinityTerms: "));

  const PodInfoPtr twice = MakePod("p").PodAffinity("zone", bad).PodAntiAffinity("zone", bad).Info();
  EXPECT_THAT(twice->parse_error(), StartsWith("[requiredAffinityTerms: "));
  EXPECT_THAT(twice->parse_error(), HasSubstr(", requiredAntiAffinityTerms: "));
}

TEST(AffinityTerm, MatchesByNamespaceAndLabels) {
  api::PodAffinityTerm own = MakeAffinityTerm("zone", {{"app", "db"}});
  api::PodAffinityTerm listed = own;
  listed.namespaces = {Symbol("b"), Symbol("a"), Symbol("b")};
  api::PodAffinityTerm selected = own;
  selected.namespace_selector = SelectorOf({{"env", "prod"}});
  api::PodAffinityTerm everywhere = own;
  everywhere.namespace_selector = api::LabelSelector();
  api::PodAffinityTerm listed_or_selected = listed;
  listed_or_selected.namespace_selector = SelectorOf({{"env", "prod"}});
  api::PodAffinityTerm no_selector = own;
  no_selector.label_selector.reset();
  api::PodAffinityTerm any_pod = own;
  any_pod.label_selector = api::LabelSelector();

  const api::Labels prod = LabelsOf({{"env", "prod"}});
  const struct {
    std::string_view what;
    const api::PodAffinityTerm& term;
    std::string_view pod_namespace;
    std::string_view app;
    const api::Labels* namespace_labels;
    bool matches;
  } kCases[] = {
      {"the owner's namespace", own, "team", "db", nullptr, true},
      {"another namespace", own, "a", "db", nullptr, false},
      {"other labels", own, "team", "web", nullptr, false},
      {"listed", listed, "a", "db", nullptr, true},
      {"a list leaves the owner's out", listed, "team", "db", nullptr, false},
      {"selected", selected, "x", "db", &prod, true},
      {"a selector leaves the owner's out", selected, "team", "db", nullptr, false},
      {"an empty namespace selector, labels unknown", everywhere, "x", "db", nullptr, true},
      {"either will do: listed", listed_or_selected, "b", "db", nullptr, true},
      {"either will do: selected", listed_or_selected, "x", "db", &prod, true},
      {"no selector matches nothing", no_selector, "team", "db", nullptr, false},
      {"an empty selector matches everything", any_pod, "team", "web", nullptr, true},
  };
  for (const auto& c : kCases) {
    const PodInfoPtr owner = MakePod("p").Namespace("team").PodAffinity(c.term).Info();
    const api::Pod other = MakePod("q").Namespace(c.pod_namespace).Label("app", c.app).Obj();
    ASSERT_THAT(owner->required_affinity_terms(), SizeIs(1));
    EXPECT_EQ(owner->required_affinity_terms()[0].Matches(other, c.namespace_labels), c.matches) << c.what;
  }
}

}  // namespace
}  // namespace berth::framework
