// Claims: devices in a storm. Nodes have a slice with a few; pods come with their own claim or share one; the claim
// controller removes reservations of pods that are gone, deallocates claims and deletes those that no pod names.
#pragma once

#include <string>

#include "api/node.h"
#include "api/pod.h"
#include "base/random.h"
#include "storm/store.h"
#include "storm/timeline.h"

namespace berth::storm {

class Claims {
 public:
  // Without `used`, there are no devices.
  Claims(Timeline& timeline, Store& store, bool used, uint64_t seed);

  bool used() const { return used_; }
  // A claim for the pod to name: a new one or, sometimes, one that others already name.
  std::string ClaimFor(const std::string& pod, base::Random& random);

 private:
  void React(const Change& change);
  void AddSlice(const std::string& node);
  base::Duration Soon();
  // Checks all claims: the controller does the same whatever triggered it.
  void Control();

  Timeline& timeline_;
  Store& store_;
  const bool used_;
  base::Random random_;
  const uint64_t most_devices_;  // on a node
  bool woken_ = false;
};

bool NamesClaim(const api::Pod& pod, const std::string& claim);
// Whether the claims that the pod names exist and have devices on that node, or could get them.
bool ClaimsFit(const Store& store, const api::Pod& pod, const api::Node& node);
// "driver/pool/device" that two claims have; empty if there is none.
std::string FindSharedDevice(const Store& store);
// The name of a claim that a scheduler was about to give devices, and did not; empty if there is none.
std::string FindHalfWritten(const Store& store);
// A claim that is reserved for a pod that is gone; empty if there is none.
std::string FindStaleReservation(const Store& store);

}  // namespace berth::storm
