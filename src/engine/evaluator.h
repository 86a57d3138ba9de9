// Evaluator: which node a pod should go to, or why none fits.
//
// Pods with the same signature share a Lane, which keeps the answers for every node and catches up with what has
// changed since. Where a lane cannot answer (a plugin that declares nothing about its answers, a search that PreFilter
// narrows, errors), a full evaluation does: see EvaluateFromScratch.
//
// Both always give the same answers; with verify on, each of a lane's answers is compared.
// Not thread-safe; used by the scheduling thread.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/workers.h"
#include "cluster/cluster.h"
#include "engine/lane.h"
#include "engine/profile.h"
#include "engine/search.h"
#include "framework/diagnosis.h"

namespace berth::engine {

class Evaluator {
 public:
  struct Options {
    bool verify = false;      // compare each answer with a full evaluation; a difference ends the program
    size_t max_kept = 128;    // signatures kept
    bool runner_ups = false;  // also report the second-best node
    size_t threads = 1;       // threads that share passes over all nodes; the answers do not depend on it
    bool by_class = true;     // ask about equivalent nodes once; the answers do not depend on it
  };

  Evaluator(const Profile& profile, const cluster::Cluster& cluster, Options options)
      : profile_(profile), cluster_(cluster), options_(options), reach_(profile), workers_(options.threads) {}
  Evaluator(const Profile& profile, const cluster::Cluster& cluster) : Evaluator(profile, cluster, Options{}) {}

  struct Decision {
    enum class Kind { kChosen, kNoFit, kAskEvaluate } kind = Kind::kAskEvaluate;
    Lane::Choice choice;             // when a node was chosen
    RunnerUp runner_up;              // when a node was chosen and runner-ups are wanted
    framework::Diagnosis diagnosis;  // when nothing fits
    // With the states of PreFilter and PreScore; owned by the evaluator and valid until its next call. Null when no
    // lane could be brought up to date.
    framework::CycleState* state = nullptr;
    LongWay why = LongWay::kNone;  // why a full evaluation is needed
  };
  Decision Decide(const framework::PodInfo& pod, base::Random& random);

 private:
  struct KeptLane {
    std::string signature;
    Lane lane;
  };
  using Lanes = std::list<KeptLane>;

  Lane& LaneOf(std::string_view signature);
  void Drop(Lanes::iterator lane);
  Decision Ask(Lane& lane, const framework::PodInfo& pod, base::Random& random) const;
  void Verify(const framework::PodInfo& pod, const Decision& decision) const;

  const Profile& profile_;
  const cluster::Cluster& cluster_;
  const Options options_;
  const ProfileReach reach_;
  base::Workers workers_;
  LaneScratch scratch_;
  Lanes lanes_;                                                         // most recently used first
  std::unordered_map<std::string_view, Lanes::iterator> by_signature_;  // the text is the lane's
};

}  // namespace berth::engine
