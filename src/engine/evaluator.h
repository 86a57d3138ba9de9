// Evaluator: which node a pod should go to, or why none will do.
//
// Pods with the same signature share a Lane, which keeps what was learnt about every node and catches up with what has
// changed since. Where a lane cannot answer (a plugin that declares nothing about its answers, a search that PreFilter
// narrows, trouble), a full evaluation does: see EvaluateFromScratch.
//
// Both give the same answers always; with verify on, every one of a lane's is compared.
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
    bool verify = false;      // compare each answer with the slow twin; a difference ends the program
    size_t max_kept = 128;    // signatures remembered
    bool runner_ups = false;  // tell who came second, too
    size_t threads = 1;       // that share passes over all nodes; the answers are the same with any number
    bool by_class = true;     // nodes that are alike are asked about once; the answers are the same without
  };

  Evaluator(const Profile& profile, const cluster::Cluster& cluster, Options options)
      : profile_(profile), cluster_(cluster), options_(options), reach_(profile), workers_(options.threads) {}
  Evaluator(const Profile& profile, const cluster::Cluster& cluster) : Evaluator(profile, cluster, Options{}) {}

  struct Decision {
    enum class Kind { kChosen, kNoFit, kAskEvaluate } kind = Kind::kAskEvaluate;
    Lane::Choice choice;             // when chosen
    RunnerUp runner_up;              // when chosen, and wanted
    framework::Diagnosis diagnosis;  // when nothing fits
    // With the states of PreFilter and PreScore; belongs to the evaluator and lasts until it is asked again. Null when
    // no lane could be brought up to date.
    framework::CycleState* state = nullptr;
    LongWay why = LongWay::kNone;  // when a full evaluation is to be asked
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
