// Every reported remedy is applied to the objects as a person would, from its words alone, and the cluster is scheduled
// anew: the pod must fit then. And nothing less is enough: without one of its changes, or with a smaller one, the pod
// must not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <functional>
#include <map>
#include <regex>

#include "base/random.h"
#include "config/load.h"
#include "plugins/registry.h"
#include "sim/simulation.h"
#include "testing/builders.h"

namespace berth::sim {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;

constexpr char kZoneKey[] = "topology.kubernetes.io/zone";
constexpr char kCordon[] = "node.kubernetes.io/unschedulable";

// The objects on their own, so that the words can change them.
struct World {
  std::map<std::string, api::Node> nodes;
  std::vector<api::Pod> bound;
  api::Pod pod;

  std::vector<api::Object> Objects() const {
    std::vector<api::Object> objects;
    for (const auto& [name, node] : nodes) objects.push_back(api::MakeObject(node));
    for (const api::Pod& other : bound) objects.push_back(api::MakeObject(other));
    objects.push_back(api::MakeObject(pod));
    return objects;
  }
};

api::Quantity Amount(const std::string& text) { return *api::Quantity::Parse(text); }

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  int64_t Roll(int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(to - from + 1)));
  }
  bool OneIn(int64_t n) { return Roll(1, n) == 1; }

 private:
  base::Random random_;
};

std::string Milli(int64_t amount) { return std::to_string(amount) + "m"; }
std::string Mebi(int64_t amount) { return std::to_string(amount) + "Mi"; }

api::Node RandomNode(const std::string& name, Dice& dice) {
  api::Node node = MakeNode(name)
                       .Capacity("cpu", Milli(dice.Roll(1'000, 6'000)))
                       .Capacity("memory", Mebi(dice.Roll(500, 9'000)))
                       .Capacity("pods", "110")
                       .Obj();
  node.metadata.labels.Set(Symbol("kubernetes.io/hostname"), Symbol(name));
  if (!dice.OneIn(6)) node.metadata.labels.Set(Symbol(kZoneKey), Symbol(dice.OneIn(2) ? "a" : "b"));
  if (dice.OneIn(2)) node.metadata.labels.Set(Symbol("disk"), Symbol(dice.OneIn(2) ? "ssd" : "hdd"));
  if (dice.OneIn(5)) node.spec.taints.push_back({Symbol("dedicated"), Symbol("db"), api::NoSchedule()});
  if (dice.OneIn(8)) node.spec.taints.push_back({Symbol("gpu"), Symbol(""), api::NoExecute()});
  if (dice.OneIn(6)) {
    node.spec.unschedulable = true;
    if (dice.OneIn(2)) node.spec.taints.push_back({Symbol(kCordon), Symbol(""), api::NoSchedule()});
  }
  return node;
}

api::Container RandomContainer(const std::string& name, Dice& dice) {
  api::Container container;
  container.name = name;
  container.resources.requests.Set(Symbol("cpu"), Amount(Milli(dice.Roll(100, 3'500))));
  if (dice.OneIn(2)) container.resources.requests.Set(Symbol("memory"), Amount(Mebi(dice.Roll(64, 6'000))));
  return container;
}

void AddRules(Dice& dice, api::Pod& pod) {
  pod.metadata.labels.Set(Symbol("app"), Symbol("web"));
  const api::LabelSelector web{.match_labels = pod.metadata.labels, .match_expressions = {}};
  if (dice.OneIn(4)) pod.spec.node_selector.Set(Symbol("disk"), Symbol("ssd"));
  if (dice.OneIn(4)) {
    api::TopologySpreadConstraint spread;
    spread.max_skew = 1;
    spread.topology_key = Symbol(kZoneKey);
    spread.when_unsatisfiable = "DoNotSchedule";
    spread.label_selector = web;
    if (dice.OneIn(2)) spread.min_domains = static_cast<int32_t>(dice.Roll(2, 4));
    pod.spec.topology_spread_constraints.push_back(spread);
  }
  if (dice.OneIn(5)) {
    api::PodAffinityTerm term;
    term.label_selector = web;
    term.topology_key = Symbol(dice.OneIn(2) ? "kubernetes.io/hostname" : kZoneKey);
    pod.spec.affinity.emplace().pod_anti_affinity.emplace().required_during_scheduling_ignored_during_execution = {
        term};
  }
  if (dice.OneIn(4)) {
    pod.spec.containers.front().ports.push_back({.host_port = 80, .container_port = 80, .protocol = "TCP"});
  }
}

World RandomWorld(uint64_t seed) {
  Dice dice(seed);
  World world;
  const int64_t nodes = dice.Roll(1, 4);
  for (int64_t i = 0; i < nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    world.nodes.emplace(name, RandomNode(name, dice));
    for (int64_t j = dice.Roll(0, 3); j > 0; --j) {
      const std::string other = "other-" + std::to_string(i) + "-" + std::to_string(j);
      api::Pod bound = MakePod(other).Request("cpu", Milli(dice.Roll(50, 1'200))).Node(name).Uid(other).Obj();
      if (dice.OneIn(2)) bound.metadata.labels.Set(Symbol("app"), Symbol("web"));
      if (dice.OneIn(4)) {
        bound.spec.containers.front().ports.push_back({.host_port = 80, .container_port = 80, .protocol = "TCP"});
      }
      bound.spec.priority = static_cast<int32_t>(dice.Roll(-1, 2) * 100);
      world.bound.push_back(std::move(bound));
    }
  }
  world.pod = MakePod("p").Uid("p").Obj();
  world.pod.spec.containers = {RandomContainer("c", dice)};
  if (dice.OneIn(3)) world.pod.spec.containers.push_back(RandomContainer("second", dice));
  if (dice.OneIn(3)) world.pod.spec.init_containers.push_back(RandomContainer("migrate", dice));
  if (dice.OneIn(4)) {
    world.pod.spec.init_containers.insert(world.pod.spec.init_containers.begin(), RandomContainer("mesh", dice));
    world.pod.spec.init_containers.front().restart_policy = "Always";
  }
  if (dice.OneIn(5)) world.pod.spec.overhead.Set(Symbol("cpu"), Amount(Milli(dice.Roll(50, 400))));
  if (dice.OneIn(4)) world.pod.spec.preemption_policy = "Never";
  if (dice.OneIn(2)) world.pod.spec.priority = 0;
  AddRules(dice, world.pod);
  return world;
}

// Carries out the words of a remedy. `less` reduces the number that they end in by that much.
class Words {
 public:
  explicit Words(World& world, int64_t less = 0) : world_(world), less_(less) {}

  // False when there is no number to reduce.
  bool Follow(const std::string& text) {
    std::smatch found;
    const auto is = [&](const char* pattern) { return std::regex_match(text, found, std::regex(pattern)); };
    if (is(R"((cpu|memory) request \S+ -> (\S+)( \((.*)\))?)"))
      return Request(Symbol(found[1].str()), found[2], found[4]);
    if (is(R"(tolerate ([^=:]+)(=([^:]*))?:(\w+))")) return Tolerate(found[1], found[3], found[4]);
    if (is(R"(uncordon (\S+))")) return Uncordon(found[1]);
    if (is(R"(label (\S+)=(\S+) on (\S+))")) return Label(found[3], found[1], found[2]);
    if (is(R"(label (\S+) on (\S+), as it is in truth \(tried with (\S+)\))"))
      return Label(found[2], found[1], found[3]);
    if (is(R"(maxSkew \d+ -> (\d+) by \S+)")) {
      world_.pod.spec.topology_spread_constraints.front().max_skew = Number(found[1], -1);
      return true;
    }
    if (is(R"(minDomains \d+ -> (\d+) by \S+)")) {
      world_.pod.spec.topology_spread_constraints.front().min_domains = Number(found[1], +1);
      return true;
    }
    if (is(R"(no host port 80/TCP)")) {
      for (api::Container& container : world_.pod.spec.containers) container.ports.clear();
      return false;
    }
    if (is(R"(no required anti-affinity)")) {
      world_.pod.spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution.clear();
      return false;
    }
    if (is(R"(no overhead of .*)")) {
      world_.pod.spec.overhead = {};
      return false;
    }
    if (is(R"(no preemptionPolicy Never: .*)")) {
      world_.pod.spec.preemption_policy.reset();
      return false;
    }
    if (is(R"(priority -?\d+ -> (-?\d+)( without preemptionPolicy Never)?: .*)")) {
      world_.pod.spec.priority = Number(found[1], -1);
      world_.pod.spec.preemption_policy.reset();
      return true;
    }
    ADD_FAILURE() << "no rule for the words of this remedy: " << text;
    return false;
  }

 private:
  int32_t Number(const std::string& text, int32_t direction) const {
    return std::stoi(text) + direction * static_cast<int32_t>(less_);
  }

  // " (init migrate 9 -> 3, c 2 -> 1)": the new value for each; without it, for the only one.
  bool Request(const Symbol& resource, const std::string& target, const std::string& parts) {
    const bool cpu = resource.str() == "cpu";
    if (parts.empty()) {
      api::Quantity& amount = *world_.pod.spec.containers.front().resources.requests.Find(resource);
      amount = Amount(target);
      if (cpu && less_ != 0) amount.Add(api::Quantity::FromMilli(less_));
      return cpu;
    }
    bool first = true;
    const std::regex one(R"((init |sidecar )?(\S+) \S+ -> ([^\s,]+))");
    for (std::sregex_iterator it(parts.begin(), parts.end(), one), end; it != end; ++it) {
      api::Quantity& amount = *Container((*it)[2]).resources.requests.Find(resource);
      amount = Amount((*it)[3]);
      if (cpu && first && less_ != 0) amount.Add(api::Quantity::FromMilli(less_));
      first = false;
    }
    return cpu;
  }

  api::Container& Container(const std::string& name) {
    for (auto* containers : {&world_.pod.spec.init_containers, &world_.pod.spec.containers}) {
      for (api::Container& container : *containers) {
        if (container.name == name) return container;
      }
    }
    ADD_FAILURE() << "no container " << name;
    return world_.pod.spec.containers.front();
  }

  bool Tolerate(const std::string& key, const std::string& value, const std::string& effect) {
    world_.pod.spec.tolerations.push_back(
        {.key = Symbol(key), .op = api::TolerationEqual(), .value = Symbol(value), .effect = Symbol(effect)});
    return false;
  }
  bool Uncordon(const std::string& name) {
    api::Node& node = world_.nodes.at(name);
    node.spec.unschedulable = false;
    std::erase_if(node.spec.taints, [](const api::Taint& taint) { return taint.key == Symbol(kCordon); });
    return false;
  }
  bool Label(const std::string& node, const std::string& key, const std::string& value) {
    world_.nodes.at(node).metadata.labels.Set(Symbol(key), Symbol(value));
    return false;
  }

  World& world_;
  const int64_t less_;
};

class RemediesTwinTest : public ::testing::Test {
 protected:
  SimulationReport Run(const World& world) {
    Simulation::Options options;
    options.explain = {"default/p"};
    auto made =
        Simulation::Create(world.Objects(), configuration, plugins::InTreeRegistry(), gates, std::move(options));
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return (*made)->Run();
  }

  // Whether that node accepts the pod, or does after preemption where that is the remedy.
  bool Takes(const World& world, const std::string& node, bool by_preemption) {
    const SimulationReport report = Run(world);
    if (by_preemption) return report.pods.front().outcome == PodOutcome::kScheduled && !report.preempted.empty();
    for (const explain::NodeVerdict& verdict : report.explanations.front().nodes) {
      // An eviction would have changed the node.
      if (verdict.node == node) return verdict.feasible() && report.preempted.empty();
    }
    return false;
  }

  config::FeatureGates gates;
  config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(gates);
};

TEST_F(RemediesTwinTest, EveryRemedyWorksAndNoLessDoes) {
  constexpr uint64_t kWorlds = 200;
  std::map<std::string, size_t> kinds;
  for (uint64_t seed = 1; seed <= kWorlds && !HasFailure(); ++seed) {
    const World world = RandomWorld(seed);
    const SimulationReport report = Run(world);
    if (report.pods.front().outcome == PodOutcome::kScheduled) continue;
    for (const explain::ProvenRemedy& remedy : report.explanations.front().remedies) {
      const std::string told =
          "seed " + std::to_string(seed) + ", " + remedy.node + ": " + ::testing::PrintToString(remedy.changes);
      const bool by_preemption = remedy.changes.front().find("would be evicted") != std::string::npos;
      World helped = world;
      for (const std::string& change : remedy.changes) {
        Words(helped).Follow(change);
        ++kinds[change.substr(0, change.find(' '))];
      }
      EXPECT_TRUE(Takes(helped, remedy.node, by_preemption)) << told;
      for (size_t i = 0; i < remedy.changes.size(); ++i) {
        World partly = world, less = world;
        bool has_number = false;
        for (size_t j = 0; j < remedy.changes.size(); ++j) {
          if (j != i) Words(partly).Follow(remedy.changes[j]);
          const bool number = Words(less, j == i ? 1 : 0).Follow(remedy.changes[j]);
          has_number = has_number || (j == i && number);
        }
        EXPECT_FALSE(Takes(partly, remedy.node, by_preemption)) << told << " without " << remedy.changes[i];
        if (!has_number) continue;
        EXPECT_FALSE(Takes(less, remedy.node, by_preemption)) << told << " and one less";
      }
    }
  }
  // Each kind has occurred.
  for (const char* kind :
       {"cpu", "memory", "tolerate", "uncordon", "label", "maxSkew", "minDomains", "no", "priority"}) {
    EXPECT_GT(kinds[kind], 0u) << kind;
  }
}

}  // namespace
}  // namespace berth::sim
