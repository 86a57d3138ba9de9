// What can be read from a running scheduler, as data: copies that remain valid afterwards. Collected on the scheduling
// thread (collect.h), rendered as JSON or text by the caller (render.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/node.h"
#include "base/clock.h"
#include "explain/explanation.h"
#include "framework/pod_info.h"
#include "framework/resource.h"
#include "scheduler/attempt_journal.h"

namespace berth::inspect {

// How far a pod has come on its way to a node.
enum class PodPlace {
  kActive,         // ready to be tried
  kBackoff,        // failed recently
  kUnschedulable,  // waits for an event that may help
  kGated,          // held back by a PreEnqueue plugin
  kScheduling,     // being tried
  kWaiting,        // has a node, and waits in Permit
  kBinding,        // has a node, and is being bound there
  kPlaced,
  kGone,  // only the journal knows it
};
std::string_view NameOf(PodPlace place);
std::string_view NameOf(scheduler::Ending ending);

struct PendingPod {
  std::string pod;  // namespace/name
  std::string uid;
  std::string scheduler_name;
  int32_t priority = 0;
  PodPlace place = PodPlace::kActive;
  size_t position = 0;  // in its lane, from 1
  int attempts = 0;
  base::Time since{};                    // when it entered its lane
  std::optional<base::Duration> left{};  // until it is tried again in any case; unset: that does not depend on time
  std::vector<std::string> plugins{};    // that rejected it
  std::vector<std::string> pending_plugins{};
  std::string gating_plugin{};
  std::string nominated_node{};
};

struct QueueView {
  struct Lane {
    PodPlace place;
    size_t total = 0;
    std::vector<PendingPod> pods{};  // the first of them, in the lane's order
  };
  base::Time at{};
  std::vector<Lane> lanes{};
};

struct DecisionsView {
  base::Time at{};
  std::vector<scheduler::AttemptRecord> attempts{};  // newest first
  size_t kept = 0;                                   // in the journal
};

struct NodesView {
  struct Node {
    std::shared_ptr<const api::Node> node;
    framework::Resource allocatable, requested;
    size_t pods = 0;
    std::vector<framework::PodInfoPtr> on_it{};  // if one node was asked for
  };
  base::Time at{};
  size_t total = 0;
  std::vector<Node> nodes{};  // by name
};

// What has changed, for clients that follow: current counts, and the decisions since.
struct EventsView {
  base::Time at{};
  std::vector<std::pair<PodPlace, size_t>> lanes{};
  std::string about{};  // what is shown, if it is not a running scheduler
  size_t nodes = 0;
  size_t placed = 0;                                 // pods with a node
  uint64_t sequence = 0;                             // of the newest attempt
  std::vector<scheduler::AttemptRecord> attempts{};  // newest first
};

// Events that may make a pod schedulable again, by the plugin that rejected it.
struct WakeUp {
  std::string plugin;
  std::vector<std::string> events;
};

struct PodView {
  base::Time at{};
  std::string pod;
  std::string uid;
  std::string scheduler_name;
  std::string profile;  // whose plugins judge it
  int32_t priority = 0;
  PodPlace place = PodPlace::kGone;
  std::string node;  // where it is, or is being bound
  std::string nominated_node;
  std::optional<PendingPod> pending{};
  std::vector<WakeUp> wake_ups{};
  std::vector<scheduler::AttemptRecord> attempts{};  // newest first
  // What an attempt would find now; for a pod that has a node, as if it were placed again. Unset if the pod is gone.
  std::optional<explain::Explanation> now{};
};

}  // namespace berth::inspect
