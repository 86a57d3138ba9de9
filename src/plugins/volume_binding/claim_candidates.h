// The existing volumes that could be bound to a claim which waits for its first consumer. Everything that does not
// depend on the node is decided once; per node only the volumes' affinity is checked.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/selector.h"
#include "api/storage.h"
#include "plugins/volume_binding/volume_affinity.h"

namespace berth::plugins {

using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
using VolumePtr = std::shared_ptr<const api::PersistentVolume>;

// Whether a free volume is suitable for a claim, whatever its name.
class ClaimMatcher {
 public:
  explicit ClaimMatcher(const api::PersistentVolumeClaim& claim);

  // For volumes of the claim's class that are not bound to a claim. Does not consider the node.
  bool Accepts(const api::PersistentVolume& volume) const;
  // What even a volume bound to the claim in advance must satisfy.
  bool IsEligible(const api::PersistentVolume& volume) const;

  const api::Quantity& requested() const { return requested_; }
  // Not empty when the claim's selector is invalid: then no node can be judged.
  const std::string& error() const { return error_; }

 private:
  api::Quantity requested_;
  std::string mode_;
  std::string attributes_class_;
  std::vector<std::string> access_modes_;
  api::Selector selector_ = api::Selector::Everything();
  std::string error_;
};

class ClaimCandidates {
 public:
  // `volumes` are those of the claim's class, in name order.
  ClaimCandidates(const api::PersistentVolumeClaim& claim, std::span<const VolumePtr> volumes);

  // A volume bound to this claim in advance, else the smallest that is large enough; the first by name among equals.
  // Null when none is suitable. `taken` were chosen for other claims of the pod.
  VolumePtr FindOn(const api::Labels& node_labels, const std::set<std::string>& taken) const;

  // Not empty when the claim's selector is invalid: then no node can be judged.
  const std::string& error() const { return error_; }

 private:
  struct Candidate {
    VolumePtr volume;
    api::Quantity capacity;
    VolumeAffinity affinity;
  };

  std::vector<Candidate> prebound_;   // by name
  std::vector<Candidate> available_;  // by capacity, then name
  std::string error_;
};

// Volumes in another phase are about to change; choosing one now would usually end in a conflict.
bool IsAvailable(const api::PersistentVolume& volume);

// The storage that the claim requests or the volume offers; zero when unset.
api::Quantity RequestedStorage(const api::PersistentVolumeClaim& claim);
bool RequestsStorage(const api::PersistentVolumeClaim& claim);
api::Quantity StorageCapacity(const api::PersistentVolume& volume);

// By name, namespace and, if the volume has it, UID.
bool IsBoundTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);

}  // namespace berth::plugins
