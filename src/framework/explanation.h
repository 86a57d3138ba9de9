// What a plugin can say about its rejections beyond the reason in the Status: what it asks for, what the node has, and
// the smallest change with which it would accept the node. All of it is optional, and none of it runs unless somebody
// asks for an explanation.
//
// Used on the scheduling thread, between cycles; the cluster does not change while an explanation is made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/node_to_status.h"
#include "framework/objects.h"
#include "framework/pod_info.h"
#include "framework/status.h"

namespace berth::framework {

// One thing that is asked of a node and that the node lacks.
struct Finding {
  std::string subject;  // "cpu", "label disk", "port 80/TCP"
  std::string asked;    // "2", "ssd"
  std::string there;    // "1.3", "hdd"; "" when there is none
  std::string text;     // the same as a clause for people; may be left empty
  // What keeps nodes in separate groups when many are reported together, such as their taints. Amounts do not.
  std::string sort = {};
  double shortage = 0;  // how much is lacking, as a fraction of what is asked; the node with the least is the closest

  // `text`, or a clause made of the rest: "asks for label disk ssd, has hdd".
  std::string Text() const;
};

// More than this many of one kind are counted, not listed; a remedy that takes more changes than this is of no use.
inline constexpr size_t kFew = 8;
// "a, b, c and 12 more"
std::string ListText(const std::vector<std::string>& names, size_t limit = kFew);

// The amounts that a Status carries, with the pods that hold the resource: what is reported for a plugin that does not
// explain itself.
std::vector<Finding> ShortfallFindings(const Status& status, const NodeInfo& node);

// One change that a remedy asks for, in words.
struct RemedyStep {
  std::string text;  // "tolerate gpu=true:NoSchedule"
  // Remedies whose steps have equal kinds differ only in amounts or in the node; only the cheapest of them is reported.
  std::string kind;
  double cost = 1;  // for a smaller request, the fraction given up
};

// Changes with which a pod might fit on a node: the pod, the node and the other objects as they would be. Copies share
// what they have not changed.
class Remedy {
 public:
  // Nothing is changed yet.
  Remedy(std::shared_ptr<const api::Pod> pod, std::shared_ptr<const api::Node> node)
      : pod_(std::move(pod)), node_(std::move(node)) {}

  // With the changes so far.
  const std::shared_ptr<const api::Pod>& pod() const { return pod_; }
  const std::shared_ptr<const api::Node>& node() const { return node_; }
  const std::vector<RemedyStep>& steps() const { return steps_; }
  bool changes_pod() const { return changes_pod_; }
  bool changes_node() const { return changes_node_; }
  bool changes_objects() const { return !object_edits_.empty(); }
  double cost() const;

  // `edit` is given a copy to change. A node keeps its name, a pod its namespace and name.
  void ChangePod(RemedyStep step, const std::function<void(api::Pod&)>& edit);
  void ChangeNode(RemedyStep step, const std::function<void(api::Node&)>& edit);
  // For everything else: a claim, a class, a CSINode. Runs each time the remedy is tried, on a copy of the stores.
  void ChangeObjects(RemedyStep step, std::function<void(Objects&)> edit);
  void ApplyTo(Objects& objects) const;

 private:
  std::shared_ptr<const api::Pod> pod_;
  std::shared_ptr<const api::Node> node_;
  bool changes_pod_ = false;
  bool changes_node_ = false;
  std::vector<std::function<void(Objects&)>> object_edits_;
  std::vector<RemedyStep> steps_;
};

// Explains why one plugin rejects nodes for one pod. Made once per explanation and asked about many nodes, so that what
// is the same for all of them is computed once. The plugin and the pod outlive it.
class RejectionExplainer {
 public:
  virtual ~RejectionExplainer() = default;

  // The facts behind the plugin's `status` for `node`. Empty: the reason says it all. When PreFilter left the node out,
  // `status` is PreFilter's.
  virtual std::vector<Finding> Findings(const Status& status, const NodeInfo& node) const {
    return ShortfallFindings(status, node);
  }

  // Alternatives: each is `so_far` (which holds the changes for earlier plugins) plus the smallest further change with
  // which this plugin accepts the node; `so_far` itself where that is enough. Empty: none is known. Each is tried with
  // all filters of the profile before it is reported.
  virtual std::vector<Remedy> Remedies(const NodeInfo& /*node*/, const Remedy& /*so_far*/) const { return {}; }

  // Things to look at, independent of the node: a name that is nearly that of something else, a pod that matches in
  // another namespace. Facts, not remedies: they are not tried. Asked only of plugins that rejected something.
  virtual std::vector<std::string> Hints() const { return {}; }
};

// Implemented by plugins that filter and explain themselves.
class ExplainsRejections {
 public:
  virtual ~ExplainsRejections() = default;
  // Null: nothing to add for this pod.
  virtual std::unique_ptr<RejectionExplainer> ExplainRejections(const PodInfo& pod) const = 0;
};

struct NamedVictim {
  std::string pod;  // namespace/name
  int32_t priority = 0;
};

// The result of evicting pods from one node.
struct PreemptionTrial {
  std::string node;
  bool would_fit = false;
  std::vector<NamedVictim> victims;  // the most important first
  int64_t pdb_violations = 0;
  bool chosen = false;
  std::string verdict;  // why it was chosen or not, or what still rejects the pod once all evictable pods are gone
};

struct PreemptionExplanation {
  std::string not_eligible;             // why the pod may not preempt; the rest is then empty
  std::vector<PreemptionTrial> trials;  // candidates first, each part by name
  size_t not_helpful = 0;               // nodes where nothing that could be evicted would help
};

// Implemented by PostFilter plugins that preempt and explain their choice.
class ExplainsPreemption {
 public:
  virtual ~ExplainsPreemption() = default;
  // `state` and `statuses` are those of the search that found no node.
  virtual PreemptionExplanation ExplainPreemption(const CycleState& state, const PodInfo& pod,
                                                  const NodeToStatus& statuses) const = 0;
};

}  // namespace berth::framework
