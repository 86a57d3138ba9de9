// Attempt: everything one attempt to schedule a pod found out.
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
  kBinding,        // has a node; its binding cycle runs elsewhere
  kWaiting,        // a Permit plugin holds it; see Scheduler::FinishWaiting
  kUnschedulable,  // fits nowhere now
  kError,          // internal trouble; to be tried again
};

// How the answer was found.
enum class Way {
  kNone,     // nobody was asked: there are no nodes
  kLane,     // kept from pods like this one, and brought up to date
  kScratch,  // every plugin asked about every node
  kSample,   // the same for as many nodes as percentageOfNodesToScore calls for
};

struct Attempt {
  framework::PodInfoPtr pod;
  base::Ticket ticket = base::Ticket::kNone;
  base::Time started{};  // the scheduling cycle
  // It waited in Permit, for so long, and this was said at the end.
  struct PermitWait {
    base::Duration waited{};
    framework::Code code = framework::Code::kSuccess;
  };
  std::optional<PermitWait> permit_wait{};
  bool flushed = false;                       // it was tried because it had been asleep for too long
  std::optional<base::Time> first_attempt{};  // when the pod was first ready to be tried
  int number = 1;                             // this is the pod's so manieth attempt
  Outcome outcome = Outcome::kError;
  Way way = Way::kNone;
  engine::LongWay long_way = engine::LongWay::kNone;  // when from scratch: why
  std::string node_name;                              // when bound, being bound or waiting
  // The node whose room it held and gave back, when it failed after its scheduling cycle: others may want that room.
  std::string freed_node;
  // The pod left and came back while it was being bound, and is not in this attempt any more.
  bool superseded = false;
  size_t feasible_nodes = 0;
  int64_t score = 0;    // total of the node chosen
  bool scored = false;  // false when there was nothing to compare
  size_t ties = 0;      // how many nodes had that total, when scored
  // The second best node and its total, when scored and Scheduler::Options::runner_ups.
  std::string runner_up;
  int64_t runner_up_score = 0;
  bool nominated = false;  // the node is the one that preemption had promised
  bool announced = false;  // the API was told the node before the pod is bound
  // Why not: the text of the FailedScheduling event and of the PodScheduled condition.
  std::string message;
  // What was found about every node; empty when the choice needed less.
  engine::Evaluation evaluation;
  framework::Diagnosis diagnosis;           // when nothing fitted
  framework::PostFilterResult post_filter;  // when unschedulable
  bool post_filtered = false;               // PostFilter was asked

  // Plugins to ask when something happens that might help.
  std::set<std::string, std::less<>> unschedulable_plugins;
  std::set<std::string, std::less<>> pending_plugins;
};

}  // namespace berth::scheduler
