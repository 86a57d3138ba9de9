// Lane: all that is known about every node for pods of one signature, kept current from the change log.
//
// Which node is best is answered without looking at nodes that have not changed:
//  - filters and scores that depend on a node alone, or on a node and its pods, are asked again for changed nodes only;
//  - totals stand in a bucket queue; scores normalised by the maximum keep a histogram, and move everything only when
//    the maximum moves;
//  - plugins that answer by topology domain keep their counts (IncrementalState) and are asked over columns, in one
//  pass.
//
// CatchUp says no when the pod or the moment calls for more than that: a full evaluation then gives the answer.
// Not thread-safe; used by the scheduling thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "cluster/cluster.h"
#include "engine/bucket_queue.h"
#include "engine/profile.h"

namespace berth::engine {

// How far away something can be that changes a plugin's answer about a node.
enum class Reach : uint8_t { kNode, kPods, kAllNodes, kDomain, kUnknown };

// What the lanes of a profile have in common.
struct ProfileReach {
  explicit ProfileReach(const Profile& profile);

  std::vector<Reach> filters;  // by position among the profile's filters
  std::vector<Reach> scores;   // by position among the profile's scores
  // Every plugin that keeps state by topology domain.
  std::vector<std::pair<uint32_t, const framework::IncrementalState*>> incremental;  // with the plugin's id
  int64_t max_total = 0;
};

class Lane {
 public:
  struct Choice {
    const framework::NodeInfo* node = nullptr;
    int64_t total = 0;  // 0 when there was nothing to compare
    size_t feasible = 0;
    size_t ties = 0;      // nodes with that total
    bool scored = false;  // false: the only feasible node, or nobody scores
  };

  Lane(const Profile& profile, const cluster::Cluster& cluster, const ProfileReach& reach);

  // Brings the lane up to this moment for `pod`. False: only a full evaluation can tell.
  bool CatchUp(const framework::PodInfo& pod);
  // Right after CatchUp. The best node, ties broken at random; unset when none fits. `failed` is set instead when a
  // plugin got into trouble while scoring.
  std::optional<Choice> Choose(const framework::PodInfo& pod, base::Random& random, bool& failed);
  // What PreFilter and PreScore worked out; for Reserve and later points.
  framework::CycleState& state() { return state_; }

 private:
  // A score plugin that answers for a node by itself.
  struct LocalScore {
    size_t position;  // among the profile's scores
    Reach reach;
    framework::Normalization rule;
    int64_t weight;
    std::vector<int64_t> raw;           // by node index; of nodes with scored_
    std::map<int64_t, size_t> present;  // raw scores of the feasible nodes, with how many have each; when normalised
    int64_t highest() const { return present.empty() || present.rbegin()->first < 0 ? 0 : present.rbegin()->first; }
  };

  bool Build(const framework::PodInfo& pod);
  bool Replay(const framework::PodInfo& pod);
  bool StillSkips(const framework::PodInfo& pod);
  bool RunPreFilter(const framework::PodInfo& pod);
  // PreScore, if anything it rests on has changed. `ok` marks the feasible nodes by index.
  bool RefreshPreScore(const framework::PodInfo& pod, const std::vector<framework::NodeIndex>& feasible,
                       const std::vector<uint8_t>& ok);
  bool PreScoreReadsFeasibleNodes() const;
  void ListLocalScores();

  void AskAll(const framework::PodInfo& pod);
  void AskNode(const framework::PodInfo& pod, const framework::NodeInfo& node, bool node_changed);
  void SetFeasible(framework::NodeIndex index, bool feasible);
  bool ScoreMissing(const framework::PodInfo& pod);
  bool ScoreAll(const framework::PodInfo& pod);
  bool ScoreNode(const framework::PodInfo& pod, const framework::NodeInfo& node, bool pods_only);
  void SetRaw(LocalScore& score, framework::NodeIndex index, int64_t raw);
  void MarkScored(framework::NodeIndex index);
  void CountPresent(framework::NodeIndex index, int sign);
  // Every total again when a maximum has moved.
  void RefreshTotals();
  int64_t LocalTotal(framework::NodeIndex index) const;

  bool HasDomainFilters() const;
  bool HasDomainScores() const;
  std::optional<Choice> ChooseFromBuckets(base::Random& random);
  std::optional<Choice> ChooseByPass(const framework::PodInfo& pod, base::Random& random, bool& failed);
  bool FilterByDomain(const framework::PodInfo& pod);
  void AddLocalTotals();
  bool AddDomainScores(const framework::PodInfo& pod);

  const Profile& profile_;
  const cluster::Cluster& cluster_;
  const ProfileReach& reach_;

  bool built_ = false;
  cluster::ChangeLog::Cursor cursor_ = 0;
  framework::CycleState state_;
  uint64_t built_skip_filter_ = 0;
  uint64_t built_objects_ = 0;  // topology_version() of the cluster's objects then
  bool pre_score_current_ = false;
  bool bad_score_ = false;  // a score outside 0..100: a full evaluation says whose

  // By node index.
  std::vector<uint8_t> node_ok_;    // passes the filters that look at the node alone
  std::vector<uint8_t> local_ok_;   // and those that look at its pods
  std::vector<uint8_t> scored_;     // has current raw scores
  std::vector<int64_t> base_;       // weighted sum of the scores that need no normalising
  std::vector<uint32_t> position_;  // in local_feasible_
  std::vector<uint64_t> touched_;   // mark of the replay that last saw the node
  uint64_t replay_ = 0;

  // Indices, not rows: a row may be gone by the time its removal is replayed.
  std::vector<framework::NodeIndex> local_feasible_;
  std::vector<framework::NodeIndex> unscored_;  // became feasible without current scores
  bool score_all_ = true;                       // nobody has current scores
  std::vector<LocalScore> local_scores_;
  std::vector<int64_t> highest_;  // of each local score, as the totals in the queue have it
  BucketQueue queue_;
  bool totals_current_ = false;

  // Of the last pass over domains.
  std::vector<uint8_t> verdicts_;
  std::vector<uint8_t> final_ok_;
  std::vector<uint8_t> pre_score_ok_;  // the feasible nodes that PreScore last saw
  std::vector<framework::NodeIndex> final_feasible_;
  std::vector<int64_t> totals_;                   // by position in final_feasible_
  std::vector<const framework::NodeInfo*> rows_;  // of the feasible nodes, for PreScore
  std::vector<int64_t> domain_raw_;
  std::vector<framework::NodeScore> node_scores_;
};

}  // namespace berth::engine
