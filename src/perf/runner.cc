#include "perf/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "codec/gzip.h"
#include "config/feature_gate_table.h"
#include "config/load.h"
#include "perf/executor.h"
#include "perf/in_memory_cluster.h"

namespace berth::perf {

namespace {

constexpr char kHintsGate[] = "SchedulerQueueingHints";

std::string NameOf(const Chosen& chosen) { return chosen.test_case->name + "/" + chosen.workload->name; }

struct Gates {
  config::FeatureGates gates;
  bool queueing_hints = true;
};

// A gate that depends on a disabled one is disabled too, unless the file sets it, as in upstream's tests.
void SwitchOffDependents(const base::FlatMap<std::string, bool>& set, config::FeatureGates& gates) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const config::FeatureDependency& dependency : config::FeatureDependencies()) {
      if (set.Contains(std::string(dependency.gate)) || !gates.Enabled(dependency.gate)) continue;
      if (!gates.Enabled(dependency.needs) && gates.Set(dependency.gate, false)) changed = true;
    }
  }
}

// The workload's gates override those of its test case. Queueing hints are locked on in v1.36; upstream emulates v1.33
// to turn them off, which here means not calling the hints.
Result<Gates> MakeGates(const Chosen& chosen, std::vector<std::string>& notes) {
  base::FlatMap<std::string, bool> wanted = chosen.test_case->feature_gates;
  for (const auto& [name, enabled] : chosen.workload->feature_gates) wanted.Set(name, enabled);
  Gates gates;
  for (const auto& [name, enabled] : wanted) {
    if (name == kHintsGate && !enabled) {
      gates.queueing_hints = false;
      notes.push_back("SchedulerQueueingHints=false: hints are left out; other gates stay those of v1.36");
      continue;
    }
    if (Result<void> set = gates.gates.Set(name, enabled); !set) {
      return Error::Unsupported("featureGates: " + set.error().message);
    }
  }
  SwitchOffDependents(wanted, gates.gates);
  if (Result<void> valid = gates.gates.Validate(); !valid) return Error::InvalidArgument(valid.error().message);
  return gates;
}

Result<config::KubeSchedulerConfiguration> LoadConfiguration(const Suite& suite, const TestCase& test_case,
                                                             const config::FeatureGates& gates) {
  if (test_case.scheduler_config_path.empty()) return config::DefaultConfiguration(gates);
  const std::string path = suite.PathOf(test_case.scheduler_config_path);
  Result<std::string> text = codec::ReadFile(path);
  if (!text) return text.error();
  return config::LoadText(*text, gates, path);
}

Result<std::vector<Collection>> Run(const Suite& suite, const Chosen& chosen, const framework::Registry& registry,
                                    const RunOptions& options, std::vector<std::string>& notes, WayCounts& ways) {
  Result<std::vector<Operation>> operations = ResolveOperations(suite, *chosen.test_case, *chosen.workload);
  if (!operations) return operations.error();
  Result<Gates> gates = MakeGates(chosen, notes);
  if (!gates) {
    return Error{gates.error().code,
                 fmt::format("{}: {}", codec::Where(suite.file, chosen.workload->where), gates.error().message)};
  }
  Result<config::KubeSchedulerConfiguration> configuration = LoadConfiguration(suite, *chosen.test_case, gates->gates);
  if (!configuration) return configuration.error();
  Result<std::unique_ptr<InMemoryCluster>> cluster =
      InMemoryCluster::Create(*configuration, registry, gates->gates,
                              {.seed = options.seed,
                               .verify_incremental = options.verify_incremental,
                               .queueing_hints = gates->queueing_hints});
  if (!cluster) return cluster.error();
  Executor executor(suite, *chosen.test_case, *chosen.workload, *operations, **cluster,
                    {.topic = options.topic, .timeout = options.timeout});
  Result<std::vector<Collection>> collections = executor.Run();
  ways = (*cluster)->ways();
  return collections;
}

}  // namespace

bool LabelsMatch(std::string_view filter, const std::vector<std::string>& labels) {
  while (!filter.empty()) {
    const size_t comma = std::min(filter.find(','), filter.size());
    std::string_view label = filter.substr(0, comma);
    filter.remove_prefix(std::min(comma + 1, filter.size()));
    if (label.empty()) continue;
    const bool wanted = label.front() != '-';
    if (label.front() == '-' || label.front() == '+') label.remove_prefix(1);
    if ((std::find(labels.begin(), labels.end(), label) != labels.end()) != wanted) return false;
  }
  return true;
}

Result<std::vector<Chosen>> Choose(const Suite& suite, const RunOptions& options) {
  std::vector<Chosen> named;
  std::vector<std::string> unknown = options.workloads;
  for (const TestCase& test_case : suite.cases) {
    for (const Workload& workload : test_case.workloads) {
      const Chosen chosen{&test_case, &workload};
      const auto is_it = [&](const std::string& name) { return name == test_case.name || name == NameOf(chosen); };
      const bool wanted = std::any_of(options.workloads.begin(), options.workloads.end(), is_it);
      std::erase_if(unknown, is_it);
      if (wanted || options.workloads.empty()) named.push_back(chosen);
    }
  }
  if (!unknown.empty()) {
    std::vector<std::string> known;
    for (const TestCase& test_case : suite.cases) known.push_back(test_case.name);
    return Error::NotFound(fmt::format("{}: no test case or TestCase/Workload \"{}\"; test cases: {}", suite.file,
                                       unknown.front(), fmt::join(known, ", ")));
  }
  std::erase_if(named, [&](const Chosen& chosen) {
    std::vector<std::string> labels = chosen.test_case->labels;
    labels.insert(labels.end(), chosen.workload->labels.begin(), chosen.workload->labels.end());
    return !LabelsMatch(options.labels, labels);
  });
  if (named.empty()) {
    return Error::NotFound(fmt::format("{}: no workload has the labels \"{}\"", suite.file, options.labels));
  }
  return named;
}

WorkloadResult RunWorkload(const Suite& suite, const Chosen& chosen, const framework::Registry& registry,
                           const RunOptions& options) {
  WorkloadResult result;
  result.name = NameOf(chosen);
  Result<std::vector<Collection>> collections = Run(suite, chosen, registry, options, result.notes, result.ways);
  if (collections) {
    result.collections = std::move(*collections);
  } else {
    result.error = collections.error();
  }
  return result;
}

std::string TopicOf(const std::string& file) {
  std::error_code ignored;
  std::string topic = std::filesystem::absolute(file, ignored).lexically_normal().parent_path().filename().string();
  std::erase(topic, '_');
  return topic;
}

}  // namespace berth::perf
