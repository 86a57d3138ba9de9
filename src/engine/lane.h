// Lane: all that is known about every node for pods of one signature, kept current from the change log.
//
// Which node is best is answered without looking at nodes that have not changed:
//  - filters and scores that depend on a node alone, or on a node and its pods, are asked again for changed nodes only,
//    from columns where the plugin can;
//  - totals stand in TopTotals; scores normalised by the maximum keep a histogram, and move everything only when the
//    maximum moves;
//  - plugins that answer by topology domain keep their counts (IncrementalState); nodes that those plugins cannot tell
//    apart (TellsNodesApart) are a class, one node is asked for the whole class, and the best of each class is known.
//    Where there are too many classes, or none yet, such plugins are asked over columns, in one pass.
// Why nothing fits is answered the same way: equal rejections are one Status, and nodes remember which.
//
// CatchUp says no when the pod or the moment calls for more than that: a full evaluation then gives the answer.
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

// How far away something can be that changes a plugin's answer about a node.
enum class Reach : uint8_t { kNode, kPods, kDevices, kAllNodes, kDomain, kUnknown };

// What the lanes of a profile have in common.
struct ProfileReach {
  explicit ProfileReach(const Profile& profile);

  std::vector<Reach> filters;  // by position among the profile's filters
  std::vector<Reach> scores;   // by position among the profile's scores
  // Every plugin that keeps state by topology domain.
  std::vector<std::pair<uint32_t, const framework::IncrementalState*>> incremental;  // with the plugin's id
  // By position as above: who tells nodes apart by traits; null for others.
  std::vector<const framework::TellsNodesApart*> filter_classes;
  std::vector<const framework::TellsNodesApart*> score_classes;
  std::vector<const framework::TellsNodesApart*> incremental_classes;
  // Plugins with PreFilter and no Filter: nothing tells what their answer depends on, so they are asked every time.
  std::vector<uint32_t> pre_filters_alone;
  // Every plugin that follows devices.
  std::vector<std::pair<uint32_t, const framework::DeviceFollower*>> devices;
  int64_t max_total = 0;  // of what any node can get, whatever the signs of the weights
};

// What lanes need while they decide, and no longer: one for all lanes of an evaluator.
struct LaneScratch {
  // Of the last pass over domains, by node index.
  std::vector<std::vector<uint8_t>> domain_verdicts;  // by position among the filters by domain
  std::vector<uint8_t> final_ok;
  size_t final_count = 0;
  std::vector<int32_t> totals;
  std::vector<int64_t> raw;
  std::vector<uint8_t> points;
  // Of catching up.
  std::vector<framework::NodeIndex> rescored;
  std::vector<std::vector<uint8_t>> pods_verdicts;  // by position among the filters that look at pods
  // How often PreScore was run without nodes; and whether a plugin was found to read them, although it says that it
  // does not: nothing it has answered can be kept.
  uint64_t pre_scores_without_nodes = 0;
  bool reads_nodes_after_all = false;
  // Of choosing by class.
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
    bool scored = false;     // false: the only feasible node, or nobody scores
    bool nominated = false;  // the node that the pod was promised, taken without looking further
  };

  // Passes over domains are shared out among `workers`; the answers do not depend on how many those are, nor on whether
  // nodes are put into classes.
  Lane(const Profile& profile, const cluster::Cluster& cluster, const ProfileReach& reach, base::Workers& workers,
       LaneScratch& scratch, bool by_class);

  // Brings the lane up to this moment for `pod`. False: only a full evaluation can tell.
  bool CatchUp(const framework::PodInfo& pod);
  // Right after CatchUp. The best node, ties broken at random; unset when none fits. `failed` is set instead when a
  // plugin got into trouble while scoring.
  std::optional<Choice> Choose(const framework::PodInfo& pod, base::Random& random, bool& failed);
  // Right after Choose chose: who came second. A look at every node.
  RunnerUp SecondTo(const Choice& choice) const;
  // Right after Choose found nothing: why, node by node. False: only a full evaluation can tell.
  bool Diagnose(const framework::PodInfo& pod, framework::Diagnosis& diagnosis);
  // Right after CatchUp, Choose or Diagnose had to give up: why.
  LongWay why() const { return trouble_ ? LongWay::kTrouble : why_; }
  // What PreFilter and PreScore worked out; for PostFilter, Reserve and later points.
  framework::CycleState& state() { return state_; }

 private:
  // A rejection that nodes share, known by its position among them plus one; 0 means none.
  using RejectionId = uint8_t;
  struct SharedRejection {
    size_t position;  // of the filter among the profile's
    uint8_t verdict;  // of FilterRange; kAskFilter when Filter said it
    framework::Status status;
    size_t nodes = 0;  // whose first rejection it is
  };
  // What is kept about a node besides the columns below; small, because catching up goes from node to node at random.
  struct Slot {
    uint8_t by_node = 0;  // rejection by the first filter that looks at the node alone
    uint8_t first = 0;    // the first rejection in the profile's order, domains aside
    uint8_t scored = 0;   // has current scores; implies that it is feasible
    uint8_t listed = 0;   // already among changed_
    int32_t fixed = 0;    // weighted sum of the unnormalised scores that do not depend on pods
  };
  // A score plugin that answers for a node by itself.
  struct LocalScore {
    size_t position;  // among the profile's scores
    Reach reach;
    framework::Normalization rule;
    int64_t weight;
    // When normalised, or dependent on all nodes: raw scores by node index; empty while all are 0.
    std::vector<int64_t> raw;
    // When normalised: the raw scores of the feasible nodes, with how many have each.
    std::map<int64_t, size_t> present;
    // When dependent on all nodes: the score of each of them, if that could be said at once.
    std::optional<int64_t> everywhere;
    bool keeps_raw() const {
      return rule != framework::Normalization::kNone || (reach == Reach::kAllNodes && !everywhere);
    }
    int64_t RawOf(framework::NodeIndex node) const { return raw.empty() ? 0 : raw[node]; }
    int64_t highest() const { return present.empty() || present.rbegin()->first < 0 ? 0 : present.rbegin()->first; }
  };

  // False, with the reason.
  bool GiveUp(LongWay why) {
    why_ = why;
    return false;
  }
  bool Build(const framework::PodInfo& pod);
  bool Replay(const framework::PodInfo& pod);
  // Lists the nodes whose devices make a difference; false: start over.
  bool FollowDevices(const framework::PodInfo& pod);
  // Counts by domain follow each pod that came or went.
  bool FollowPods(const framework::PodInfo& pod);
  void Grow(size_t slots);
  bool StillPasses(const framework::PodInfo& pod);
  bool RunPreFilter(const framework::PodInfo& pod);
  void ListFilters();
  // Takes nodes out that do not fit together with the pods they are promised to.
  void HeedNominations(const framework::PodInfo& pod);
  // Looks at the node again; it is held from pods of this priority, or no longer.
  void HoldOrRelease(const framework::PodInfo& pod, framework::NodeIndex node);
  void Hold(const framework::PodInfo& pod, framework::NodeIndex node);
  void Release(framework::NodeIndex node);
  framework::Status JudgeHeld(const framework::PodInfo& pod, framework::NodeIndex node);
  // Nodes whose nominations, or pods, have changed since they were looked at last. False: all may have.
  bool ListHoldsToCheck(const framework::PodInfo& pod, std::vector<framework::NodeIndex>& nodes);
  bool FitsWithNominated(const framework::PodInfo& pod, const framework::NodeInfo& node);

  void AskAll(const framework::PodInfo& pod);
  // The Node object has changed, come or gone: asks what looks at it alone, and lists it for AskPods.
  void AskNode(const framework::PodInfo& pod, framework::NodeIndex node);
  void List(framework::NodeIndex node);
  // The pods on these nodes have changed, or more than those.
  void AskPods(const framework::PodInfo& pod, std::span<const framework::NodeIndex> nodes);
  void ScorePods(const framework::PodInfo& pod, std::span<const framework::NodeIndex> nodes);
  RejectionId Ask(const framework::PodInfo& pod, size_t position, framework::NodeIndex node);
  RejectionId RejectionFor(const framework::PodInfo& pod, size_t position, uint8_t verdict, framework::NodeIndex node);
  bool IsBefore(RejectionId rejection, size_t position) const {
    return rejection != 0 && rejections_[rejection - 1].position < position;
  }
  void SetFirst(framework::NodeIndex node, RejectionId rejection);
  // The first rejection of every node, domains aside, for whoever wants to keep it.
  std::shared_ptr<const std::vector<RejectionId>> TellRejections();
  // The same with domains: `groups` are those of rejections_, and grow. False: a plugin cannot say.
  bool RejectByDomain(const framework::PodInfo& pod, std::vector<framework::NodeToStatus::Group>& groups,
                      std::vector<framework::NodeToStatus::GroupId>& group_of);
  void SetFeasible(framework::NodeIndex node, bool feasible);

  // PreScore, if anything it rests on has changed.
  bool RefreshPreScore(const framework::PodInfo& pod, const std::vector<uint8_t>& feasible);
  // After PreScore without nodes, for no plugin said that it reads them: whether that made no difference.
  bool NodesMadeNoDifference(const framework::PodInfo& pod, const std::vector<uint8_t>& feasible);
  bool ChooseAmong(const framework::PodInfo& pod, const std::vector<uint8_t>& feasible);
  void ListLocalScores();
  bool ScoreMissing(const framework::PodInfo& pod);
  bool ScoreAll(const framework::PodInfo& pod);
  void ScoreAllBy(LocalScore& score, const framework::PodInfo& pod);
  // An answer that depends on all nodes, after some have changed.
  void ScoreEverywhere(LocalScore& score, const framework::PodInfo& pod);
  void ScoreNode(const framework::PodInfo& pod, framework::NodeIndex node);
  int64_t RawScore(const LocalScore& score, const framework::PodInfo& pod, framework::NodeIndex node);
  // Checked, and weighted.
  int64_t Weigh(const LocalScore& score, int64_t raw);
  void SetRaw(LocalScore& score, framework::NodeIndex node, int64_t raw);
  static void CountPresent(LocalScore& score, framework::NodeIndex node, int sign);
  void CountPresent(framework::NodeIndex node, int sign);  // for every normalised score
  // Every total again when a maximum has moved.
  void RefreshTotals();
  int32_t LocalTotal(framework::NodeIndex node) const;

  bool HasDomainScores() const;
  Choice OneOf(const std::vector<uint8_t>& feasible, size_t count, base::Random& random) const;
  Choice ChooseFromTop(base::Random& random);
  std::optional<Choice> ChooseByPass(const framework::PodInfo& pod, const std::vector<uint8_t>& feasible, size_t count,
                                     base::Random& random);
  // By class of nodes. `answered` is false when only a pass can tell.
  std::optional<Choice> ChooseByClass(const framework::PodInfo& pod, base::Random& random, bool& answered,
                                      bool& failed);
  RunnerUp SecondByClass(const Choice& choice) const;
  // Brings the classes up to this moment; false when there are none.
  bool RefreshClasses();
  bool ListTraits();
  bool MakeClasses();
  bool Classify(framework::NodeIndex node);
  bool IsOfClass(framework::NodeIndex node, ClassTotals::ClassId id) const;
  // What is known of the node's class, or of its total in it, no longer holds.
  void Unclass(framework::NodeIndex node) {
    if (classes_made_) unclassed_.push_back(node);
  }
  // Leaves the classes that every filter accepts in feasible_classes_; false when a plugin cannot say.
  bool FilterClasses(const framework::PodInfo& pod);
  bool ChooseAmongClasses(const framework::PodInfo& pod);
  // What each of those classes gets beside the totals of its nodes, in class_points_.
  bool ScoreClasses(const framework::PodInfo& pod);
  // The score is the one that has this place in the classes' keys.
  void NormalizeByClass(const LocalScore& score, size_t key_position);
  // One that is 0 for all nodes.
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
  // A filter or score broke, or said more different things than are worth keeping: a full evaluation tells the story.
  bool trouble_ = false;
  LongWay why_ = LongWay::kNone;
  cluster::ChangeLog::Cursor cursor_ = 0;
  framework::CycleState state_;
  uint64_t built_skip_filter_ = 0;
  uint64_t built_objects_ = 0;  // topology_version() of the cluster's objects then
  bool pre_score_current_ = false;

  // Positions among the profile's filters of those that take part, by what they look at.
  std::vector<size_t> node_filters_;
  std::vector<size_t> pods_filters_;
  std::vector<size_t> domain_filters_;
  std::vector<SharedRejection> rejections_;
  std::shared_ptr<std::vector<RejectionId>> told_;  // what was told last; copied before a change if somebody keeps it
  std::vector<framework::NodeIndex> untold_;        // where that no longer holds

  // By node index.
  std::vector<Slot> slots_;
  std::vector<uint8_t> ok_;    // live and without rejection; 0 too when held for other pods
  std::vector<int32_t> base_;  // weighted sum of the scores that need no normalising; when scored
  size_t ok_count_ = 0;
  size_t ok_index_sum_ = 0;  // of those nodes: where there is one, which

  std::vector<framework::NodeIndex> unscored_;  // became feasible without current scores
  // Nodes promised to pods of at least held_priority_, with what the filters say of both together; unset where nobody
  // has asked. Good until nominations to the node change (held_at_: how many changes have been seen), or the node does,
  // as long as filters judge nodes alone.
  std::unordered_map<framework::NodeIndex, std::optional<framework::Status>> held_;
  framework::Status held_status_;  // the last one
  int32_t held_priority_ = 0;
  uint64_t held_at_ = 0;
  bool holds_kept_ = false;
  std::vector<framework::NodeIndex> holds_to_check_;  // changed since
  bool score_all_ = true;                             // nobody has current scores
  bool nodes_changed_ = false;                        // answers that depend on all nodes are stale
  std::vector<framework::NodeIndex> changed_;         // listed, in a replay
  std::vector<framework::NodeIndex> device_changes_;  // likewise, because of their devices
  std::vector<LocalScore> local_scores_;
  std::vector<int64_t> highest_;  // of each local score, as top_ has it
  TopTotals top_;                 // of lanes that choose from it
  bool totals_current_ = false;   // it has all of them

  // Classes of nodes, by traits_ and then by the raw scores that are normalised.
  ClassTotals classes_;
  bool classes_made_ = false;
  bool classes_refused_ = false;  // too many, or a plugin cannot say; until the lane is built again
  std::vector<framework::NodeTrait> traits_;
  std::vector<size_t> keyed_scores_;             // of local_scores_, those that classes go by after the traits
  std::vector<framework::NodeIndex> unclassed_;  // to be put into their class again
  // Of the last choice by class.
  bool chosen_by_class_ = false;
  std::vector<ClassTotals::ClassId> class_ids_;         // that have feasible nodes
  std::vector<framework::NodeClass> feasible_classes_;  // likewise
  std::vector<framework::NodeIndex> class_nodes_;       // one node of each
  std::vector<int32_t> class_points_;

  std::vector<uint8_t> pre_score_ok_;  // the feasible nodes that PreScore last saw, if it looks at them
};

}  // namespace berth::engine
