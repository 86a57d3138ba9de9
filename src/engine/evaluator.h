// Evaluator: runs a profile's filters and scores over all nodes for one pod.
//
// Pods with the same signature share what was learnt about nodes. For each filter and score that depends on the node
// alone (or the node and its pods), the answer per node is kept; the change log says which nodes have changed since,
// and only those are asked again. Everything else (topology, volumes, plugins that declare nothing) is asked afresh.
//
// Two questions can be asked. Decide: which node? Answered by a Lane, in time that does not grow with the cluster where
// that is possible. Evaluate: what about every node, and why? Asked when nothing fits, for explanations, and whenever
// Decide passes.
//
// Both answers always equal those of EvaluateFromScratch, the slow twin; with verify on, every one is compared.
// Not thread-safe; used by the scheduling thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/cluster.h"
#include "engine/evaluation.h"
#include "engine/lane.h"
#include "engine/profile.h"

namespace berth::engine {

// Every node, every plugin, one at a time, nothing kept.
Evaluation EvaluateFromScratch(const Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                               Scope scope);

class Evaluator {
 public:
  struct Options {
    bool verify = false;    // compare each answer with the slow twin; a difference ends the program
    size_t max_kept = 128;  // signatures remembered
  };
  struct Statistics {
    uint64_t decisions = 0;  // that a lane made
    uint64_t evaluations = 0;
    uint64_t reused = 0;       // found a kept evaluation
    uint64_t nodes_asked = 0;  // node-local filter chains run
  };

  Evaluator(const Profile& profile, const cluster::Cluster& cluster, Options options);
  Evaluator(const Profile& profile, const cluster::Cluster& cluster) : Evaluator(profile, cluster, Options{}) {}
  ~Evaluator();

  struct Decision {
    enum class Kind { kChosen, kNoFit, kAskEvaluate } kind = Kind::kAskEvaluate;
    Lane::Choice choice;
    // With the states of PreFilter and PreScore; belongs to the evaluator and lasts until it is asked again.
    framework::CycleState* state = nullptr;
  };
  Decision Decide(const framework::PodInfo& pod, base::Random& random);

  Evaluation Evaluate(framework::CycleState& state, const framework::PodInfo& pod, Scope scope = Scope::kDecide);

  const Statistics& statistics() const { return statistics_; }

 private:
  // What is kept of one signature.
  struct Kept {
    std::string signature;
    uint64_t skip_filter = 0;
    cluster::ChangeLog::Cursor cursor = 0;
    // By node index. First node-local filter, by position among the profile's filters, that rejects; kFits when none
    // does.
    std::vector<uint8_t> first_rejection;
    std::vector<framework::Status> rejection;
    // By score position, then node index; meaningful where score_known says so.
    std::vector<std::vector<int64_t>> raw_score;
    std::vector<std::vector<uint8_t>> score_known;
  };
  static constexpr uint8_t kFits = 255;

  struct KeptLane {
    std::string signature;
    Lane lane;
  };
  Lane& LaneOf(const std::string& signature);
  void Verify(const framework::PodInfo& pod, const Decision& decision) const;

  Evaluation Incrementally(framework::CycleState& state, const framework::PodInfo& pod, Scope scope);
  Kept& Recall(const std::string& signature);
  void CatchUp(Kept& kept, const framework::CycleState& state, const framework::PodInfo& pod);
  void AskAll(Kept& kept, const framework::CycleState& state, const framework::PodInfo& pod);
  void AskNode(Kept& kept, const framework::CycleState& state, const framework::PodInfo& pod,
               const framework::NodeInfo& node);
  framework::Status Judge(const Kept& kept, framework::CycleState& state, const framework::PodInfo& pod,
                          const framework::NodeInfo& node) const;
  framework::Status RawScores(Kept& kept, size_t position, const framework::CycleState& state,
                              const framework::PodInfo& pod, std::span<const framework::NodeInfo* const> feasible,
                              std::vector<int64_t>& raw);

  const Profile& profile_;
  const cluster::Cluster& cluster_;
  const Options options_;
  const ProfileReach reach_;
  std::list<KeptLane> lanes_;  // most recently used first
  std::unordered_map<std::string, std::list<KeptLane>::iterator> lane_by_signature_;
  std::vector<uint8_t> filter_is_local_;  // by position among the profile's filters
  std::vector<uint8_t> score_is_local_;
  std::list<Kept> kept_;  // most recently used first
  std::unordered_map<std::string, std::list<Kept>::iterator> by_signature_;
  std::vector<uint8_t> verdicts_;  // scratch of AskAll
  Statistics statistics_;
};

}  // namespace berth::engine
