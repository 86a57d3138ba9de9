// Executor: runs the operations of one workload against an InMemoryCluster, one after another, in real time. While an
// operation waits, pods are scheduled and background operations (churn, slow deletions) continue.
// Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/collector.h"
#include "perf/config.h"
#include "perf/in_memory_cluster.h"
#include "perf/object_templates.h"

namespace berth::perf {

class Executor {
 public:
  struct Options {
    std::string topic;
    base::Duration timeout = std::chrono::minutes(10);  // of the whole workload
  };

  // All must outlive the executor. `operations` come from ResolveOperations.
  Executor(const Suite& suite, const TestCase& test_case, const Workload& workload,
           const std::vector<Operation>& operations, InMemoryCluster& cluster, Options options);

  // Call once. The error names the operation, its position in the file, and what it waited for.
  Result<std::vector<Collection>> Run();

 private:
  // Something that happens periodically beside the operations.
  struct Ticker {
    base::Duration interval{};
    base::Time next{};
    // Returns false if this was the last time.
    std::function<Result<bool>()> tick;
    std::shared_ptr<bool> done = std::make_shared<bool>(false);
  };
  using Condition = std::function<bool()>;

  Result<void> RunOne(const Operation& operation);
  Result<void> CreateAny(const Operation& operation);
  Result<void> CreateNamespaces(const Operation& operation);
  Result<void> CreateNodes(const Operation& operation);
  Result<void> CreatePods(const Operation& operation);
  Result<void> UpdateAny(const Operation& operation);
  Result<void> DeletePods(const Operation& operation);
  Result<void> Churn(const Operation& operation);
  Result<void> Barrier(const Operation& operation);
  Result<void> Sleep(const Operation& operation);
  Result<void> CreateResourceClaims(const Operation& operation);
  Result<void> CreateResourceDriver(const Operation& operation);
  Result<void> StartCollecting(std::string_view name, const std::vector<std::string>& namespaces,
                               const base::FlatMap<std::string, std::string>& labels);
  Result<void> StopCollecting();

  // The objects of one createPods, ready to be created: for each pod its claim and volume, then itself.
  Result<std::vector<api::Object>> PreparePods(const Operation& operation, const std::string& name_space);
  Result<void> AddVolume(const Operation& operation, const std::string& name_space, int64_t index, api::Pod& pod,
                         std::vector<api::Object>& objects);
  // Creates them in small batches, scheduling in between, as if they arrived from the API.
  Result<void> HandOver(const std::vector<api::Object>& objects);
  Result<void> CreateSteadily(const Operation& operation, const std::string& name_space);
  Result<api::Node> PrepareNode(const Operation& operation, int64_t index);
  Result<void> AddCsiNode(const NodeAllocatableStrategy& strategy, const std::string& node_name);
  Result<api::Object> MakeAny(const std::string& path, const std::optional<std::string>& name_space, int64_t index,
                              int64_t count);
  Result<void> EnsureNamespace(const std::string& name);
  std::string NamespaceOf(const Operation& operation) const;

  // Schedules until `done`. `what` describes what is waited for, for the error if it does not happen.
  Result<void> RunUntil(const Condition& done, const std::function<std::string()>& what);
  Result<void> WaitForPods(std::vector<std::string> namespaces, const base::FlatMap<std::string, std::string>& labels,
                           PodStage stage, int64_t wanted);
  // Does what is due beside scheduling; fails when the workload has timed out.
  Result<void> LookAround(const std::function<std::string()>& what);
  Result<void> FireTickers();
  std::optional<base::Time> NextTick() const;
  std::shared_ptr<bool> StartTicker(base::Duration interval, std::function<Result<bool>()> tick);
  Error AtOperation(const Error& error) const;

  const Suite& suite_;
  const TestCase& test_case_;
  const Workload& workload_;
  const std::vector<Operation>& operations_;
  InMemoryCluster& cluster_;
  const Options options_;
  const base::Time deadline_;
  size_t current_ = 0;  // operation
  ObjectTemplates templates_;
  std::vector<Ticker> tickers_;
  std::map<std::string, int64_t> pods_wanted_;  // by namespace: created with skipWaitToCompletion
  std::unique_ptr<Collector> collector_;
  std::vector<Collection> collections_;
};

}  // namespace berth::perf
