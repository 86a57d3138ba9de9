// ClaimTracker: the scheduler's picture of resource claims.
//
//   seen      what the API server last reported
//   assumed   what a write of ours made of a claim, until the API server reports it (or something newer)
//   in flight what a claim will become once its pod's binding has written the allocation
//
// The devices of all of them are taken.
//
// Owned by the scheduling thread. Binding runs elsewhere: what it has to say is posted, and applied the next time the
// scheduling thread looks.
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

// The annotation of claims that the scheduler makes for a pod's extended resources.
inline constexpr std::string_view kExtendedResourceClaimAnnotation = "resource.kubernetes.io/extended-resource-claim";
inline constexpr std::string_view kClaimFinalizer = "resource.kubernetes.io/delete-protection";

bool IsReservedFor(const api::ResourceClaim& claim, std::string_view pod_uid);

class ClaimTracker {
 public:
  explicit ClaimTracker(AllocatedDevices& devices) : devices_(devices) {}

  // What the API server reports.
  void Put(ClaimPtr claim);
  void Remove(const api::ResourceClaim& claim);

  // The newest version known; null when there is none.
  ClaimPtr Find(std::string_view name_space, std::string_view name) const;
  // The claim for extended resources that was made for this pod.
  ClaimPtr FindExtendedClaimOf(std::string_view name_space, std::string_view pod_name,
                               const std::string& pod_uid) const;
  bool IsInFlight(const std::string& uid) const { return in_flight_.contains(uid); }

  // `claim` carries the allocation that it will get.
  void SetInFlight(ClaimPtr claim);
  // It is given up: the devices are free. False when it was not in flight.
  bool EndFlight(const std::string& uid);
  // It has been written, and this came of it: the end of the flight, and Assume.
  void Land(const std::string& uid, const ClaimPtr& written);
  // A write of ours succeeded and this came of it: it is now reserved for the last pod of its list. Without effect when
  // something newer is known, or nothing at all.
  void Assume(ClaimPtr claim);
  // The end of the pod's reservation, or of the whole allocation, is being written. Until the API server has reported
  // that, or the reservation has been written again, "reserved" is out of date: a pod that relied on it would be bound
  // to devices that another may get.
  void NoteUnreserved(const api::ResourceClaim& claim, const std::string& pod_uid);
  bool IsBeingUnreserved(const std::string& claim_uid, const std::string& pod_uid) const {
    return unreserved_.contains({claim_uid, pod_uid});
  }
  // Back to what the API server reported.
  void Restore(std::string_view name_space, std::string_view name);
  // Whether devices have become free since this was asked last: of a claim that lost its allocation or is gone, or by
  // giving up one in flight, of which the API server has nothing to report.
  bool TakeFreed() { return std::exchange(freed_, false); }

  // What a binding cycle has to say: the claim as a write of its own left it, and the flight that ended with that.
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
  // Called before each of them is applied.
  void set_on_landed(std::function<void(const Landed& landed)> on_landed) { on_landed_ = std::move(on_landed); }
  // From now on what is posted is dropped: somebody else knows what was said when, and calls Apply.
  void DropPosts() { drops_posts_ = true; }
  // Whether it knows nothing but what the API server has reported.
  bool IsAtRest() const;

 private:
  struct Entry {
    ClaimPtr seen;
    ClaimPtr assumed;
    const ClaimPtr& latest() const { return assumed ? assumed : seen; }
  };
  using Key = std::pair<std::string, std::string>;

  void ApplyPosted();
  // Drops the notes of older versions of the claim, of pods that `settles` accepts.
  template <class Settles>
  void SettleUnreserved(const api::ResourceClaim& now, Settles settles);
  // Moves the devices from one version of a claim to the next.
  void Exchange(const ClaimPtr& before, const ClaimPtr& after);
  // The same for the latest version of what `claims_` has at `key`, which the index by owner follows.
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
