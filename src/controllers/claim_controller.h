// ClaimController: does what the control plane and the device drivers would do about resource claims, at once and
// without failures. Pods get the claims of their templates, unused claims release their devices, and devices that need
// preparation are prepared.
// Not thread-safe; acts on a driver as the API would: what it changes is reported as changed objects.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "api/pod.h"
#include "api/resource_claim.h"
#include "framework/handle.h"
#include "scheduler/driver.h"

namespace berth::controllers {

class ClaimController {
 public:
  using ClaimResult = framework::ApiWriter::ClaimResult;

  // The driver must outlive the controller.
  explicit ClaimController(scheduler::Driver& driver)
      : driver_(driver), cluster_(static_cast<const scheduler::Driver&>(driver).cluster()) {}

  void AddTemplate(std::shared_ptr<const api::ResourceClaimTemplate> made);
  // Creates the claims of the pod's templates, and returns the pod with their names. A pod whose template is missing is
  // returned unchanged, and waits.
  std::shared_ptr<const api::Pod> CreateClaims(const std::shared_ptr<const api::Pod>& pod);
  // The pod is gone: releases its claims.
  void Release(const api::Pod& pod);
  // Makes the devices that claims wait for ready.
  void PrepareDevices();

  // The scheduler's writes.
  ClaimResult Get(const std::string& name_space, const std::string& name) const;
  ClaimResult Create(api::ResourceClaim claim);
  ClaimResult UpdateFinalizers(const api::ResourceClaim& claim);
  ClaimResult UpdateStatus(const api::ResourceClaim& claim);
  void Unreserve(const api::ResourceClaim& claim, const std::string& pod_uid);
  void Deallocate(const api::ResourceClaim& claim);
  void Delete(const api::ResourceClaim& claim);

 private:
  using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

  ClaimPtr Find(std::string_view name_space, std::string_view name) const;
  ClaimPtr Store(api::ResourceClaim claim);

  scheduler::Driver& driver_;
  const cluster::Cluster& cluster_;
  std::map<std::string, std::shared_ptr<const api::ResourceClaimTemplate>> templates_;  // by namespace/name
  uint64_t versions_ = uint64_t{1} << 32;                                               // above those of the input
};

}  // namespace berth::controllers
