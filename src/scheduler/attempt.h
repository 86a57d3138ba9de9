// Attempt: everything that is known about one attempt to schedule a pod.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/ticket.h"
#include "engine/evaluation.h"
#include "engine/long_way.h"
#include "framework/diagnosis.h"
#include "framework/plugin.h"

namespace berth::scheduler {

enum class Outcome {
  kBound,
  kBinding,        // has a node; its binding cycle runs on another thread
  kWaiting,        // a Permit plugin delays it; see Scheduler::FinishWaiting
  kUnschedulable,  // no node is feasible at present
  kError,          // an internal error; the pod is retried
};

// How the decision was computed.
enum class Way {
  kNone,     // no plugin ran: there are no nodes
  kLane,     // from results kept for equal pods, updated for what has changed
  kScratch,  // every plugin ran for every node
  kSample,   // every plugin ran for the share of nodes that percentageOfNodesToScore requires
};

struct Attempt {
  framework::PodInfoPtr pod;
  base::Ticket ticket = base::Ticket::kNone;
  base::Time started{};  // start of the scheduling cycle
  // How long the pod waited in Permit, and the final verdict. Unset if it did not wait.
  struct PermitWait {
    base::Duration waited{};
    framework::Code code = framework::Code::kSuccess;
  };
  std::optional<PermitWait> permit_wait{};
  bool flushed = false;                       // it was requeued because it had been unschedulable for too long
  std::optional<base::Time> first_attempt{};  // when the pod first entered the active queue
  int number = 1;                             // of this attempt among those of the pod, from 1
  Outcome outcome = Outcome::kError;
  Way way = Way::kNone;
  engine::LongWay long_way = engine::LongWay::kNone;  // why no lane was used, for kScratch
  std::string node_name;                              // if bound, being bound or waiting
  // The node whose resources the pod held and released because it failed after its scheduling cycle. Other pods may fit
  // there now.
  std::string freed_node;
  // The pod was deleted and came back while it was being bound, and is not in this attempt any more.
  bool superseded = false;
  size_t feasible_nodes = 0;
  int64_t score = 0;    // total score of the chosen node
  bool scored = false;  // false if nothing was scored, as with a single feasible node
  size_t ties = 0;      // number of nodes with that total, if scored
  // The second best node and its total, if scored and Scheduler::Options::runner_ups is set.
  std::string runner_up;
  int64_t runner_up_score = 0;
  bool nominated = false;  // the node is the one that the pod was nominated to
  bool announced = false;  // nominatedNodeName was set before the pod is bound
  bool promised = false;   // it had been nominated to a node before it was placed; the API need not have heard of that
  // Why the pod was not scheduled: the text of the FailedScheduling event and of the PodScheduled condition.
  std::string message;
  // The verdicts and scores of all nodes; empty if the decision did not need them.
  engine::Evaluation evaluation;
  framework::Diagnosis diagnosis;           // if no node was feasible
  framework::PostFilterResult post_filter;  // if unschedulable
  bool post_filtered = false;               // PostFilter ran

  // Plugins whose events may make the pod schedulable.
  std::set<std::string, std::less<>> unschedulable_plugins;
  std::set<std::string, std::less<>> pending_plugins;
};

}  // namespace berth::scheduler
