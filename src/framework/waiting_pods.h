// WaitingPods: pods that have a node but wait for Permit plugins to let them be bound.
// A pod leaves when every plugin that asked to wait has allowed it, when one rejects it, or when a time-out passes.
// Not thread-safe; owned by the scheduling thread (answers from other threads arrive there as messages).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ticket.h"
#include "framework/pod_info.h"
#include "framework/status.h"

namespace berth::framework {

class WaitingPods {
 public:
  struct Decision {
    PodInfoPtr pod;
    Status status;       // Success: go on to bind
    base::Time since{};  // when the wait began
  };

  // `waits` names each plugin that asked to wait, and for how long.
  void Add(PodInfoPtr pod, const std::map<std::string, base::Duration>& waits, base::Time now,
           base::Ticket attempt = base::Ticket::kNone);

  // Each is a no-op for pods that do not wait (any more). They decide whichever attempt waits: ask Waits first.
  void Allow(const std::string& uid, const std::string& plugin);
  void Reject(const std::string& uid, const std::string& plugin, std::string message);
  // Allows it in the name of every plugin: the pod is bound, so there is nothing left to decide.
  void Release(const std::string& uid);
  bool IsWaiting(const std::string& uid) const { return waiting_.contains(uid); }
  // Whether it is this attempt that waits; kNone: any.
  bool Waits(const std::string& uid, base::Ticket attempt) const;
  std::vector<PodInfoPtr> pods() const;

  // The pods whose wait is over, in the order it ended; each is handed out once.
  std::vector<Decision> TakeDecided(base::Time now);
  // When the next time-out passes; the far future when nobody waits.
  base::Time NextTimeout() const;
  bool empty() const { return waiting_.empty() && decided_.empty(); }

 private:
  struct Waiting {
    PodInfoPtr pod;
    base::Time since;
    std::map<std::string, base::Time> deadlines;  // by plugin
    base::Ticket attempt;
  };
  std::map<std::string, Waiting> waiting_;  // by UID
  std::vector<Decision> decided_;
};

}  // namespace berth::framework
