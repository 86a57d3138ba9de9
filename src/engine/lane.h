// Lane: everything known about every node for pods of one signature, kept current from the change log.
//
// The best node is found without looking at nodes that have not changed:
//  - filters and scores that depend on a node alone, or on a node and its pods, are asked again for changed nodes only,
//    from columns where the plugin can;
//  - totals are in TopTotals; scores normalised by the maximum keep a histogram, and all totals change only when the
//    maximum does;
//  - plugins that answer by topology domain keep their counts (IncrementalState); nodes that those plugins cannot tell
//    apart (TellsNodesApart) form a class, one node is asked on behalf of the class, and the best of each class is
//    known. Where there are too many classes, or none yet, such plugins are asked over columns, in one pass.
// Why nothing fits is answered the same way: equal rejections share one Status, and nodes remember which.
//
// CatchUp returns false when the pod or the current state needs more than that: then a full evaluation answers.
// Not thread-safe; used by the scheduling thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "base/workers.h"
#include "cluster/cluster.h"
#include "engine/class_totals.h"
#include "engine/evaluation.h"
#include "engine/lane_timing.h"
#include "engine/long_way.h"
#include "engine/profile.h"
#include "engine/top_totals.h"
#include "framework/diagnosis.h"
#include "framework/node_traits.h"

namespace berth::engine {

// How far from a node the changes can be that affect a plugin's answer about it.
enum class Reach : uint8_t { kNode, kPods, kDevices, kAllNodes, kDomain, kUnknown };

// What all lanes of a profile share.
struct ProfileReach {
  explicit ProfileReach(const Profile& profile);

  std::vector<Reach> filters;  // by position among the profile's filters
  std::vector<Reach> scores;   // by position among the profile's scores
  // Every plugin that keeps state by topology domain.
  std::vector<std::pair<uint32_t, const framework::IncrementalState*>> incremental;  // with the plugin's id
  // By position as above: plugins that tell nodes apart by traits; null for others.
  std::vector<const framework::TellsNodesApart*> filter_classes;
  std::vector<const framework::TellsNodesApart*> score_classes;
  std::vector<const framework::TellsNodesApart*> incremental_classes;
  // Plugins with PreFilter but no Filter: nothing declares what their answer depends on, so they are asked every time.
  std::vector<uint32_t> pre_filters_alone;
  // Every plugin that follows devices.
  std::vector<std::pair<uint32_t, const framework::DeviceFollower*>> devices;
  int64_t max_total = 0;  // the highest total any node can get, whatever the signs of the weights
};

// Scratch memory that lanes need only while they decide: one for all lanes of an evaluator.
struct LaneScratch {
  // From the last pass over domains, by node index.
  std::vector<std::vector<uint8_t>> domain_verdicts;  // by position among the filters by domain
  std::vector<uint8_t> final_ok;
  size_t final_count = 0;
  std::vector<int32_t> totals;
  std::vector<int64_t> raw;
  std::vector<uint8_t> points;
  // For catching up.
  std::vector<framework::NodeIndex> rescored;
  std::vector<std::vector<uint8_t>> pods_verdicts;  // by position among the filters that look at pods
  // How often PreScore was run without nodes; and whether a plugin turned out to read them although it declares that it
  // does not: then none of its answers can be kept.
  uint64_t pre_scores_without_nodes = 0;
  bool reads_nodes_after_all = false;
  // For choosing by class.
  std::vector<framework::NodeTrait> traits_now;
  std::vector<size_t> keyed_now;
  std::vector<int64_t> key;
  std::vector<uint8_t> class_verdicts;
};

class Lane {
 public:
  struct Choice {
    const framework::NodeInfo* node = nullptr;
    int64_t total = 0;  // 0 when there was nothing to compare
    size_t feasible = 0;
    size_t ties = 0;         // nodes with that total
    bool scored = false;     // false: only one node is feasible, or no plugin scores
    bool nominated = false;  // the pod's nominated node, chosen without further search
  };

  // Passes over domains are split among `workers`; the answers depend neither on their number nor on whether nodes are
  // grouped into classes.
  Lane(const Profile& profile, const cluster::Cluster& cluster, const ProfileReach& reach, base::Workers& workers,
       LaneScratch& scratch, bool by_class);

  // Brings the lane up to date for `pod`. False: a full evaluation is needed.
  bool CatchUp(const framework::PodInfo& pod);
  // Right after CatchUp. The best node, ties broken at random; unset when none fits. `failed` is set instead when a
  // plugin cannot answer or fails.
  std::optional<Choice> Choose(const framework::PodInfo& pod, base::Random& random, bool& failed);
  // Right after Choose chose a node: the second best. Looks at every node.
  RunnerUp SecondTo(const Choice& choice) const;
  // Right after Choose found nothing: why, node by node. False: a full evaluation is needed.
  bool Diagnose(const framework::PodInfo& pod, framework::Diagnosis& diagnosis);
  // Right after CatchUp, Choose or Diagnose gave up: why.
  LongWay why() const { return trouble_ ? LongWay::kTrouble : why_; }
  // The results of PreFilter and PreScore; for PostFilter, Reserve and later points.
  framework::CycleState& state() { return state_; }

 private:
  // A rejection shared by nodes, identified by its position among them plus one; 0 means none.
  using RejectionId = uint8_t;
  struct SharedRejection {
    size_t position;  // of the filter among the profile's
    uint8_t verdict;  // from FilterRange; kAskFilter when it came from Filter
    framework::Status status;
    size_t nodes = 0;  // nodes whose first rejection it is
  };
  // What is kept per node besides the columns below; small, because catching up accesses nodes at random.
  struct Slot {
    uint8_t by_node = 0;  // rejection by the first filter that looks at the node alone
    uint8_t first = 0;    // the first rejection in the profile's order, domains aside
    uint8_t scored = 0;   // has current scores; implies that it is feasible
    uint8_t listed = 0;   // already among changed_
    int32_t fixed = 0;    // weighted sum of the unnormalised scores that do not depend on pods
  };
  // A score plugin whose answer about a node does not depend on topology domains.
  struct LocalScore {
    size_t position;  // among the profile's scores
    Reach reach;
    framework::Normalization rule;
    int64_t weight;
    // When normalised, or dependent on all nodes: raw scores by node index; empty while all are 0.
    std::vector<int64_t> raw;
    // When normalised: the raw scores of the feasible nodes, with how many nodes have each.
    std::map<int64_t, size_t> present;
    // When dependent on all nodes: the score that all of them have, if the plugin knows it without looking at them.
    std::optional<int64_t> everywhere;
    bool keeps_raw() const {
      return rule != framework::Normalization::kNone || (reach == Reach::kAllNodes && !everywhere);
    }
    int64_t RawOf(framework::NodeIndex node) const { return raw.empty() ? 0 : raw[node]; }
    int64_t highest() const { return present.empty() || present.rbegin()->first < 0 ? 0 : present.rbegin()->first; }
  };

  // Returns false and records the reason.
  bool GiveUp(LongWay why) {
    why_ = why;
    return false;
  }
  bool Build(const framework::PodInfo& pod);
  bool Replay(const framework::PodInfo& pod);
  // Lists the nodes whose devices changed an answer; false: start over.
  bool FollowDevices(const framework::PodInfo& pod);
  // Updates the counts by domain for each pod that was added or removed.
  bool FollowPods(const framework::PodInfo& pod);
  void Grow(size_t slots);
  bool StillPasses(const framework::PodInfo& pod);
  bool RunPreFilter(const framework::PodInfo& pod);
  void ListFilters();
  // Removes nodes that do not fit together with the pods nominated to them.
  void HeedNominations(const framework::PodInfo& pod);
  // Checks the node again; it is then held from pods of this priority, or no longer.
  void HoldOrRelease(const framework::PodInfo& pod, framework::NodeIndex node);
  void Hold(const framework::PodInfo& pod, framework::NodeIndex node);
  void Release(framework::NodeIndex node);
  framework::Status JudgeHeld(const framework::PodInfo& pod, framework::NodeIndex node);
  // Nodes whose nominations or pods have changed since the last check. False: all may have.
  bool ListHoldsToCheck(const framework::PodInfo& pod, std::vector<framework::NodeIndex>& nodes);
  bool FitsWithNominated(const framework::PodInfo& pod, const framework::NodeInfo& node);

  void AskAll(const framework::PodInfo& pod);
  // The Node object was changed, added or removed: asks the filters that read it alone, and lists it for AskPods.
  void AskNode(const framework::PodInfo& pod, framework::NodeIndex node);
  void List(framework::NodeIndex node);
  // The pods on these nodes have changed, and perhaps the Node objects.
  void AskPods(const framework::PodInfo& pod, std::span<const framework::NodeIndex> nodes);
  void ScorePods(const framework::PodInfo& pod, std::span<const framework::NodeIndex> nodes);
  RejectionId Ask(const framework::PodInfo& pod, size_t position, framework::NodeIndex node);
  RejectionId RejectionFor(const framework::PodInfo& pod, size_t position, uint8_t verdict, framework::NodeIndex node);
  bool IsBefore(RejectionId rejection, size_t position) const {
    return rejection != 0 && rejections_[rejection - 1].position < position;
  }
  void SetFirst(framework::NodeIndex node, RejectionId rejection);
  // The first rejection of every node, domains aside, as a vector that the caller may keep.
  std::shared_ptr<const std::vector<RejectionId>> TellRejections();
  // The same with domains: `groups` are those of rejections_, and grow. False: a plugin cannot answer.
  bool RejectByDomain(const framework::PodInfo& pod, std::vector<framework::NodeToStatus::Group>& groups,
                      std::vector<framework::NodeToStatus::GroupId>& group_of);
  void SetFeasible(framework::NodeIndex node, bool feasible);

  // Runs PreScore if anything it depends on has changed.
  bool RefreshPreScore(const framework::PodInfo& pod, const std::vector<uint8_t>& feasible);
  // After PreScore without nodes, since no plugin declared that it reads them: whether that made no difference.
  bool NodesMadeNoDifference(const framework::PodInfo& pod, const std::vector<uint8_t>& feasible);
  bool ChooseAmong(const framework::PodInfo& pod, const std::vector<uint8_t>& feasible);
  void ListLocalScores();
  bool ScoreMissing(const framework::PodInfo& pod);
  bool ScoreAll(const framework::PodInfo& pod);
  void ScoreAllBy(LocalScore& score, const framework::PodInfo& pod);
  // Recomputes a score that depends on all nodes, after some have changed.
  void ScoreEverywhere(LocalScore& score, const framework::PodInfo& pod);
  void ScoreNode(const framework::PodInfo& pod, framework::NodeIndex node);
  int64_t RawScore(const LocalScore& score, const framework::PodInfo& pod, framework::NodeIndex node);
  // Checks the range and applies the weight.
  int64_t Weigh(const LocalScore& score, int64_t raw);
  void SetRaw(LocalScore& score, framework::NodeIndex node, int64_t raw);
  static void CountPresent(LocalScore& score, framework::NodeIndex node, int sign);
  void CountPresent(framework::NodeIndex node, int sign);  // for every normalised score
  // Recomputes every total when a maximum has changed.
  void RefreshTotals();
  int32_t LocalTotal(framework::NodeIndex node) const;

  bool HasDomainScores() const;
  Choice OneOf(const std::vector<uint8_t>& feasible, size_t count, base::Random& random) const;
  Choice ChooseFromTop(base::Random& random);
  std::optional<Choice> ChooseByPass(const framework::PodInfo& pod, const std::vector<uint8_t>& feasible, size_t count,
                                     base::Random& random);
  // Chooses by class of nodes. `answered` is false when a pass is needed.
  std::optional<Choice> ChooseByClass(const framework::PodInfo& pod, base::Random& random, bool& answered,
                                      bool& failed);
  RunnerUp SecondByClass(const Choice& choice) const;
  // Brings the classes up to date; false when there are none.
  bool RefreshClasses();
  bool ListTraits();
  bool MakeClasses();
  bool Classify(framework::NodeIndex node);
  bool IsOfClass(framework::NodeIndex node, ClassTotals::ClassId id) const;
  // The node's class, or its total within it, is out of date.
  void Unclass(framework::NodeIndex node) {
    if (classes_made_) unclassed_.push_back(node);
  }
  // Leaves the classes that every filter accepts in feasible_classes_; false when a plugin cannot answer.
  bool FilterClasses(const framework::PodInfo& pod);
  bool ChooseAmongClasses(const framework::PodInfo& pod);
  // Writes what each of those classes gets in addition to the totals of its nodes to class_points_.
  bool ScoreClasses(const framework::PodInfo& pod);
  // The score must be the one at this position in the classes' keys.
  void NormalizeByClass(const LocalScore& score, size_t key_position);
  // For a score that is 0 for all nodes.
  void NormalizeZeros(const LocalScore& score);

  bool FilterByDomain(const framework::PodInfo& pod);
  void AddNormalized(const std::vector<uint8_t>& feasible);
  bool AddDomainScores(const framework::PodInfo& pod, const std::vector<uint8_t>& feasible);

  const Profile& profile_;
  const cluster::Cluster& cluster_;
  const ProfileReach& reach_;
  base::Workers& workers_;
  LaneScratch& scratch_;
  LaneTiming timing_;
  const bool by_class_;

  bool built_ = false;
  // A filter or score failed, or gave more different answers than are worth keeping: a full evaluation is needed.
  bool trouble_ = false;
  LongWay why_ = LongWay::kNone;
  cluster::ChangeLog::Cursor cursor_ = 0;
  framework::CycleState state_;
  uint64_t built_skip_filter_ = 0;
  uint64_t built_objects_ = 0;  // topology_version() of the cluster's objects at that time
  bool pre_score_current_ = false;

  // Positions of the participating filters among the profile's, by what they read.
  std::vector<size_t> node_filters_;
  std::vector<size_t> pods_filters_;
  std::vector<size_t> domain_filters_;
  std::vector<SharedRejection> rejections_;
  std::shared_ptr<std::vector<RejectionId>> told_;  // the last vector handed out; copied before a change if a caller
                                                    // still holds it
  std::vector<framework::NodeIndex> untold_;        // nodes for which it is out of date

  // By node index.
  std::vector<Slot> slots_;
  std::vector<uint8_t> ok_;    // live and without rejection; also 0 when held for other pods
  std::vector<int32_t> base_;  // weighted sum of the scores that need no normalising; valid when scored
  size_t ok_count_ = 0;
  size_t ok_index_sum_ = 0;  // of those nodes: identifies the node when there is only one

  std::vector<framework::NodeIndex> unscored_;  // became feasible without current scores
  // Nodes nominated to pods of at least held_priority_, with the filters' verdict that counts those pods; unset where
  // it has not been computed. Valid until the nominations to the node change (held_at_: how many changes have been
  // seen), or the node does, as long as filters judge nodes alone.
  std::unordered_map<framework::NodeIndex, std::optional<framework::Status>> held_;
  framework::Status held_status_;  // the latest one
  int32_t held_priority_ = 0;
  uint64_t held_at_ = 0;
  bool holds_kept_ = false;
  std::vector<framework::NodeIndex> holds_to_check_;  // changed since
  bool score_all_ = true;                             // no node has current scores
  bool nodes_changed_ = false;                        // answers that depend on all nodes are stale
  std::vector<framework::NodeIndex> changed_;         // listed, in a replay
  std::vector<framework::NodeIndex> device_changes_;  // likewise, because of their devices
  std::vector<LocalScore> local_scores_;
  std::vector<int64_t> highest_;  // of each local score, as top_ has it
  TopTotals top_;                 // for lanes that choose from it
  bool totals_current_ = false;   // top_ has the totals of all nodes

  // Classes of nodes, by traits_ and then by the raw scores that are normalised.
  ClassTotals classes_;
  bool classes_made_ = false;
  bool classes_refused_ = false;  // too many classes, or a plugin cannot answer; until the lane is rebuilt
  std::vector<framework::NodeTrait> traits_;
  std::vector<size_t> keyed_scores_;             // those of local_scores_ that follow the traits in a class's key
  std::vector<framework::NodeIndex> unclassed_;  // to be assigned to a class again
  // From the last choice by class.
  bool chosen_by_class_ = false;
  std::vector<ClassTotals::ClassId> class_ids_;         // classes that have feasible nodes
  std::vector<framework::NodeClass> feasible_classes_;  // likewise
  std::vector<framework::NodeIndex> class_nodes_;       // one node of each
  std::vector<int32_t> class_points_;

  std::vector<uint8_t> pre_score_ok_;  // the feasible nodes that PreScore last saw, if it reads them
};

}  // namespace berth::engine
