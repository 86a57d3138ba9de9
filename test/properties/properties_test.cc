#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/testing/picture.h"
#include "engine/evaluator.h"
#include "properties/random_cluster.h"

namespace berth::properties {
namespace {

using engine::Evaluation;
using engine::Scope;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

std::vector<uint32_t> SomeVarieties(size_t count) {
  return *rc::gen::container<std::vector<uint32_t>>(count, AnyVariety());
}

std::vector<PodInfoPtr> SomeShapes(size_t count) {
  std::vector<PodInfoPtr> shapes;
  for (const uint32_t variety : SomeVarieties(count)) {
    shapes.push_back(PodOf("asked" + std::to_string(shapes.size()), variety).Info());
  }
  return shapes;
}

// Calls `look` after the first nodes and after every change of a random history.
template <class Look>
void WatchAHistory(RandomCluster& world, size_t longest, Look&& look, size_t first_nodes = 4) {
  world.AddFirstNodes(SomeVarieties(first_nodes));
  const std::vector<Change> history = *AnyHistory(longest);
  look();
  for (const Change& change : history) {
    world.Apply(change);
    look();
  }
}

Evaluation FromScratch(RandomCluster& world, const PodInfo& pod, Scope scope) {
  CycleState state = world.profile().NewCycleState();
  return EvaluateFromScratch(world.profile(), state, pod, scope);
}

// Empty if the decision is one that an evaluation of every node could have made.
std::string FirstMistake(const engine::Evaluator::Decision& decision, const Evaluation& expected,
                         std::span<const NodeInfo* const> nodes) {
  using Kind = engine::Evaluator::Decision::Kind;
  if (decision.kind == Kind::kAskEvaluate) return {};
  if (!expected.error.ok()) return "decided although there is trouble: " + expected.error.Message();
  if ((decision.kind == Kind::kNoFit) != expected.feasible.empty()) return "whether anything fits";
  if (decision.kind == Kind::kNoFit) return engine::FirstDifference(decision.diagnosis, expected.diagnosis, nodes);
  if (decision.choice.feasible != expected.feasible.size()) return "number of feasible nodes";
  if (decision.choice.ties != expected.best.size()) return "number of best nodes";
  for (const uint32_t position : expected.best) {
    if (expected.feasible[position] != decision.choice.node) continue;
    const int64_t total = expected.totals.empty() ? 0 : expected.totals[position];
    return decision.choice.total == total ? "" : "total of the chosen node";
  }
  return "chose " + decision.choice.node->name() + ", which is not among the best";
}

RC_GTEST_PROP(Evaluator, ADecisionIsOneOfTheBest, ()) {
  RandomCluster world;
  // Room for all shapes, and for too few: used in turn, each is then evicted before its next turn.
  engine::Evaluator evaluator(world.profile(), world.cluster(), {.max_kept = *rc::gen::element<size_t>(3, 64, 64)});
  base::Random random(1);
  const std::vector<PodInfoPtr> shapes = SomeShapes(4);
  const auto look = [&] {
    for (const PodInfoPtr& pod : shapes) {
      const engine::Evaluator::Decision decision = evaluator.Decide(*pod, random);
      RC_ASSERT(FirstMistake(decision, FromScratch(world, *pod, Scope::kDecide), world.cluster().nodes()) ==
                std::string());
    }
  };
  // With enough nodes for replaying changes to pay off, and with few.
  WatchAHistory(world, 40, look, *rc::gen::element<size_t>(4, 14));
}

// A pass over all nodes must equal a choice by class: with the same random numbers both choose the same node.
RC_GTEST_PROP(Evaluator, ClassesMakeNoDifference, ()) {
  RandomCluster world;
  engine::Evaluator by_class(world.profile(), world.cluster(), {.runner_ups = true});
  engine::Evaluator by_pass(world.profile(), world.cluster(), {.runner_ups = true, .by_class = false});
  base::Random of_classes(1);
  base::Random of_passes(1);
  const std::vector<PodInfoPtr> shapes = SomeShapes(3);
  const auto look = [&] {
    for (const PodInfoPtr& pod : shapes) {
      const engine::Evaluator::Decision mine = by_class.Decide(*pod, of_classes);
      const engine::Evaluator::Decision twin = by_pass.Decide(*pod, of_passes);
      RC_ASSERT(mine.kind == twin.kind);
      if (mine.kind != engine::Evaluator::Decision::Kind::kChosen) continue;
      RC_ASSERT(mine.choice.node == twin.choice.node);
      RC_ASSERT(mine.choice.total == twin.choice.total);
      RC_ASSERT(mine.choice.feasible == twin.choice.feasible);
      RC_ASSERT(mine.choice.ties == twin.choice.ties);
      RC_ASSERT(mine.runner_up.node == twin.runner_up.node);
      RC_ASSERT(mine.runner_up.total == twin.runner_up.total);
    }
  };
  WatchAHistory(world, 60, look, *rc::gen::element<size_t>(4, 14));
}

RC_GTEST_PROP(Cluster, ColumnsSayWhatRowsSay, ()) {
  RandomCluster world;
  const std::vector<Symbol> keys{Symbol("zone"), Symbol("disk"), Symbol("kubernetes.io/hostname")};
  WatchAHistory(world, 60,
                [&] { RC_ASSERT(cluster::testing::FirstDisagreement(world.cluster(), keys) == std::string()); });
}

bool PortsAreTaken(const NodeInfo& node, const PodInfo& pod) {
  return std::any_of(pod.host_ports().begin(), pod.host_ports().end(),
                     [&](const framework::HostPort& port) { return node.used_ports().Conflicts(port); });
}

RC_GTEST_PROP(Cluster, ForgettingUndoesAssuming, ()) {
  RandomCluster world;
  const std::vector<PodInfoPtr> shapes = SomeShapes(3);
  WatchAHistory(world, 30, [&] {
    const std::string before = cluster::testing::Picture(world.cluster());
    {
      std::vector<cluster::AssumedPod> assumed;
      for (const PodInfoPtr& pod : shapes) {
        for (const NodeInfo* node : world.cluster().nodes()) {
          if (PortsAreTaken(*node, *pod)) continue;
          Result<cluster::AssumedPod> one = world.cluster().Assume(pod, node->name(), base::Ticket{1});
          RC_ASSERT(one.ok());
          assumed.push_back(std::move(*one));
          break;
        }
      }
    }
    RC_ASSERT(cluster::testing::Picture(world.cluster()) == before);
  });
}

RC_GTEST_PROP(Scores, LieBetween0And100, ()) {
  RandomCluster world;
  const std::vector<PodInfoPtr> shapes = SomeShapes(4);
  std::map<std::string_view, const engine::Enabled<framework::ScorePlugin>*> plugins;
  for (const auto& score : world.profile().scores()) plugins[score.name] = &score;
  WatchAHistory(world, 20, [&] {
    for (const PodInfoPtr& pod : shapes) {
      const Evaluation evaluation = FromScratch(world, *pod, Scope::kEverything);
      RC_ASSERT(evaluation.error.Message() == std::string());
      for (const engine::PluginScores& scores : evaluation.scores) {
        const auto& plugin = *plugins.at(scores.plugin);
        for (size_t i = 0; i < scores.raw.size(); ++i) {
          RC_ASSERT(scores.weighted[i] % plugin.weight == 0);
          RC_ASSERT(scores.weighted[i] / plugin.weight >= 0);
          RC_ASSERT(scores.weighted[i] / plugin.weight <= 100);
          if (plugin.plugin->normalization() == framework::Normalization::kNone)
            RC_ASSERT(scores.raw[i] * plugin.weight == scores.weighted[i]);
        }
      }
    }
  });
}

// What a pod of PodOf occupies, computed again from its spec alone.
struct Needs {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t gpu = 0;
  std::vector<api::ContainerPort> ports;

  explicit Needs(const api::Pod& pod) {
    const auto amount = [](const api::Container& container, const char* resource, bool milli) -> int64_t {
      const api::Quantity* quantity = container.resources.requests.Find(Symbol(resource));
      return !quantity ? 0 : milli ? quantity->MilliValue() : quantity->Value();
    };
    for (const api::Container& container : pod.spec.containers) {
      milli_cpu += amount(container, "cpu", true);
      memory += amount(container, "memory", false);
      gpu += amount(container, "example.com/gpu", false);
      for (const api::ContainerPort& port : container.ports) {
        if (port.host_port > 0) ports.push_back(port);
      }
    }
    for (const api::Container& container : pod.spec.init_containers)
      milli_cpu = std::max(milli_cpu, amount(container, "cpu", true));
  }
};

bool Clash(const api::ContainerPort& a, const api::ContainerPort& b) {
  const auto any = [](const std::string& ip) { return ip.empty() || ip == "0.0.0.0"; };
  return a.host_port == b.host_port && a.protocol == b.protocol &&
         (any(a.host_ip) || any(b.host_ip) || a.host_ip == b.host_ip);
}

// Empty if the node has what the pod needs besides the pods already there.
std::string Missing(const RandomCluster& world, const api::Node& node, const api::Pod& pod) {
  const Needs needs(pod);
  int64_t milli_cpu = needs.milli_cpu, memory = needs.memory, gpu = needs.gpu, pods = 1;
  for (const auto& [uid, other] : world.bound_pods()) {
    if (other->spec.node_name != node.metadata.name) continue;
    const Needs taken(*other);
    milli_cpu += taken.milli_cpu;
    memory += taken.memory;
    gpu += taken.gpu;
    ++pods;
    for (const api::ContainerPort& port : taken.ports) {
      for (const api::ContainerPort& wanted : needs.ports) {
        if (Clash(port, wanted)) return "a port";
      }
    }
  }
  const auto room = [&](const char* resource, bool milli) -> int64_t {
    const api::Quantity* quantity = node.status.allocatable.Find(Symbol(resource));
    return !quantity ? 0 : milli ? quantity->MilliValue() : quantity->Value();
  };
  if (needs.milli_cpu > 0 && milli_cpu > room("cpu", true)) return "cpu";
  if (needs.memory > 0 && memory > room("memory", false)) return "memory";
  if (needs.gpu > 0 && gpu > room("example.com/gpu", false)) return "gpu";
  if (pods > room("pods", false)) return "a place";
  return {};
}

RC_GTEST_PROP(Filters, AFeasibleNodeHasTheRoom, ()) {
  RandomCluster world;
  const std::vector<PodInfoPtr> shapes = SomeShapes(4);
  WatchAHistory(world, 30, [&] {
    for (const PodInfoPtr& pod : shapes) {
      for (const NodeInfo* node : FromScratch(world, *pod, Scope::kEverything).feasible) {
        RC_ASSERT(Missing(world, *world.nodes().at(node->name()), pod->pod()) == std::string());
      }
    }
  });
}

// In reverse order: a list has no particular order.
std::vector<framework::NodeIndex> IndicesOf(std::span<const NodeInfo* const> nodes) {
  std::vector<framework::NodeIndex> indices;
  for (const NodeInfo* node : nodes) indices.insert(indices.begin(), node->index());
  return indices;
}

void FilterRangesAgree(RandomCluster& world, const CycleState& state, const PodInfo& pod) {
  const auto nodes = world.cluster().nodes();
  for (const auto& filter : world.profile().filters()) {
    if ((state.skip_filter >> filter.id) & 1) continue;
    std::vector<uint8_t> verdicts(world.cluster().columns().size(), framework::FilterPlugin::kAskFilter);
    if (!filter.plugin->FilterRange(state, pod, world.cluster().columns(), 0, verdicts)) continue;
    std::map<uint8_t, Status> by_verdict;
    const std::vector<framework::NodeIndex> list = IndicesOf(nodes);
    std::vector<uint8_t> listed(list.size());
    filter.plugin->FilterList(state, pod, world.cluster().columns(), list, listed);
    for (size_t i = 0; i < list.size(); ++i) RC_ASSERT(listed[i] == verdicts[list[i]]);
    for (const NodeInfo* node : nodes) {
      const uint8_t verdict = verdicts[node->index()];
      if (verdict == framework::FilterPlugin::kAskFilter) continue;
      const Status status = filter.plugin->Filter(state, pod, *node);
      RC_LOG() << filter.name << " on " << node->name() << ": verdict " << int{verdict}
               << ", Filter: " << status.Message() << "\n";
      RC_ASSERT((verdict == 0) == status.ok());
      RC_ASSERT(by_verdict.emplace(verdict, status).first->second == status);
    }
  }
}

void ScoreRangesAgree(RandomCluster& world, const CycleState& state, const PodInfo& pod) {
  for (const auto& score : world.profile().scores()) {
    if ((state.skip_score >> score.id) & 1) continue;
    std::vector<int64_t> scores(world.cluster().columns().size(), -1);
    if (!score.plugin->ScoreRange(state, pod, world.cluster().columns(), 0, scores)) continue;
    const std::vector<framework::NodeIndex> list = IndicesOf(world.cluster().nodes());
    std::vector<int64_t> listed(list.size());
    RC_ASSERT(score.plugin->ScoreList(state, pod, world.cluster().columns(), list, listed));
    for (size_t i = 0; i < list.size(); ++i) RC_ASSERT(listed[i] == scores[list[i]]);
    for (const NodeInfo* node : world.cluster().nodes()) {
      const framework::ScoreResult result = score.plugin->Score(state, pod, *node);
      if (!result.status.ok()) continue;
      RC_LOG() << score.name << " on " << node->name() << ": range " << scores[node->index()]
               << ", Score: " << result.score << "\n";
      RC_ASSERT(scores[node->index()] == result.score);
    }
  }
}

RC_GTEST_PROP(Plugins, ColumnPassesAgreeWithRows, ()) {
  RandomCluster world;
  const std::vector<PodInfoPtr> shapes = SomeShapes(4);
  WatchAHistory(world, 30, [&] {
    for (const PodInfoPtr& pod : shapes) {
      CycleState state = world.profile().NewCycleState();
      if (!world.profile().RunPreFilter(state, *pod).status.ok()) continue;
      FilterRangesAgree(world, state, *pod);
      if (world.profile().RunPreScore(state, *pod, world.cluster().nodes()).ok()) ScoreRangesAgree(world, state, *pod);
    }
  });
}

}  // namespace
}  // namespace berth::properties
