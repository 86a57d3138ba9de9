// Faults: what fails at random. Each kind has its own probability and its own random source, so that turning one off
// does not change when the others occur.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

namespace berth::storm {

enum class Fault : uint8_t {
  kRequestLost,        // never reaches the server: an error, or silence
  kAnswerLost,         // takes effect, but the answer is lost
  kDelay,              // of a message, up to seconds
  kSlowBind,           // of a binding or its answer, up to many seconds
  kTornFrame,          // bytes come in pieces cut anywhere
  kBrokenStream,       // a watch ends within a frame
  kSilentStream,       // a watch is half-open: no bytes, no error
  kDuplicateEvent,     // a watch event comes twice
  kLateEvents,         // watches fall behind by seconds
  kStaleList,          // an answer from the server's cache is seconds old
  kVersionTooLarge,    // 504: this API server is behind another one
  kExpired,            // 410 although the history still exists
  kTooManyRequests,    // 429 with Retry-After
  kServerError,        // 5xx without effect
  kServerErrorAfter,   // 5xx although it took effect
  kNotFoundOnce,       // 404 for a kind, from some proxy
  kAdmission,          // 422 of a binding
  kSlowPatch,          // of a pod's status, up to many seconds: others may overtake it
  kExtender,           // an extender does not answer in time
  kSlowTurn,           // the scheduling thread does not read its mail for seconds
  kSlowClaim,          // a write of a claim takes up to many seconds, and every second one then fails without effect
  kSlowLease,          // the answer to a write of the lease takes up to many seconds
  kLeaseStalls,        // such an answer is slow, and then the connection is silent: only of the elector, others work
  kLateEffect,         // the connection of a write breaks, and it takes effect after that
  kRefusedNode,        // 403 of a patch that only sets a pod's nominatedNodeName
  kExtenderPreempts,   // an extender does not answer in time when it is asked about victims
  kSlowReport,         // the thread of a binding cycle is preempted for seconds before it reports the end
  kPausesRenewing,     // the process pauses while it renews its lease, and then finds an answer from before the pause
  kInDoubt,            // a binding takes effect, and for a while nobody can tell: not the answer, no watch, no read
  kPreemptionChanges,  // while a victim is evicted, which takes seconds, all of them end, or the preemptor returns
  kRecreated,          // while its status is being patched, which takes seconds, a pod is deleted and created again
  kSlowVolume,         // a write of a volume takes seconds, and may then fail; its pod is deleted, or fails and returns
  kProxyAnswers,       // some proxy answers a request for one object: 404, a login page, 401 or 403
  // What happens to a pod while a write about it is in flight, which is slow, or lost.
  kBoundElsewhere,       // somebody else binds it to another node
  kReturnsWhileBound,    // with claims: it fails and returns, perhaps to a cordoned node, and others want devices
  kFailsWithClaim,       // with claims: the binding fails, and so the pod is tried again while its claims are slow
  kCrashesWhileBinding,  // with claims: the scheduler crashes, and the nodes are cordoned and uncordoned
};
inline constexpr size_t kFaultCount = static_cast<size_t>(Fault::kCrashesWhileBinding) + 1;

std::string_view NameOf(Fault fault);
std::optional<Fault> FindFault(std::string_view name);

class Faults {
 public:
  // Per ten thousand chances.
  using Rates = std::array<uint32_t, kFaultCount>;

  Faults(const Rates& rates, uint64_t seed);

  // No fault occurs while off. Storms end with a calm phase.
  void set_on(bool on) { on_ = on; }
  bool on() const { return on_; }
  // Called when one occurs: what else happens then.
  void set_on_strike(std::function<void(Fault fault)> on_strike) { on_strike_ = std::move(on_strike); }
  bool Strikes(Fault fault);
  // For the details of a fault that occurs.
  uint64_t Below(Fault fault, uint64_t bound) { return randoms_[Index(fault)].Below(bound); }
  base::Duration UpTo(Fault fault, base::Duration longest) {
    return base::Duration(Below(fault, static_cast<uint64_t>(longest.count()) + 1));
  }
  uint64_t strikes(Fault fault) const { return strikes_[Index(fault)]; }

 private:
  static size_t Index(Fault fault) { return static_cast<size_t>(fault); }

  const Rates rates_;
  std::vector<base::Random> randoms_;
  std::array<uint64_t, kFaultCount> strikes_{};
  std::function<void(Fault fault)> on_strike_;
  bool on_ = true;
};

}  // namespace berth::storm
