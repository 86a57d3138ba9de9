// Plan: everything about a storm that its seed decides beforehand: its size, what may fail and how often, and the
// script of actions by people, controllers and faults. A plan can be reduced, which is how a failure is shrunk.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "storm/api_server.h"
#include "storm/faults.h"

namespace berth::storm {

enum class ActionKind : uint8_t {
  // Workloads.
  kAddPod,
  kAddLargePod,   // fits nowhere, or only on an empty node
  kAddUrgentPod,  // with a high priority
  kAddGatedPod,
  kAddPinnedPod,   // for one zone only
  kAddDirectPod,   // bound by its creator, as static pods are
  kAddHeldPod,     // waits in Permit whenever it is tried
  kAddRefusedPod,  // admission rejects its bindings; its owner gives up after a while
  kAddClaimPod,    // needs a device
  kAddVolumePod,   // needs storage
  kAddCrowd,       // many that fit nowhere
  kUngatePod,
  kFinishPod,
  kFailPod,
  kFailAndReturn,  // Pending, Failed, and Pending again: the same UID leaves the watch and returns
  kDeletePod,
  kRecreatePod,  // the same name with another UID
  kRelabelPod,
  kChangeClass,  // a storage class is created or deleted: a kind that a server need not serve
  // Nodes.
  kAddNode,
  kRemoveNode,
  kReplaceNode,  // the same name with another UID
  kCordonNode,
  kUncordonNode,
  kTaintNode,
  kGrowNode,
  kRelabelNode,
  // The world.
  kCompact,
  kHideKind,  // 404 for a while
  kCrash,
  kTerminate,
  kPause,
  kPartition,
  kStepClock,
  kTakeover,  // the standbys lose their watches, then the leader ends
};
inline constexpr size_t kActionKindCount = static_cast<size_t>(ActionKind::kTakeover) + 1;

std::string_view NameOf(ActionKind kind);
// Done to the world, not within it: a fault.
inline bool IsMisfortune(ActionKind kind) { return kind >= ActionKind::kCompact; }

struct Action {
  base::Duration at;
  ActionKind kind;
  uint64_t seed;  // of what else is random about it: the object, and how it is done
};

enum class ExtenderKind : uint8_t { kNone, kIgnorable, kNeeded };

struct Plan {
  uint64_t seed = 0;
  int instances = 1;
  int nodes = 3;
  bool protobuf = true;
  bool volumes = false;
  bool answers_held = false;  // some of the held pods are allowed, or rejected
  ExtenderKind extender = ExtenderKind::kNone;
  size_t status_line = 10'000;  // how many status patches may be queued
  size_t backlog = 4096;        // unread changes of a kind, above which obsolete ones are dropped
  size_t max_binding = 512;     // how many pods may be being bound before the scheduler pauses
  float qps = 50;               // of each scheduler's client; the burst is twice that
  ServerOptions server{};
  Faults::Rates rates{};
  std::vector<Action> actions{};  // by time
  base::Duration length{};        // then the faults end, and the world has to settle

  bool has_faults() const;
};

Plan MakePlan(uint64_t seed);

// Pods with this label are held in Permit, and by its value allowed, rejected, or left to wait for nothing.
inline constexpr std::string_view kHeld = "storm/held";
inline constexpr std::string_view kHeldAllowed = "allowed";
inline constexpr std::string_view kHeldRejected = "rejected";
// The bindings of pods with this label are rejected.
inline constexpr std::string_view kRefused = "storm/refused";

}  // namespace berth::storm
