// Claims: devices in a storm. Nodes have a slice with a few; pods come with a claim of their own or share one; the
// controller of claims ends reservations of pods that are gone, takes devices back and deletes what nobody names.
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
  // With `used`, there are devices.
  Claims(Timeline& timeline, Store& store, bool used, uint64_t seed);

  bool used() const { return used_; }
  // A claim for the pod to name: a new one or, now and then, one that others name already.
  std::string ClaimFor(const std::string& pod, uint64_t choice);

 private:
  void React(const Change& change);
  void AddSlice(const std::string& node);
  base::Duration Soon();
  // All claims are looked at: what the controller does is the same however it was woken.
  void Control();

  Timeline& timeline_;
  Store& store_;
  const bool used_;
  base::Random random_;
  const uint64_t most_devices_;  // on a node
  bool woken_ = false;
};

// Whether the claims that the pod names are there and have devices on that node, or could get them.
bool ClaimsFit(const Store& store, const api::Pod& pod, const api::Node& node);
// "driver/pool/device" that two claims have; empty when there is none.
std::string FindSharedDevice(const Store& store);
// A claim that is reserved for a pod that is gone; empty when there is none.
std::string FindStaleReservation(const Store& store);

}  // namespace berth::storm
