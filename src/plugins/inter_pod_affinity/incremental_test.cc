// State kept while pods are added and removed must equal counting from scratch.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/testing/kept_cycle.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/plugin_calls.h"

namespace berth::plugins {
namespace {

using ::berth::testing::FakeHandle;
using ::berth::testing::MakeAffinityTerm;
using ::berth::testing::MakeNamespace;
using ::berth::testing::MakeNode;
using ::berth::testing::MakePlugin;
using ::berth::testing::MakePod;
using ::berth::testing::PodBuilder;
using ::berth::testing::SelectorOf;

const std::vector<std::string> kApps = {"web", "db", "cache"};
const std::vector<std::string> kKeys = {"zone", "host", "rack"};

api::PodAffinityTerm RandomTerm(std::mt19937& random) {
  api::PodAffinityTerm term = MakeAffinityTerm(kKeys[random() % 3], {{"app", kApps[random() % 3]}});
  if (random() % 8 == 0) term.label_selector = api::LabelSelector();
  switch (random() % 8) {
    case 0:
      term.namespace_selector = SelectorOf({{"team", "red"}});
      break;
    case 1:
      term.namespace_selector = api::LabelSelector();
      break;
    case 2:
      term.namespaces = {Symbol("red"), Symbol("default")};
      break;
    case 3:
      term.namespace_selector = SelectorOf("team", "NotIn", {"red"});
      break;
    default:
      break;
  }
  return term;
}

PodBuilder RandomPod(std::mt19937& random, const std::string& name, unsigned one_in) {
  PodBuilder pod = MakePod(name);
  pod.Namespace(random() % 4 == 0 ? "red" : "default");
  if (random() % 5 != 0) pod.Label("app", kApps[random() % 3]);
  if (random() % 8 == 0) pod.Terminating();
  if (random() % one_in == 0) pod.PodAffinity(RandomTerm(random));
  if (random() % (2 * one_in) == 0) pod.PodAffinity(RandomTerm(random));
  if (random() % one_in == 0) pod.PodAntiAffinity(RandomTerm(random));
  const auto weight = static_cast<int32_t>(random() % 3 + 1);
  if (random() % one_in == 0) pod.PreferredPodAffinity(weight, RandomTerm(random));
  if (random() % one_in == 0) pod.PreferredPodAntiAffinity(weight, RandomTerm(random));
  return pod;
}

// Returns how many changes were followed, and how often the plugin had to start over.
std::pair<int, int> Follow(unsigned seed, const config::InterPodAffinityArgs& args) {
  std::mt19937 random(seed);
  FakeHandle handle;
  for (const char* team : {"red", "blue"}) handle.Add(MakeNamespace(team, {{"team", team}}));
  const int node_count = 2 + static_cast<int>(random() % 7);
  for (int i = 0; i < node_count; ++i) {
    auto node = MakeNode("n" + std::to_string(i)).Label("host", "n" + std::to_string(i));
    if (random() % 6 != 0) node.Label("zone", std::string(1, static_cast<char>('a' + random() % 3)));
    if (random() % 2 == 0) node.Label("rack", "r" + std::to_string(random() % 4));
    handle.cluster().AddNode(node);
  }
  const auto plugin = MakePlugin<InterPodAffinity>(handle, args);
  const unsigned one_in = seed % 2 == 0 ? 3 : 20;
  Traffic traffic(handle.cluster(), random,
                  [&](std::mt19937& r, const std::string& name) { return RandomPod(r, name, one_in); });
  for (int i = 0; i < 8; ++i) traffic.Step();

  PodBuilder incoming = RandomPod(random, "incoming", random() % 3 + 1);
  const auto all = handle.cluster().nodes();
  std::vector<const framework::NodeInfo*> feasible(all.begin(), all.end());
  KeptCycle<InterPodAffinity> kept(*plugin, incoming.Info(), handle.cluster(), feasible);
  for (int step = 0; step < 30; ++step) {
    std::vector<SeenChange> changes;
    for (unsigned i = random() % 3 + 1; i > 0; --i) {
      for (const SeenChange& change : traffic.Step()) changes.push_back(change);
    }
    for (const SeenChange& change : changes) kept.Follow(change);
    // PreScore does not depend on which nodes are feasible.
    if (feasible.size() > 1 && random() % 8 == 0) feasible.pop_back();
    kept.Settle(feasible);
    kept.ExpectAsFresh();
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed << " step " << step;
      break;
    }
  }
  return {kept.followed(), kept.restarts()};
}

TEST(InterPodAffinityIncremental, KeptStateIsAsFresh) {
  int followed = 0;
  int restarts = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    config::InterPodAffinityArgs args;
    if (seed % 5 == 1) args.hard_pod_affinity_weight = 0;
    if (seed % 5 == 2) args.ignore_preferred_terms_of_existing_pods = true;
    const auto [more, again] = Follow(seed, args);
    followed += more;
    restarts += again;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_LT(restarts, followed / 10) << "only where a skip begins or ends";
}

// A copy made for preemption must not change when the original follows changes.
TEST(InterPodAffinityIncremental, CopiesDoNotFollow) {
  FakeHandle handle;
  handle.cluster().AddNode(MakeNode("a").Label("zone", "a"));
  handle.cluster().AddPod(MakePod("c").Label("app", "cache").Node("a"));
  const auto plugin = MakePlugin<InterPodAffinity>(handle);
  const framework::PodInfoPtr pod = MakePod("p").PreferredPodAffinity(5, "zone", {{"app", "cache"}}).Info();
  framework::CycleState kept;
  ASSERT_TRUE(plugin->PreScore(kept, *pod, handle.cluster().nodes()).ok());
  const framework::CycleState copy = kept.Clone();
  const framework::PodInfoPtr other = MakePod("c2").Label("app", "cache").Info();
  const framework::NodeInfo& node = handle.cluster().Node("a");
  ASSERT_TRUE(plugin->CatchUpPreScore(kept, *pod, {*other, node, +1}));
  EXPECT_EQ(plugin->Score(kept, *pod, node).score, 10);
  EXPECT_EQ(plugin->Score(copy, *pod, node).score, 5);
}

}  // namespace
}  // namespace berth::plugins
