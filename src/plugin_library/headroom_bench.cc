// The cost per node of a filter and a score in a library, compared with the same rules compiled in.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/check.h"
#include "plugin_library/library.h"
#include "plugin_library/testdata/headroom.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::plugin_library {
namespace {

using framework::CycleState;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

class CompiledIn final : public framework::Plugin, public framework::FilterPlugin, public framework::ScorePlugin {
 public:
  explicit CompiledIn(framework::Handle& handle) : handle_(handle) {}
  std::string_view name() const override { return "Headroom"; }

  Status Filter(const CycleState&, const PodInfo& pod, const NodeInfo& node) const override {
    const Symbol* zone = node.labels().Find(zone_);
    const Symbol* wanted = pod.labels().Find(zone_);
    const bool same = zone && wanted && *zone == *wanted;
    const uint8_t verdict =
        headroom::Judge(node.allocatable().memory, node.requested().memory, pod.requests().memory, same);
    return verdict == 0 ? Status::Success() : reasons_[verdict - 1];
  }
  bool FilterRange(const CycleState&, const PodInfo& pod, const NodeColumns& columns, NodeIndex begin,
                   std::span<uint8_t> verdicts) const override {
    const framework::LabelColumn& zones = handle_.cluster().label_column(zone_);
    const Symbol* wanted = pod.labels().Find(zone_);
    const int64_t needed = pod.requests().memory;
    headroom::ZoneId zone;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const size_t node = begin + i;
      const bool same = zone.Is(zones.value_id[node],
                                [&](int32_t id) { return wanted && zones.values[static_cast<size_t>(id)] == *wanted; });
      verdicts[i] = headroom::Judge(columns.allocatable_memory[node], columns.requested_memory[node], needed, same);
    }
    return true;
  }

  framework::ScoreResult Score(const CycleState&, const PodInfo& pod, const NodeInfo& node) const override {
    return headroom::Points(node.allocatable().memory, node.requested().memory, pod.requests().memory);
  }
  bool ScoreRange(const CycleState&, const PodInfo& pod, const NodeColumns& columns, NodeIndex begin,
                  std::span<int64_t> scores) const override {
    const int64_t needed = pod.requests().memory;
    for (size_t i = 0; i < scores.size(); ++i) {
      scores[i] = headroom::Points(columns.allocatable_memory[begin + i], columns.requested_memory[begin + i], needed);
    }
    return true;
  }

 private:
  framework::Handle& handle_;
  Symbol zone_{"zone"};
  Status reasons_[2] = {Status::Unschedulable("too little memory"),
                        Status::UnschedulableAndUnresolvable("another zone")};
};

// One cluster and both plugins, for all benchmarks.
struct Bench {
  static constexpr size_t kNodes = 5000;

  Bench() {
    for (size_t i = 0; i < kNodes; ++i) {
      handle.cluster().AddNode(
          testing::MakeNode(fmt::format("node-{}", i))
              .Capacity("memory", "64Gi")
              .Capacity("pods", "110")
              .Label("zone", i % 3 == 0   ? "a"
                             : i % 3 == 1 ? "b"
                                          : "c"),
          {testing::MakePod(fmt::format("pod-{}", i)).Request("memory", fmt::format("{}Gi", i % 64)).Info()});
    }
    framework::Registry registry;
    const Result<void> loaded = LoadInto(registry, {BERTH_HEADROOM_LIBRARY});
    CHECK_WHY(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
    auto made = (*registry.Find("Headroom"))({}, handle);
    CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
    library = std::move(*made);
  }
  static Bench& Get() {
    static Bench bench;
    return bench;
  }
  const framework::Plugin& Plugin(bool from_library) const {
    if (from_library) return *library;
    return compiled_in;
  }

  testing::FakeHandle handle;
  CompiledIn compiled_in{handle};
  std::unique_ptr<framework::Plugin> library;
  framework::PodInfoPtr pod = testing::MakePod("p").Request("memory", "4Gi").Label("zone", "b").Info();
  CycleState state;
};

void PerNode(benchmark::State& state, size_t nodes) {
  state.SetLabel(state.range(0) ? "library" : "compiled in");
  state.counters["per_node"] = benchmark::Counter(
      static_cast<double>(nodes), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// All nodes in one call, as when a lane is built.
void FilterAndScoreAll(benchmark::State& state) {
  Bench& bench = Bench::Get();
  const framework::Plugin& plugin = bench.Plugin(state.range(0) != 0);
  const auto& filter = dynamic_cast<const framework::FilterPlugin&>(plugin);
  const auto& score = dynamic_cast<const framework::ScorePlugin&>(plugin);
  std::vector<uint8_t> verdicts(Bench::kNodes);
  std::vector<int64_t> scores(Bench::kNodes);
  const NodeColumns& columns = bench.handle.cluster().columns();
  for (auto _ : state) {
    CHECK(filter.FilterRange(bench.state, *bench.pod, columns, 0, verdicts));
    CHECK(score.ScoreRange(bench.state, *bench.pod, columns, 0, scores));
    benchmark::DoNotOptimize(verdicts.data());
    benchmark::DoNotOptimize(scores.data());
    benchmark::ClobberMemory();
  }
  PerNode(state, Bench::kNodes);
}
BENCHMARK(FilterAndScoreAll)->Arg(0)->Arg(1);

// Some nodes that have changed, as when a lane catches up.
void FilterAndScoreList(benchmark::State& state) {
  Bench& bench = Bench::Get();
  const framework::Plugin& plugin = bench.Plugin(state.range(0) != 0);
  const auto& filter = dynamic_cast<const framework::FilterPlugin&>(plugin);
  const auto& score = dynamic_cast<const framework::ScorePlugin&>(plugin);
  std::vector<NodeIndex> nodes(static_cast<size_t>(state.range(1)));
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<NodeIndex>(i * 61 % Bench::kNodes);
  std::vector<uint8_t> verdicts(nodes.size());
  std::vector<int64_t> scores(nodes.size());
  const NodeColumns& columns = bench.handle.cluster().columns();
  for (auto _ : state) {
    filter.FilterList(bench.state, *bench.pod, columns, nodes, verdicts);
    CHECK(score.ScoreList(bench.state, *bench.pod, columns, nodes, scores));
    benchmark::DoNotOptimize(verdicts.data());
    benchmark::DoNotOptimize(scores.data());
    benchmark::ClobberMemory();
  }
  PerNode(state, nodes.size());
}
BENCHMARK(FilterAndScoreList)->ArgsProduct({{0, 1}, {1, 64}});

// Node by node, as when nothing may be cached.
void FilterAndScoreRows(benchmark::State& state) {
  Bench& bench = Bench::Get();
  const framework::Plugin& plugin = bench.Plugin(state.range(0) != 0);
  const auto& filter = dynamic_cast<const framework::FilterPlugin&>(plugin);
  const auto& score = dynamic_cast<const framework::ScorePlugin&>(plugin);
  for (auto _ : state) {
    for (const NodeInfo* node : bench.handle.cluster().nodes()) {
      benchmark::DoNotOptimize(filter.Filter(bench.state, *bench.pod, *node));
      benchmark::DoNotOptimize(score.Score(bench.state, *bench.pod, *node));
    }
  }
  PerNode(state, Bench::kNodes);
}
BENCHMARK(FilterAndScoreRows)->Arg(0)->Arg(1);

}  // namespace
}  // namespace berth::plugin_library
