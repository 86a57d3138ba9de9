// Instance: one life of the scheduler under test, from start to crash or exit. The storm gives it a process, a network
// and a trace, and checks what it does to the cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kind.h"
#include "storm/fit.h"
#include "storm/network.h"
#include "storm/plan.h"
#include "storm/process.h"
#include "storm/trace.h"

namespace berth::storm {

// A binding, and what had been known when it was decided: every change of nodes and pods up to these revisions.
struct SentBinding {
  std::string uid;  // of the pod
  std::string node;
  uint64_t nodes_seen = 0;
  uint64_t pods_seen = 0;
  base::Duration age{};  // since it was decided
  // An earlier binding of the pod has succeeded, and the process has been told: what was known when that was decided.
  std::optional<uint64_t> bound_knowing{};
};

// What an instance is given. All of it outlives the instance.
struct InstanceOptions {
  Process& process;
  Network& network;
  Trace& trace;
  uint64_t seed;  // of this life
  const Plan& plan;
  // Must be called once, when the program would exit by itself: because the lease was lost, or after Terminate. The
  // instance is destroyed some time later and a new one is started.
  std::function<void()> on_exit;
  // For invariants that only the instance can check.
  std::function<void(std::string invariant, std::string message, std::vector<std::string> subjects)> report;
  // Called right before a binding is sent. One that does not call it is judged more mildly.
  std::function<void(const SentBinding& binding)> on_binding;
};

// By kind and "namespace/name": UID and resourceVersion.
using Picture = std::map<std::pair<api::Kind, std::string>, std::pair<std::string, std::string>>;

// Destroying an instance is a crash: nothing more is sent, and no callback is called.
class Instance {
 public:
  virtual ~Instance() = default;

  virtual void Start() = 0;
  // SIGTERM.
  virtual void Terminate() = 0;

  // Its name in the lease.
  virtual const std::string& identity() const = 0;
  virtual bool is_leader() const = 0;
  // Whether its caches are full, and a watch is enough to keep them so.
  virtual bool has_synced() const { return false; }
  // Every object that it believes to exist, as last reported.
  virtual Picture picture() const = 0;
  // What it believes pods to take of each node, without the nodes where there are none. Unset: it does not count.
  virtual std::optional<std::map<std::string, Amounts>> usage() const { return std::nullopt; }
  // The nominations of pending pods that the API must show, by UID; pods without one are omitted. Unset: this scheduler
  // does not nominate.
  virtual std::optional<std::map<std::string, std::string>> nominations() const { return std::nullopt; }
  // The message of the condition that it has sent last for the pod with this UID, since it leads; unset if there is
  // none.
  virtual std::optional<std::string> LastReport(const std::string&) const { return std::nullopt; }
  // What it is still working on, one line each: tickets, assumed pods, in-flight events, waiting writes, timers other
  // than those that always run. Empty once the world is quiet.
  virtual std::vector<std::string> Leftovers() const = 0;
  // Breaks connections, as a partition may.
  virtual void BreakConnections() = 0;
  // Watches become half-open: nothing arrives any more, and no error.
  virtual void SilenceWatches() = 0;
};

// The scheduler under test.
struct Scheduler {
  std::function<std::unique_ptr<Instance>(const InstanceOptions& options)> make;
  // Whether it preempts for pods of higher priority.
  bool preempts = true;
  // Whether it allocates devices to claims.
  bool allocates = true;
};

// The scheduler of `berth scheduler`: its scheduling loop, driver, plugins and client, on virtual loops and fibers.
Scheduler LiveScheduler();

// Bugs that a scheduler can be given, to verify that storms find them.
enum class Defect : uint8_t {
  kNone,
  kIgnoresLease,        // writes whenever it has started to
  kDoesNotReport,       // that a pod is unschedulable
  kSleepsThroughNodes,  // does not try pods again when nodes change
};

// The first-fit scheduler of first_fit.cc, which validates the model: reflectors, elector, recorder and client are
// real.
Scheduler FirstFitScheduler(Defect defect = Defect::kNone);

}  // namespace berth::storm
