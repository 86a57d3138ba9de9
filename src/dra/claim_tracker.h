// ClaimTracker: the scheduler's view of resource claims.
//
//   seen      what the API server last reported
//   assumed   the result of our own write, until the API server reports it (or something newer)
//   in flight what a claim will be once its pod's binding cycle has written the allocation
//
// The devices of all three count as allocated.
//
// Owned by the scheduling thread. Binding cycles run on other threads: they post their results, which the scheduling
// thread applies in CatchUp.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/resource_claim.h"
#include "dra/allocated_devices.h"

namespace berth::dra {

using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

// The annotation of claims that the scheduler creates for a pod's extended resources.
inline constexpr std::string_view kExtendedResourceClaimAnnotation = "resource.kubernetes.io/extended-resource-claim";
inline constexpr std::string_view kClaimFinalizer = "resource.kubernetes.io/delete-protection";

bool IsReservedFor(const api::ResourceClaim& claim, std::string_view pod_uid);

class ClaimTracker {
 public:
  explicit ClaimTracker(AllocatedDevices& devices) : devices_(devices) {}

  // What the API server reports.
  void Put(ClaimPtr claim);
  void Remove(const api::ResourceClaim& claim);

  // The newest version known; null if there is none.
  ClaimPtr Find(std::string_view name_space, std::string_view name) const;
  // The claim that was created for this pod's extended resources.
  ClaimPtr FindExtendedClaimOf(std::string_view name_space, std::string_view pod_name,
                               const std::string& pod_uid) const;
  bool IsInFlight(const std::string& uid) const { return in_flight_.contains(uid); }

  // `claim` contains the allocation that it will get.
  void SetInFlight(ClaimPtr claim);
  // The in-flight allocation is abandoned, and its devices are free. False if the claim was not in flight.
  bool EndFlight(const std::string& uid);
  // The in-flight allocation was written, with this result: Assume, then EndFlight. TakeFreed reports the devices only
  // if the claim has lost them again by now.
  void Land(const std::string& uid, const ClaimPtr& written);
  // One of our writes succeeded, with this result: the claim is now reserved for the last pod of its list. No effect if
  // a newer version is known, or the claim is unknown.
  void Assume(ClaimPtr claim);
  // A write that ends the pod's reservation, or the whole allocation, is in flight. Until the API server has reported
  // that, or the reservation has been written again, "reserved" is out of date: a pod that relied on it could be bound
  // to devices that are allocated to another.
  void NoteUnreserved(const api::ResourceClaim& claim, const std::string& pod_uid);
  bool IsBeingUnreserved(const std::string& claim_uid, const std::string& pod_uid) const {
    return unreserved_.contains({claim_uid, pod_uid});
  }
  // Returns to what the API server last reported.
  void Restore(std::string_view name_space, std::string_view name);
  // Whether devices have become free since the last call: those of a claim that was deallocated or deleted, or of an
  // abandoned in-flight allocation, about which the API server has nothing to report.
  bool TakeFreed() { return std::exchange(freed_, false); }

  // What a binding cycle reports: the claim as its write left it, and the flight that ended with it.
  struct Landed {
    ClaimPtr written;          // null: nothing was written
    std::string ended_flight;  // the UID; empty: none ended
  };
  // From any thread; applied by CatchUp.
  void Post(Landed landed);
  // Scheduling thread: applies what was posted.
  void CatchUp() {
    if (has_posted_.load(std::memory_order_acquire)) ApplyPosted();
  }
  void Apply(const Landed& landed);
  // Called before each result is applied.
  void set_on_landed(std::function<void(const Landed& landed)> on_landed) { on_landed_ = std::move(on_landed); }
  // From now on, results that are posted are dropped: for a replay, which knows when each was applied and calls Apply.
  void DropPosts() { drops_posts_ = true; }
  // Whether everything it knows was reported by the API server.
  bool IsAtRest() const;
  // Whether it counts devices as taken of which the API server has not reported that.
  bool HasAssumed() const;

 private:
  struct Entry {
    ClaimPtr seen;
    ClaimPtr assumed;
    const ClaimPtr& latest() const { return assumed ? assumed : seen; }
  };
  using Key = std::pair<std::string, std::string>;

  void ApplyPosted();
  // Drops the NoteUnreserved entries for older versions of the claim, of pods that `settles` accepts.
  template <class Settles>
  void SettleUnreserved(const api::ResourceClaim& now, Settles settles);
  // Moves the devices from one version of a claim to the next.
  void Exchange(const ClaimPtr& before, const ClaimPtr& after);
  // The same for the latest version of the claim that `claims_` has at `key`; updates the index by owner as well.
  void Replace(const Key& key, const ClaimPtr& before, const ClaimPtr& after);

  AllocatedDevices& devices_;
  std::map<Key, Entry, std::less<>> claims_;
  std::unordered_map<std::string, ClaimPtr> in_flight_;  // by UID
  // By the UIDs of claim and pod: the version that had the reservation.
  std::map<std::pair<std::string, std::string>, uint64_t> unreserved_;
  // By UID of the pod: the claims in claims_ whose latest version is annotated and controlled by that pod.
  std::unordered_multimap<std::string, Key> extended_claims_;
  bool freed_ = false;

  std::mutex mutex_;
  std::vector<Landed> posted_;  // guarded by mutex_
  std::atomic<bool> has_posted_ = false;
  std::function<void(const Landed&)> on_landed_;
  bool drops_posts_ = false;
};

}  // namespace berth::dra
