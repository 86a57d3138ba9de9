// The extension points. A plugin derives from Plugin and from the interfaces of the points it implements; the profile
// discovers which. One instance serves one profile for the profile's whole life.
//
// Threads: QueueSort through Permit run on the scheduling thread (Filter and Score possibly on several threads at once
// for one pod, hence const); PreBind, Bind and PostBind run off it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "framework/cycle_state.h"
#include "framework/events.h"
#include "framework/node_columns.h"
#include "framework/node_info.h"
#include "framework/pod_info.h"
#include "framework/status.h"

namespace berth::config {
enum class ExtensionPoint;
}

namespace berth::framework {

inline constexpr int64_t kMaxNodeScore = 100;
inline constexpr int64_t kMinNodeScore = 0;

// What an answer about (pod, node) is a function of, besides the pod's signature. The engine keeps answers until what
// they depend on changes; a plugin that declares too little gets stale answers, one that declares too much is merely
// slower.
// The same holds for whether PreFilter or PreScore return Skip.
enum class DependsOn : uint8_t {
  kNode,            // the Node object alone
  kNodeAndPods,     // the NodeInfo: the Node object and the pods on that node
  kNodeAndDevices,  // the NodeInfo, and devices or volumes that the plugin follows itself: see DeviceFollower
  kAllNodes,        // the Node objects of the whole cluster, but no pods
  kTopologyDomain,  // pods and nodes elsewhere, through labels of topology domains
  kAnything,        // anything else; never kept
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;
  // Asked only about points whose interface the class has. A class that stands for plugins known only at run time
  // (those of a library) has all of the interfaces and says here which it implements.
  virtual bool Serves(config::ExtensionPoint /*point*/) const { return true; }
};

// A pod that waits in the queue, as QueueSort sees it.
struct QueuedPodView {
  const PodInfo& pod;
  base::Time added;  // when it entered the queue this time
};

class QueueSortPlugin {
 public:
  virtual ~QueueSortPlugin() = default;
  // A strict weak order: true when `a` is to be scheduled before `b`.
  virtual bool Less(const QueuedPodView& a, const QueuedPodView& b) const = 0;
};

class PreEnqueuePlugin {
 public:
  virtual ~PreEnqueuePlugin() = default;
  // Anything but success holds the pod back, gated, until an event this plugin registered for.
  virtual Status PreEnqueue(const PodInfo& pod) const = 0;
};

class EnqueueExtensions {
 public:
  virtual ~EnqueueExtensions() = default;
  // Events that may make a pod schedulable that this plugin rejected. Asked once, at start.
  virtual std::vector<ClusterEventWithHint> EventsToRegister() const = 0;
};

struct PreFilterResult {
  Status status;
  // Only these nodes are worth filtering (names may be of nodes that do not exist); unset means all.
  std::optional<std::set<std::string>> node_names;

  PreFilterResult() = default;
  PreFilterResult(Status s) : status(std::move(s)) {}  // NOLINT: implicit, so that `return Status::Skip();` works
};

class PreFilterPlugin {
 public:
  virtual ~PreFilterPlugin() = default;
  // Runs once per cycle before any Filter. Skip: this plugin's Filter, AddPod and RemovePod will not be called.
  virtual PreFilterResult PreFilter(CycleState& state, const PodInfo& pod) const = 0;

  // "What if `other` were on / gone from `node`": updates the state that PreFilter stored. `node` already has the
  // change. Called on a clone of the state, possibly many times.
  virtual Status AddPod(CycleState&, const PodInfo& /*pod*/, const PodInfo& /*other*/, const NodeInfo& /*node*/) const {
    return Status::Success();
  }
  virtual Status RemovePod(CycleState&, const PodInfo& /*pod*/, const PodInfo& /*other*/,
                           const NodeInfo& /*node*/) const {
    return Status::Success();
  }
};

class FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  // Success: the pod fits as far as this plugin can tell. Must judge the NodeInfo given, which may be a what-if copy.
  virtual Status Filter(const CycleState& state, const PodInfo& pod, const NodeInfo& node) const = 0;
  virtual DependsOn filter_depends_on() const { return DependsOn::kAnything; }

  // The same question for the nodes with indices [begin, begin + verdicts.size()), answered from columns: 0 fits,
  // anything else does not, and nodes with equal non-zero verdicts would get equal Status from Filter. kAskFilter: call
  // Filter. Entries of dead nodes are ignored. False: the plugin offers no such pass for this pod.
  static constexpr uint8_t kAskFilter = 255;
  virtual bool FilterRange(const CycleState&, const PodInfo&, const NodeColumns&, NodeIndex /*begin*/,
                           std::span<uint8_t> /*verdicts*/) const {
    return false;
  }
  // The same for a list of nodes, in any order; override it where one call for many nodes saves work.
  virtual void FilterList(const CycleState& state, const PodInfo& pod, const NodeColumns& columns,
                          std::span<const NodeIndex> nodes, std::span<uint8_t> verdicts) const;
};

// Statuses by node after filtering. Nodes that PreFilter left out are absent and share one status.
class NodeToStatus;

struct Victims {
  std::vector<PodInfoPtr> pods;  // most important first
  int64_t pdb_violations = 0;
};

// A node on which evicting `victims` makes room.
struct PreemptionCandidate {
  std::string node_name;
  Victims victims;
};

struct PostFilterResult {
  Status status;  // Success: the pod has a chance on nominated_node_name once the victims are gone
  std::string nominated_node_name;
  Victims victims;
  // Every candidate the dry run found, in node-name order; filled with CycleState::exhaustive_preemption only.
  std::vector<PreemptionCandidate> candidates;
  // An unsuccessful result that also withdraws an earlier nomination.
  bool clear_nomination = false;

  PostFilterResult() = default;
  PostFilterResult(Status s) : status(std::move(s)) {}  // NOLINT: implicit
};

class PostFilterPlugin {
 public:
  virtual ~PostFilterPlugin() = default;
  // Runs when no node is feasible. Deciding only: evicting victims is the scheduler's job afterwards.
  virtual PostFilterResult PostFilter(CycleState& state, const PodInfo& pod, const NodeToStatus& statuses) const = 0;
};

class PreScorePlugin {
 public:
  virtual ~PreScorePlugin() = default;
  // Skip: this plugin's Score will not be called and it has no entry in the scores.
  virtual Status PreScore(CycleState& state, const PodInfo& pod, std::span<const NodeInfo* const> feasible) const = 0;
  // False: PreScore for this pod would be the same with no nodes at all, and may be given none.
  virtual bool ReadsFeasibleNodes(const PodInfo&) const { return true; }
};

struct ScoreResult {
  int64_t score = 0;
  Status status;

  ScoreResult(int64_t value) : score(value) {}     // NOLINT: implicit
  ScoreResult(Status s) : status(std::move(s)) {}  // NOLINT: implicit
};

struct NodeScore {
  const NodeInfo* node = nullptr;
  int64_t score = 0;
};

// How raw scores become 0..100. The two shared rules are named so that the engine can keep normalised totals current
// without asking the plugin about every node again.
enum class Normalization : uint8_t {
  kNone,
  kByMaximum,          // score * 100 / highest
  kByMaximumReversed,  // 100 - score * 100 / highest
  kOwn,                // whatever NormalizeScore does
};

class ScorePlugin {
 public:
  virtual ~ScorePlugin() = default;
  virtual ScoreResult Score(const CycleState& state, const PodInfo& pod, const NodeInfo& node) const = 0;
  virtual DependsOn score_depends_on() const { return DependsOn::kAnything; }

  // Scores for the nodes with indices [begin, begin + scores.size()) from columns; as FilterRange.
  virtual bool ScoreRange(const CycleState&, const PodInfo&, const NodeColumns&, NodeIndex /*begin*/,
                          std::span<int64_t> /*scores*/) const {
    return false;
  }
  virtual bool ScoreList(const CycleState& state, const PodInfo& pod, const NodeColumns& columns,
                         std::span<const NodeIndex> nodes, std::span<int64_t> scores) const;
  // The score that every node gets, if it is known without looking at the nodes.
  virtual std::optional<int64_t> ScoreOfEveryNode(const CycleState&, const PodInfo&) const { return std::nullopt; }

  // Brings raw scores of all feasible nodes into 0..100. Override NormalizeScore for kOwn only.
  virtual Normalization normalization() const { return Normalization::kNone; }
  virtual Status NormalizeScore(const CycleState& state, const PodInfo& pod, std::span<NodeScore> scores) const;
  // The same for the scores of a pass over columns, by node index: `points` get the normalised scores of the feasible
  // nodes. False: out of range, or the plugin has a rule of its own and offers no such pass.
  virtual bool NormalizeRange(const CycleState& state, const PodInfo& pod, std::span<const uint8_t> feasible,
                              std::span<const int64_t> scores, std::span<uint8_t> points) const;
};

// A pod that was added to (+1) or removed from (-1) `node`; the node already has the change.
struct PodChange {
  const PodInfo& other;
  const NodeInfo& node;
  int sign;
};

// For plugins that answer by topology domain: what PreFilter and PreScore computed is kept between cycles of pods with
// one signature and updated pod by pod, instead of being counted again. Node objects do not change in between: after a
// change to one, PreFilter and PreScore run afresh.
class IncrementalState {
 public:
  virtual ~IncrementalState() = default;
  // True when `state` is now what a fresh PreFilter (PreScore) for `pod` would leave, Skip included. False: start over.
  virtual bool CatchUpPreFilter(CycleState& state, const PodInfo& pod, const PodChange& change) const = 0;
  virtual bool CatchUpPreScore(CycleState& state, const PodInfo& pod, const PodChange& change) const = 0;
  // Whether PreScore depends on which nodes are feasible.
  virtual bool pre_score_reads_feasible_nodes() const { return true; }
  // If so: the set of feasible nodes has changed (1 by node index: feasible), and nothing else. Returns as above.
  virtual bool ChooseAmong(CycleState&, const PodInfo&, std::span<const uint8_t> /*feasible*/) const { return false; }
};

// For plugins whose answers depend on devices or volumes (kNodeAndDevices): those change without any change to nodes or
// their pods, and differ between pods of one template.
class DeviceFollower {
 public:
  virtual ~DeviceFollower() = default;
  // Called before every decision about a pod of the same signature: leaves `state` as a fresh PreFilter for this pod
  // would, and lists the nodes whose answers differ from those given before. False: start over.
  virtual bool CatchUpDevices(CycleState& state, const PodInfo& pod, std::vector<NodeIndex>& changed) const = 0;
};

class ReservePlugin {
 public:
  virtual ~ReservePlugin() = default;
  virtual Status Reserve(CycleState& state, const PodInfo& pod, const std::string& node_name) = 0;
  // Undoes Reserve; must be idempotent, and is called even where Reserve was not reached. An attempt may also fail
  // when the pod is bound already, or in a later attempt (ClusterView::IsPlacedByAnother): what was written for it must
  // stay then.
  virtual void Unreserve(CycleState& state, const PodInfo& pod, const std::string& node_name) = 0;
  // Before Reserve: the pod to count on the node from now on, where it occupies more than its specification says. Null:
  // the pod itself. Asked only with the gate DRANodeAllocatableResources.
  virtual std::shared_ptr<const api::Pod> OnNode(const CycleState& /*state*/, const PodInfo& /*pod*/,
                                                 const std::string& /*node_name*/) const {
    return nullptr;
  }
};

struct PermitResult {
  Status status;  // Success, Wait, or a rejection
  base::Duration timeout{};
};

class PermitPlugin {
 public:
  virtual ~PermitPlugin() = default;
  virtual PermitResult Permit(CycleState& state, const PodInfo& pod, const std::string& node_name) = 0;
};

struct PreBindPreFlightResult {
  Status status;  // Skip: PreBind has nothing to do for this pod
};

// What may be used off the scheduling thread (handle.h).
class BindingHandle;

// PreBind, Bind and PostBind run off the scheduling thread, and may block. They are given the handle to use there; the
// Handle that the plugin was made with is the scheduling thread's.
class PreBindPlugin {
 public:
  virtual ~PreBindPlugin() = default;
  virtual PreBindPreFlightResult PreBindPreFlight(const CycleState& state, const PodInfo& pod,
                                                  const std::string& node_name) = 0;
  virtual Status PreBind(BindingHandle& handle, CycleState& state, const PodInfo& pod,
                         const std::string& node_name) = 0;
};

class BindPlugin {
 public:
  virtual ~BindPlugin() = default;
  // Skip: not mine, ask the next bind plugin.
  virtual Status Bind(BindingHandle& handle, CycleState& state, const PodInfo& pod, const std::string& node_name) = 0;
};

class PostBindPlugin {
 public:
  virtual ~PostBindPlugin() = default;
  virtual void PostBind(BindingHandle& handle, CycleState& state, const PodInfo& pod, const std::string& node_name) = 0;
};

// Collects what a plugin's Filter and Score read from the incoming pod. Pods with equal signatures share evaluations.
class SignatureBuilder {
 public:
  SignatureBuilder();
  // A key means the same in every plugin: when several plugins add it, the first value stands.
  void Add(std::string_view key, std::string_view value);
  // Equal when the same was added in the same order; a profile always asks its plugins in the same order.
  std::string Build() && { return std::move(text_); }

 private:
  struct Key {
    size_t begin;
    size_t size;
  };
  std::string text_;
  std::vector<Key> keys_;  // in text_
};

class SignPlugin {
 public:
  virtual ~SignPlugin() = default;
  // False: this pod's answers depend on more than can be signed, so it shares no evaluations.
  virtual bool Sign(const PodInfo& pod, SignatureBuilder& signature) const = 0;
};

}  // namespace berth::framework
