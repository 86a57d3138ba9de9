// What the fuzzers run: arbitrary text as the input of a simulation. It must neither crash nor hang; what is accepted
// is scheduled, and every pending pod is reported once. The same runs over seeded mutations in fuzz_targets_test.cc.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/pod.h"
#include "base/check.h"
#include "config/load.h"
#include "input/input.h"
#include "plugins/registry.h"
#include "sim/simulation.h"

namespace berth::sim {

// A short text can ask for many pods, and many pods take much time.
inline constexpr size_t kMostFuzzedObjects = 60;
inline constexpr size_t kMostFuzzedBytes = size_t{64} << 10;

inline size_t CountPending(const input::ClusterInput& input) {
  return static_cast<size_t>(std::count_if(input.objects.begin(), input.objects.end(), [](const api::Object& object) {
    const auto* pod = object.As<api::Pod>();
    return pod && pod->spec.node_name.empty() && !api::IsTerminated(*pod);
  }));
}

// Reads, expands, admits and simulates, as `berth simulate -f -` does; an input that yields a large cluster stops after
// reading.
inline void FuzzSimulate(std::string_view input) {
  if (input.size() > kMostFuzzedBytes) return;
  input::InputChanges changes;
  changes.most_pods_made = kMostFuzzedObjects;
  const Result<input::ClusterInput> cluster =
      input::ReadClusterTexts({{"input", std::string(input)}}, std::move(changes), 1);
  if (!cluster) {
    CHECK(!cluster.error().message.empty());
    return;
  }
  if (cluster->objects.size() > kMostFuzzedObjects) return;
  const config::FeatureGates gates;
  Result<std::unique_ptr<Simulation>> simulation =
      Simulation::Create(cluster->objects, config::DefaultConfiguration(gates), plugins::InTreeRegistry(), gates, {});
  CHECK(simulation.ok());
  const SimulationReport report = (*simulation)->Run();
  CHECK(report.pods.size() == CountPending(*cluster));
  std::set<std::string> keys;
  for (const PodReport& pod : report.pods) CHECK(keys.insert(pod.key).second);
}

}  // namespace berth::sim
