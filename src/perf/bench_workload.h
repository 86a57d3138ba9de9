// BenchWorkload: the cluster and the pods of one kind of engine benchmark.
//
// Nodes have 32 cpu, 128Gi, 110 pods, a hostname label and one of three zones. Pods request 100m and 500Mi and have the
// label app=load; each kind adds its own.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/pod.h"
#include "base/random.h"
#include "base/result.h"
#include "perf/bench_run.h"
#include "scheduler/driver.h"

namespace berth::perf {

// The API server reports it as new or changed.
template <class T>
void PutObject(T object, scheduler::Driver& driver) {
  driver.Put(api::Object(std::make_shared<const T>(std::move(object))));
}

class BenchWorkload {
 public:
  static std::vector<std::string_view> Kinds();
  static Result<std::unique_ptr<BenchWorkload>> Create(const EngineBenchOptions& options);

  // Nodes, and the objects that pods refer to.
  void FillNodes(scheduler::Driver& driver);
  // The pods that run before the start. Their number, and how long it took to make them before adding them.
  struct Existing {
    uint64_t pods = 0;
    std::chrono::duration<double> making{};
  };
  Existing FillPods(scheduler::Driver& driver);
  static std::string UidOf(uint64_t number);
  std::shared_ptr<const api::Pod> Pod(uint64_t number) const;
  // Changes the cluster before pod `number` arrives.
  void Disturb(uint64_t number, scheduler::Driver& driver);
  // Pod `number` is deleted, if it has a node.
  static void EndPod(uint64_t number, scheduler::Driver& driver);

 private:
  struct Kind {
    std::string_view name;
    void (*shape)(uint64_t number, api::Pod& pod);
  };
  static const std::vector<Kind>& Table();

  BenchWorkload(const EngineBenchOptions& options, const Kind& kind)
      : options_(options), kind_(kind), random_(options.seed) {}
  std::shared_ptr<const api::Node> Node(uint64_t number) const;
  api::Pod MakePod(uint64_t number) const;
  // A running pod; the nodes are full of them if the kind is about preemption.
  std::shared_ptr<const api::Pod> ExistingPod(uint64_t number) const;

  const EngineBenchOptions options_;
  const Kind& kind_;
  base::Random random_;
  uint64_t next_node_ = 0;
};

}  // namespace berth::perf
