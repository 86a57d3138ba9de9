// EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits: a node can attach only a limited number of disks of a cloud's
// in-tree volume type. NodeVolumeLimits counts for the CSI drivers that replaced these types.
//
// Where the node's CSINode says that the type has been migrated to its CSI driver, disks count under the driver's names
// and against the CSINode's limit for it; elsewhere they count by volume type, against the limit that the node reports
// (attachable-volumes-…), else KUBE_MAX_PD_VOLS from the environment, else the cloud's known limit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "api/storage.h"
#include "base/result.h"
#include "base/symbol.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "plugins/args.h"
#include "plugins/node_volume_limits/attachable_volumes.h"
#include "plugins/volume/csi_migration.h"

namespace berth::plugins {

// One volume type and its limits.
struct InTreeDisks {
  std::string_view name;            // of the plugin that counts them
  std::string_view type;            // as provisioners name it
  std::string_view limit_resource;  // of the node's allocatable
  int64_t limit;                    // the default
  int64_t nitro_limit;              // the same on Amazon's Nitro machines, which count network cards too
};
inline constexpr InTreeDisks kEbsDisks{"EBSLimits", "kubernetes.io/aws-ebs", "attachable-volumes-aws-ebs", 39, 25};
inline constexpr InTreeDisks kGcePdDisks{"GCEPDLimits", "kubernetes.io/gce-pd", "attachable-volumes-gce-pd", 16, 16};
inline constexpr InTreeDisks kAzureDisks{"AzureDiskLimits", "kubernetes.io/azure-disk", "attachable-volumes-azure-disk",
                                         16, 16};
inline constexpr InTreeDisks kCinderDisks{"CinderLimits", "kubernetes.io/cinder", "attachable-volumes-cinder", 256,
                                          256};

class InTreeVolumeLimits : public framework::Plugin,
                           public framework::FilterPlugin,
                           public framework::EnqueueExtensions,
                           public framework::SignPlugin {
 public:
  framework::Status Filter(const framework::CycleState& state, const framework::PodInfo& pod,
                           const framework::NodeInfo& node) const final;
  // Claims and volumes are read as well, but only for pods that Sign rejects; the others always pass.
  framework::DependsOn filter_depends_on() const final { return framework::DependsOn::kNodeAndPods; }
  bool FilterRange(const framework::CycleState& state, const framework::PodInfo& pod,
                   const framework::NodeColumns& columns, framework::NodeIndex begin,
                   std::span<uint8_t> verdicts) const final;
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const final;
  bool Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const final;

 protected:
  InTreeVolumeLimits(const InTreeDisks& disks, const framework::Handle& handle);

 private:
  // Disks of the type that the pod uses, directly or through claims; an unbound claim counts when it will get this
  // type.
  framework::Status CollectByType(const VolumeUser& pod, AttachableVolumes& volumes) const;
  framework::Status CollectByDriver(const VolumeUser& pod, AttachableVolumes& volumes) const;
  std::optional<AttachableVolume> FromClaim(const api::PersistentVolumeClaim& claim) const;
  int64_t LimitByType(const framework::NodeInfo& node) const;

  const InTreeDisks& disks_;
  const CsiMigration& migration_;
  const framework::Handle& handle_;
  const Symbol limit_resource_;
  const std::optional<int64_t> limit_from_environment_;
};

// The four plugins differ only in their disks.
template <const InTreeDisks& kDisks>
class LimitsOf final : public InTreeVolumeLimits {
 public:
  static constexpr std::string_view kName = kDisks.name;
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle) {
    if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
    return std::unique_ptr<framework::Plugin>(new LimitsOf(handle));
  }

  std::string_view name() const override { return kName; }

 private:
  explicit LimitsOf(const framework::Handle& handle) : InTreeVolumeLimits(kDisks, handle) {}
};

using EBSLimits = LimitsOf<kEbsDisks>;
using GCEPDLimits = LimitsOf<kGcePdDisks>;
using AzureDiskLimits = LimitsOf<kAzureDisks>;
using CinderLimits = LimitsOf<kCinderDisks>;

}  // namespace berth::plugins
