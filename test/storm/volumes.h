// Volumes: storage in a storm. Nodes have a few local volumes, and a provisioner makes others for the node that the
// scheduler chose; pods come with a claim for either. The volume controller binds what the scheduler has set aside,
// deletes claims that no pod names, and gives their volumes back.
#pragma once

#include <string>

#include "api/node.h"
#include "api/pod.h"
#include "api/storage.h"
#include "base/random.h"
#include "storm/store.h"
#include "storm/timeline.h"

namespace berth::storm {

class Volumes {
 public:
  // Without `used`, there is no storage.
  Volumes(Timeline& timeline, Store& store, bool used, uint64_t seed);

  bool used() const { return used_; }
  // Creates a claim for the pod to name.
  std::string ClaimFor(const std::string& pod, base::Random& random);

 private:
  void React(const Change& change);
  base::Duration Soon();
  // What controller and provisioner do, whatever triggered them.
  void Control();
  void ControlVolume(const api::PersistentVolume& volume);
  void ControlClaim(const api::PersistentVolumeClaim& claim);
  void Provision(const api::PersistentVolumeClaim& claim, const std::string& node);
  void Bind(api::PersistentVolumeClaim claim, api::PersistentVolume volume);
  void AddLocalVolumes(const std::string& node);

  Timeline& timeline_;
  Store& store_;
  const bool used_;
  base::Random random_;
  bool woken_ = false;
};

// Whether the pod's claims are bound to volumes of that node, or could be.
bool VolumesFit(const Store& store, const api::Pod& pod, const api::Node& node);
// A claim of the pod that is not bound to a volume of that node; empty if there is none. One that is gone was deleted
// after a decision that could not know.
std::string FindUnboundVolume(const Store& store, const api::Pod& pod, const std::string& node);

}  // namespace berth::storm
