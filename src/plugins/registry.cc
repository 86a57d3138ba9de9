#include "plugins/registry.h"

#include "base/check.h"
#include "plugins/default_binder/default_binder.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/in_tree_volume_limits/in_tree_volume_limits.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_label/node_label.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_prefer_avoid_pods/node_prefer_avoid_pods.h"
#include "plugins/node_resource_limits/node_resource_limits.h"
#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/node_resources_least_allocated/node_resources_least_allocated.h"
#include "plugins/node_resources_most_allocated/node_resources_most_allocated.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/requested_to_capacity_ratio/requested_to_capacity_ratio.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/selector_spread/selector_spread.h"
#include "plugins/service_affinity/service_affinity.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"

namespace berth::plugins {
namespace {

struct InTreePlugin {
  std::string_view name;
  Result<std::unique_ptr<framework::Plugin>> (*create)(const config::PluginArgs& args, framework::Handle& handle);
};

template <class P>
constexpr InTreePlugin Of() {
  return {P::kName, &P::Create};
}

constexpr InTreePlugin kInTreePlugins[] = {
    Of<DefaultBinder>(),
    Of<DefaultPreemption>(),
    Of<DynamicResources>(),
    Of<ImageLocality>(),
    Of<InterPodAffinity>(),
    Of<NodeAffinity>(),
    Of<NodeDeclaredFeatures>(),
    Of<NodeName>(),
    Of<NodePorts>(),
    Of<NodeResourcesBalancedAllocation>(),
    Of<NodeResourcesFit>(),
    Of<NodeUnschedulable>(),
    Of<NodeVolumeLimits>(),
    Of<PodTopologySpread>(),
    Of<PrioritySort>(),
    Of<SchedulingGates>(),
    Of<TaintToleration>(),
    Of<VolumeBinding>(),
    Of<VolumeRestrictions>(),
    Of<VolumeZone>(),

    // Plugins that only older versions of Kubernetes had, for configurations that still name them. In no default
    // profile (docs/plugins-legacy.md).
    Of<AzureDiskLimits>(),
    Of<CinderLimits>(),
    Of<EBSLimits>(),
    Of<GCEPDLimits>(),
    Of<NodeLabel>(),
    Of<NodePreferAvoidPods>(),
    Of<NodeResourceLimits>(),
    Of<NodeResourcesLeastAllocated>(),
    Of<NodeResourcesMostAllocated>(),
    Of<RequestedToCapacityRatio>(),
    Of<SelectorSpread>(),
    Of<ServiceAffinity>(),
};

}  // namespace

framework::Registry InTreeRegistry() {
  framework::Registry registry;
  for (const InTreePlugin& plugin : kInTreePlugins) {
    CHECK_WHY(registry.Register(std::string(plugin.name), plugin.create, "berth itself").ok(),
              "two in-tree plugins share a name");
  }
  return registry;
}

}  // namespace berth::plugins
