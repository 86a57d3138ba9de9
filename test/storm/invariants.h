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
#include "storm/bindings.h"
#include "storm/host.h"
#include "storm/store.h"
#include "storm/violation.h"

namespace berth::storm {

class Invariants {
 public:
  Invariants(const Timeline& timeline, Store& store, ApiWrites& writes, bool preempts);

  void AddLife(const Host& host);
  // The first violation.
  const std::optional<Violation>& violation() const { return violation_; }
  void Report(Violation violation);
  // A process is about to send a binding.
  void OnSent(const Process& process, const SentBinding& binding);

  // What must no longer be there in a settled world.
  std::optional<Violation> FindUnsettled(const std::vector<std::unique_ptr<Host>>& hosts) const;
  // For storms without faults: whoever leads has the newest version of the pod, unless it has just changed.
  void CheckKnownAsItIs(const std::string& pod_key, const std::vector<std::unique_ptr<Host>>& hosts);
  // The number of writes so far, without those of leases and events.
  uint64_t working_writes() const { return working_writes_; }

 private:
  void OnWrite(const Write& write);
  std::string Holder() const;
  // Until when nobody else may take it, if it is not renewed again.
  base::Duration LeaseEnd() const;
  void NoteHolder();
  void CheckLease(const Write& write);
  void CheckReport(const Write& write);

  using Found = std::optional<Violation>;
  Found FindForgottenPod() const;
  Found FindWrongPicture(const Host& host) const;
  Found FindWrongUsage(const Host& host) const;
  Found FindWrongNomination(const Host& host) const;
  Found FindOldReport(const Host& host) const;
  std::map<std::string, std::vector<const api::Pod*>> PodsByNode() const;

  const Timeline& timeline_;
  const Store& store_;
  const bool preempts_;
  std::map<std::pair<std::string, int>, std::string> identities_;  // by process and life
  std::string last_holder_;
  base::Duration renewed_{};         // the lease, as the API server has it
  std::set<std::string> gave_back_;  // identities
  Bindings bindings_;
  uint64_t working_writes_ = 0;
  std::optional<Violation> violation_;
};

}  // namespace berth::storm
