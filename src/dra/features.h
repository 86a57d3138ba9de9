// Which parts of dynamic resource allocation are enabled.
#pragma once

#include "config/feature_gates.h"

namespace berth::dra {

struct Features {
  bool admin_access = true;
  bool prioritized_list = true;
  bool partitionable_devices = true;
  bool device_taints = true;
  // Needs two gates: devices with binding conditions are offered only where their drivers can report on them.
  bool binding_conditions = true;
  bool consumable_capacity = true;
  bool extended_resource = true;
  bool filter_timeout = true;
  bool taint_rules = false;
  bool list_type_attributes = false;
  bool node_allocatable_resources = false;

  static Features Of(const config::FeatureGates& gates);
};

inline Features Features::Of(const config::FeatureGates& gates) {
  Features features;
  features.admin_access = gates.Enabled("DRAAdminAccess");
  features.prioritized_list = gates.Enabled("DRAPrioritizedList");
  features.partitionable_devices = gates.Enabled("DRAPartitionableDevices");
  features.device_taints = gates.Enabled("DRADeviceTaints");
  features.binding_conditions =
      gates.Enabled("DRADeviceBindingConditions") && gates.Enabled("DRAResourceClaimDeviceStatus");
  features.consumable_capacity = gates.Enabled("DRAConsumableCapacity");
  features.extended_resource = gates.Enabled("DRAExtendedResource");
  features.filter_timeout = gates.Enabled("DRASchedulerFilterTimeout");
  features.taint_rules = gates.Enabled("DRADeviceTaintRules");
  features.list_type_attributes = gates.Enabled("DRAListTypeAttributes");
  features.node_allocatable_resources = gates.Enabled("DRANodeAllocatableResources");
  return features;
}

}  // namespace berth::dra
