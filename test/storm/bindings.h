// Bindings: whether a pod may be bound where a scheduler wants it, judged by what its decision may have known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "storm/api_writes.h"
#include "storm/fit.h"
#include "storm/instance.h"
#include "storm/store.h"
#include "storm/violation.h"

namespace berth::storm {

class Bindings {
 public:
  Bindings(const Timeline& timeline, Store& store);

  // A process is about to send it.
  std::optional<Violation> OnSent(const Process& process, const SentBinding& binding);
  // Before it takes effect.
  std::optional<Violation> Check(const Write& write) const;
  // It has taken effect.
  void OnBound(const Write& write);
  // In the end: a running pod has lost the reservation of a claim.
  std::optional<Violation> FindLostReservation() const;

 private:
  // Revisions until which the decision knew what had happened, at least and at most.
  struct Known {
    uint64_t nodes;
    uint64_t pods;
    uint64_t most;
  };
  Known KnownTo(const Write& write) const;
  // Whether the pod was terminated, and returned, without the decision's having known.
  bool HasReturned(const std::string& uid, uint64_t pods_seen) const;
  std::optional<Violation> CheckRoom(const Write& write, const Known& known) const;
  // The same among the pods that were to be bound there before the revision `decided`, or at that time, in what the
  // node had until the revision `last`.
  std::optional<Violation> CheckRoom(const Write& write, const Known& known, uint64_t decided, uint64_t last) const;
  std::optional<Violation> CheckClaims(const Write& write) const;
  // The most that the node of that name has had between these revisions.
  Amounts AllocatableBetween(const std::string& node, uint64_t first, uint64_t last) const;
  // Why a decision between these revisions may not have been about that pod: the invariant, and what is wrong with the
  // pod. Empty if it was pending at some time.
  std::pair<std::string_view, std::string> WhyNotPending(const std::string& uid, uint64_t first, uint64_t last) const;

  const Timeline& timeline_;
  const Store& store_;
  std::map<std::tuple<std::string, int, std::string, base::Duration>, Known> sent_;  // by process, life, UID, time
  std::map<std::string, uint64_t> last_over_;  // by UID: when a pod was last terminated
  struct Bound {
    uint64_t revision;
    uint64_t decided;  // a revision, too
    bool had_returned;
  };
  std::map<std::string, Bound> bound_;  // by UID: by a scheduler
};

}  // namespace berth::storm
