// StaticVolumes: the existing volumes that are not bound to a claim, by class and by the nodes that can use them, kept
// current as volumes change and as decisions about them are assumed and forgotten.
//
// Volumes of a class with equal node affinity form a group: one per node for local volumes, a few in total for network
// disks. Nodes find their groups by the labels that the affinity requires.
// Not thread-safe; used by the scheduling thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/objects.h"
#include "framework/recent_changes.h"
#include "plugins/volume_binding/assumed_objects.h"
#include "plugins/volume_binding/claim_candidates.h"
#include "plugins/volume_binding/pin_index.h"
#include "plugins/volume_binding/volume_affinity.h"

namespace berth::plugins {

class StaticVolumes {
 public:
  using GroupId = uint32_t;
  // Smallest first; the first by name among equals.
  using Order = std::pair<api::Quantity, std::string>;
  struct Group {
    std::string storage_class;
    VolumeAffinity affinity;
    std::optional<Pin> pin;
    std::map<Order, VolumePtr> volumes;  // free ones

    // The first suitable one; null when there is none.
    const std::pair<const Order, VolumePtr>* Find(const ClaimMatcher& claim, const std::set<std::string>& taken) const;
  };

  // Brings everything up to date.
  void CatchUp(const framework::Objects& objects, const AssumedObjects<api::PersistentVolume>& assumed);

  // The rest is valid as of the last CatchUp.
  // Whether some volume is bound, or will be, to a claim of that name.
  bool HasVolumeFor(const api::PersistentVolumeClaim& claim) const;
  // As ClaimCandidates::FindOn, for claims without such a volume.
  VolumePtr FindOn(const ClaimMatcher& claim, std::string_view storage_class, const api::Labels& node_labels,
                   const std::set<std::string>& taken) const;

  const Group& group(GroupId id) const { return groups_[id]; }
  // The groups whose volumes changed, in order. All groups are new when `rebuilds` has changed.
  const framework::RecentChanges<GroupId>& changes() const { return changes_; }
  uint64_t rebuilds() const { return rebuilds_; }
  size_t group_count() const { return groups_.size(); }

 private:
  struct Known {
    std::string claim;  // namespace/name of the claim that the volume is bound to; "" for none
    std::optional<GroupId> group;
    Order order;
  };
  struct OfClass {
    std::unordered_map<std::string, GroupId> by_affinity;
    PinIndex index;
  };

  void Rebuild(const framework::Objects& objects, const AssumedObjects<api::PersistentVolume>& assumed);
  void Add(VolumePtr volume);
  void Remove(const std::string& name);
  GroupId GroupOf(const api::PersistentVolume& volume);

  bool built_ = false;
  uint64_t rebuilds_ = 0;
  uint64_t volumes_seen_ = 0;
  uint64_t assumed_seen_ = 0;
  std::unordered_map<std::string, Known> known_;         // by name
  std::unordered_map<std::string, size_t> claims_;       // how many volumes are bound to the claim
  std::map<std::string, OfClass, std::less<>> classes_;  // by name
  std::deque<Group> groups_;
  framework::RecentChanges<GroupId> changes_{1024};
};

// For signatures and for distinguishing groups: equal texts, equal affinity.
void AppendAffinity(std::string& text, const std::optional<api::VolumeNodeAffinity>& affinity);

}  // namespace berth::plugins
