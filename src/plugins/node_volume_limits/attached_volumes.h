// AttachedVolumes: how many volumes of each CSI driver every node holds and may hold, kept current as pods, claims,
// volumes, attachments and CSINodes change.
//
// A volume counts once per node, for the pods there that use it and for its VolumeAttachment. CollectAttachable finds
// the volumes of a pod, again whenever a claim or volume that it read has changed.
// Not thread-safe; used by the scheduling thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/symbol.h"
#include "framework/cluster_view.h"
#include "framework/objects.h"
#include "framework/recent_changes.h"
#include "plugins/node_volume_limits/attachable_volumes.h"

namespace berth::plugins {

class AttachedVolumes {
 public:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  struct OfDriver {
    std::string driver;
    int64_t held = 0;
    int64_t limit = kNoLimit;
  };
  struct Volume {
    AttachableVolume name;
    size_t holders = 0;  // pods and attachments, on all nodes
    size_t pods = 0;
  };
  struct OfNode {
    Symbol name;
    bool has_csi_node = false;
    bool has_limits = false;
    size_t unclear_pods = 0;  // pods whose volumes are unknown; only Filter can say why
    std::vector<OfDriver> drivers;

    // Whether a pod on this node uses the volume.
    bool IsUsed(const Volume& volume) const;
    const OfDriver* Find(std::string_view driver) const;

   private:
    friend class AttachedVolumes;
    struct Held {
      Volume* volume;
      uint32_t pods = 0;
      uint32_t attachments = 0;
    };
    std::vector<Held> volumes;
  };

  // Brings everything up to date. False: the cluster view does not record changes, so this cannot be used.
  bool CatchUp(const framework::ClusterView& cluster, const framework::Objects& objects);

  // The rest is valid as of the last CatchUp.
  const OfNode& On(const framework::NodeInfo& node);
  // Null when no pod on any node uses the volume.
  const Volume* FindUsed(const AttachableVolume& name) const;

  // The nodes whose counts changed for other reasons than added or removed pods, in order. All counts are new when
  // `rebuilds` has changed.
  const framework::RecentChanges<Symbol>& changes() const { return changes_; }
  uint64_t rebuilds() const { return rebuilds_; }

 private:
  struct Pod {
    framework::PodInfoPtr pod;
    OfNode* node = nullptr;
    std::vector<Volume*> volumes;
    std::vector<std::string> volume_names;  // of the PersistentVolumes that its claims name
    bool unclear = false;
  };
  struct Attachment {
    OfNode* node = nullptr;
    Volume* volume = nullptr;  // null when it does not refer to a CSI volume
    std::string volume_name;   // of the PersistentVolume
  };
  // How far the changes of each kind have been read.
  struct Cursors {
    uint64_t pods = 0;
    uint64_t claims = 0;
    uint64_t volumes = 0;
    uint64_t classes = 0;
    uint64_t csi_nodes = 0;
    uint64_t attachments = 0;
    friend bool operator==(const Cursors&, const Cursors&) = default;
  };

  static Cursors Now(const framework::ClusterView& cluster, const framework::Objects& objects);
  bool CanFollow(const framework::ClusterView& cluster, const framework::Objects& objects) const;
  void Rebuild(const framework::ClusterView& cluster, const framework::Objects& objects);
  void Follow(const framework::ClusterView& cluster, const framework::Objects& objects);

  OfNode& NodeNamed(const Symbol& name, const framework::Objects& objects);
  static void ReadLimits(OfNode& node, const framework::Objects& objects);
  void AddPod(const framework::PodInfoPtr& pod, const Symbol& node_name, const framework::Objects& objects);
  void RemovePod(const framework::PodInfoPtr& pod);
  void Resolve(Pod& pod, const framework::Objects& objects);
  void Unresolve(Pod& pod);
  void ResolveAgain(const std::vector<Pod*>& pods, const framework::Objects& objects);
  void SetAttachment(const std::string& name, const api::VolumeAttachment* attachment,
                     const framework::Objects& objects);
  void FollowVolume(const std::string& name, const framework::Objects& objects);

  Volume* Intern(const AttachableVolume& name);
  void Hold(OfNode& node, Volume* volume, uint32_t OfNode::Held::*count);
  void Release(OfNode& node, Volume* volume, uint32_t OfNode::Held::*count);
  static void Count(OfNode& node, const std::string& driver, int64_t change);

  template <class T>
  using MultiMap = std::unordered_multimap<std::string, T>;

  bool built_ = false;
  uint64_t rebuilds_ = 0;
  Cursors seen_;
  std::unordered_map<Symbol, OfNode> nodes_;
  size_t nodes_when_built_ = 0;
  std::vector<OfNode*> by_index_;  // by node index; stale when its name is not that node's
  std::unordered_map<const framework::PodInfo*, Pod> pods_;
  MultiMap<Pod*> by_claim_;   // by namespace/name
  MultiMap<Pod*> by_volume_;  // by the name of the PersistentVolume
  std::unordered_map<std::string, Attachment> attachments_;
  MultiMap<std::string> attachments_by_volume_;
  std::unordered_map<std::string, Volume> volumes_;  // by driver and handle
  framework::RecentChanges<Symbol> changes_{1024};
  const framework::Objects* objects_ = nullptr;  // as of the last CatchUp
};

}  // namespace berth::plugins
