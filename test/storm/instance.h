// Instance: one life of the scheduler under test, from start to crash or exit. The storm gives it a process, a network
// and a trace, and looks at what it makes of the cluster.
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
#include "storm/network.h"
#include "storm/plan.h"
#include "storm/process.h"
#include "storm/trace.h"

namespace berth::storm {

// What an instance was given. All of it outlives the instance.
struct InstanceOptions {
  Process& process;
  Network& network;
  Trace& trace;
  uint64_t seed;  // of this life
  const Plan& plan;
  // Has to be called once, when the program would have exited by itself: the lease was lost, or Terminate has been
  // obeyed. The instance is destroyed some time later and a new one is started.
  std::function<void()> on_exit;
  // For what only the instance can see.
  std::function<void(std::string invariant, std::string message, std::vector<std::string> subjects)> report;
};

// By kind and "namespace/name": UID and resourceVersion.
using Picture = std::map<std::pair<api::Kind, std::string>, std::pair<std::string, std::string>>;

// Destroying an instance is a crash: nothing is sent, no callback comes any more.
class Instance {
 public:
  virtual ~Instance() = default;

  virtual void Start() = 0;
  // SIGTERM.
  virtual void Terminate() = 0;

  // Its name in the lease.
  virtual const std::string& identity() const = 0;
  virtual bool is_leader() const = 0;
  // Every object it believes to exist, as it has been told last.
  virtual Picture picture() const = 0;
  // Where the API must say that pending pods are nominated to, by UID; those without are left out. Unset: it has no
  // say.
  virtual std::optional<std::map<std::string, std::string>> nominations() const { return std::nullopt; }
  // What it is still busy with, a line each: tickets, assumed pods, in-flight events, waiting writes, timers beyond
  // those that always run. Empty once the world is quiet.
  virtual std::vector<std::string> Leftovers() const = 0;
  // Connections that did not survive a partition.
  virtual void BreakConnections() = 0;
  // Watches become half-open: nothing comes any more, and no error.
  virtual void SilenceWatches() = 0;
};

// What kind of scheduler a storm is about.
struct Scheduler {
  std::function<std::unique_ptr<Instance>(const InstanceOptions& options)> make;
  // Makes room for urgent pods.
  bool preempts = true;
  // Finds devices for claims.
  bool allocates = true;
};

// The scheduler of `berth scheduler`: its scheduling loop, driver, plugins and client, on virtual loops and fibers.
Scheduler LiveScheduler();

// Mistakes that a scheduler can be made to make, to see that storms find them.
enum class Defect : uint8_t {
  kNone,
  kIgnoresLease,        // writes whenever it has started to
  kDoesNotReport,       // that a pod fits nowhere
  kSleepsThroughNodes,  // does not look again when nodes change
};

// The first-fit scheduler of first_fit.cc, which proves the model: reflectors, elector, recorder and client are real.
Scheduler FirstFitScheduler(Defect defect = Defect::kNone);

}  // namespace berth::storm
