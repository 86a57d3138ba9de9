// VolumeController: does what the control plane's volume controllers and provisioners would do, at once and without
// failures. Claims are bound to volumes, claims for which the scheduler chose a node get a new volume there, and pods
// with ephemeral volumes get their claims.
// Not thread-safe; acts on a driver as the API would: what it changes is reported as changed objects.
#pragma once

#include <memory>
#include <string>

#include "api/pod.h"
#include "api/storage.h"
#include "scheduler/driver.h"

namespace berth::controllers {

class VolumeController {
 public:
  // The driver must outlive the controller.
  explicit VolumeController(scheduler::Driver& driver)
      : driver_(driver), cluster_(static_cast<const scheduler::Driver&>(driver).cluster()) {}

  // Creates the claims of the pod's generic ephemeral volumes, unless a claim of that name exists.
  void CreateEphemeralClaims(const api::Pod& pod);
  // Binds every claim that can be bound now. One that waits for its first consumer is left alone until the scheduler
  // has chosen a node.
  void Reconcile();

  // The scheduler's writes.
  void Write(std::shared_ptr<const api::PersistentVolume> volume);
  void Write(std::shared_ptr<const api::PersistentVolumeClaim> claim);

 private:
  using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
  using VolumePtr = std::shared_ptr<const api::PersistentVolume>;

  void BindIfPossible(ClaimPtr claim);
  ClaimPtr WithDefaultClass(ClaimPtr claim);
  // A volume that the claim names, or that names the claim; null when there is none.
  VolumePtr FindPromised(const api::PersistentVolumeClaim& claim) const;
  // The volume the controller would choose by itself: the smallest that fits.
  VolumePtr FindMatch(const api::PersistentVolumeClaim& claim) const;
  // `node` is null for a volume that may be anywhere.
  VolumePtr Provision(const api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class,
                      const framework::NodeInfo* node);
  void Bind(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);
  void Store(VolumePtr volume);
  void Store(ClaimPtr claim);

  scheduler::Driver& driver_;
  const cluster::Cluster& cluster_;
};

}  // namespace berth::controllers
