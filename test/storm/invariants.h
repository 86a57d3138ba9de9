// Invariants: what must hold in every storm. Some are checked with every write, the others once the faults have ended
// and the world has had time to settle.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storm/api_writes.h"
#include "storm/fit.h"
#include "storm/host.h"
#include "storm/store.h"

namespace berth::storm {

struct Violation {
  std::string invariant;  // the same text for every failure of its kind
  std::string message;
  std::vector<std::string> subjects{};  // what to search the trace for
  base::Duration at{};
};

class Invariants {
 public:
  Invariants(const Timeline& timeline, Store& store, ApiWrites& writes, bool preempts);

  void AddLife(const Host& host);
  // The first violation.
  const std::optional<Violation>& violation() const { return violation_; }
  void Report(Violation violation);

  // What must no longer be there in a settled world.
  std::optional<Violation> FindUnsettled(const std::vector<std::unique_ptr<Host>>& hosts) const;
  // For storms without faults: whoever leads has the newest version of the pod, unless it has just changed.
  void CheckKnownAsItIs(const std::string& pod_key, const std::vector<std::unique_ptr<Host>>& hosts);
  // The number of writes so far, without those of leases and events.
  uint64_t working_writes() const { return working_writes_; }

 private:
  void OnWrite(const Write& write);
  std::string Holder() const;
  void NoteHolder();
  void CheckLease(const Write& write);
  void CheckReport(const Write& write);
  void CheckRoom(const Write& write);
  void CheckClaims(const Write& write);

  using Found = std::optional<Violation>;
  Found FindForgottenPod() const;
  Found FindWrongPicture(const Host& host) const;
  Found FindWrongNomination(const Host& host) const;
  Found FindOldReport(const Host& host) const;
  std::vector<const api::Pod*> PodsOn(const std::string& node) const;
  std::map<std::string, std::vector<const api::Pod*>> PodsByNode() const;
  // Whether the pod was terminated, and returned, since a decision about it may have been made.
  bool HasReturned(const std::string& uid) const;
  // The most the node of that name had recently: a decision may be that old.
  Amounts RecentAllocatable(const std::string& node) const;

  const Timeline& timeline_;
  const Store& store_;
  const bool preempts_;
  std::map<std::pair<std::string, int>, std::string> identities_;  // by process and life
  std::string last_holder_;
  std::set<std::string> gave_back_;                  // identities
  std::set<std::string> bound_by_us_;                // UIDs
  std::map<std::string, base::Duration> last_over_;  // by UID: when a pod was last seen terminated
  uint64_t working_writes_ = 0;
  std::optional<Violation> violation_;
};

}  // namespace berth::storm
