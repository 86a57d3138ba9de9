#include "api/resource_claim.h"
#include "api/scalars.h"
#include "api/selector_schema.h"
#include "codec/json_writer.h"
#include "codec/protobuf_wire.h"
#include "codec/schema.h"

template <>
struct berth::codec::internal::TypeMaker<berth::api::BoolValue> {
  // A struct of one bool stores the bool at its own address.
  static constexpr Type Make() { return {.kind = Type::Kind::kBool}; }
};

template <>
struct berth::codec::ScalarTraits<berth::api::RawExtension> {
  static std::string FromJson(const Value& value, berth::api::RawExtension& out) {
    out.json.clear();
    JsonWriter(out.json).Write(value);
    return {};
  }
  static void ToJson(const berth::api::RawExtension& value, JsonWriter& writer) { writer.Raw(value.json); }
  static bool FromProtobuf(std::string_view payload, berth::api::RawExtension& out) {
    out.json.clear();
    WireReader reader(payload);
    while (reader.Next()) {
      if (reader.number() == 1) out.json = reader.bytes();
    }
    return reader.ok();
  }
  static void ToProtobuf(const berth::api::RawExtension& value, std::string& payload) {
    WireWriter(payload).Bytes(1, value.json);
  }
  static bool IsEmpty(const berth::api::RawExtension& value) { return value.json.empty(); }
};

namespace berth::api {

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const OpaqueDeviceConfiguration*) {
  static const codec::Message message = codec::MessageOf<OpaqueDeviceConfiguration>("OpaqueDeviceConfiguration", {
      codec::Field("driver", 1, &OpaqueDeviceConfiguration::driver),
      codec::Field("parameters", 2, &OpaqueDeviceConfiguration::parameters),
  });
  return message;
}

const codec::Message& Describe(const DeviceConfiguration*) {
  static const codec::Message message = codec::MessageOf<DeviceConfiguration>("DeviceConfiguration", {
      codec::Field("opaque", 1, &DeviceConfiguration::opaque),
  });
  return message;
}

const codec::Message& Describe(const DeviceClassConfiguration*) {
  static const codec::Message message = codec::MessageOf<DeviceClassConfiguration>("DeviceClassConfiguration", {
      codec::Inline("deviceConfiguration", 1, &DeviceClassConfiguration::device_configuration),
  });
  return message;
}

const codec::Message& Describe(const DeviceClaimConfiguration*) {
  static const codec::Message message = codec::MessageOf<DeviceClaimConfiguration>("DeviceClaimConfiguration", {
      codec::Field("requests", 1, &DeviceClaimConfiguration::requests),
      codec::Inline("deviceConfiguration", 2, &DeviceClaimConfiguration::device_configuration),
  });
  return message;
}

const codec::Message& Describe(const DeviceAllocationConfiguration*) {
  static const codec::Message message =
      codec::MessageOf<DeviceAllocationConfiguration>("DeviceAllocationConfiguration", {
      codec::Field("source", 1, &DeviceAllocationConfiguration::source),
      codec::Field("requests", 2, &DeviceAllocationConfiguration::requests),
      codec::Inline("deviceConfiguration", 3, &DeviceAllocationConfiguration::device_configuration),
  });
  return message;
}

const codec::Message& Describe(const CELDeviceSelector*) {
  static const codec::Message message = codec::MessageOf<CELDeviceSelector>("CELDeviceSelector", {
      codec::Field("expression", 1, &CELDeviceSelector::expression),
  });
  return message;
}

const codec::Message& Describe(const DeviceSelector*) {
  static const codec::Message message = codec::MessageOf<DeviceSelector>("DeviceSelector", {
      codec::Field("cel", 1, &DeviceSelector::cel),
  });
  return message;
}

const codec::Message& Describe(const DeviceToleration*) {
  static const codec::Message message = codec::MessageOf<DeviceToleration>("DeviceToleration", {
      codec::Field("key", 1, &DeviceToleration::key),
      codec::Field("operator", 2, &DeviceToleration::op),
      codec::Field("value", 3, &DeviceToleration::value),
      codec::Field("effect", 4, &DeviceToleration::effect),
      codec::Field("tolerationSeconds", 5, &DeviceToleration::toleration_seconds),
  });
  return message;
}

const codec::Message& Describe(const CapacityRequirements*) {
  static const codec::Message message = codec::MessageOf<CapacityRequirements>("CapacityRequirements", {
      codec::Field("requests", 1, &CapacityRequirements::requests),
  });
  return message;
}

const codec::Message& Describe(const ExactDeviceRequest*) {
  static const codec::Message message = codec::MessageOf<ExactDeviceRequest>("ExactDeviceRequest", {
      codec::Field("deviceClassName", 1, &ExactDeviceRequest::device_class_name),
      codec::Field("selectors", 2, &ExactDeviceRequest::selectors),
      codec::Field("allocationMode", 3, &ExactDeviceRequest::allocation_mode),
      codec::Field("count", 4, &ExactDeviceRequest::count),
      codec::Field("adminAccess", 5, &ExactDeviceRequest::admin_access),
      codec::Field("tolerations", 6, &ExactDeviceRequest::tolerations),
      codec::Field("capacity", 7, &ExactDeviceRequest::capacity),
  });
  return message;
}

const codec::Message& Describe(const DeviceSubRequest*) {
  static const codec::Message message = codec::MessageOf<DeviceSubRequest>("DeviceSubRequest", {
      codec::Field("name", 1, &DeviceSubRequest::name),
      codec::Field("deviceClassName", 2, &DeviceSubRequest::device_class_name),
      codec::Field("selectors", 3, &DeviceSubRequest::selectors),
      codec::Field("allocationMode", 4, &DeviceSubRequest::allocation_mode),
      codec::Field("count", 5, &DeviceSubRequest::count),
      codec::Field("tolerations", 6, &DeviceSubRequest::tolerations),
      codec::Field("capacity", 7, &DeviceSubRequest::capacity),
  });
  return message;
}

const codec::Message& Describe(const DeviceRequest*) {
  static const codec::Message message = codec::MessageOf<DeviceRequest>("DeviceRequest", {
      codec::Field("name", 1, &DeviceRequest::name),
      codec::Field("exactly", 2, &DeviceRequest::exactly),
      codec::Field("firstAvailable", 3, &DeviceRequest::first_available),
  });
  return message;
}

const codec::Message& Describe(const DeviceConstraint*) {
  static const codec::Message message = codec::MessageOf<DeviceConstraint>("DeviceConstraint", {
      codec::Field("requests", 1, &DeviceConstraint::requests),
      codec::Field("matchAttribute", 2, &DeviceConstraint::match_attribute),
      codec::Field("distinctAttribute", 3, &DeviceConstraint::distinct_attribute),
  });
  return message;
}

const codec::Message& Describe(const DeviceClaim*) {
  static const codec::Message message = codec::MessageOf<DeviceClaim>("DeviceClaim", {
      codec::Field("requests", 1, &DeviceClaim::requests),
      codec::Field("constraints", 2, &DeviceClaim::constraints),
      codec::Field("config", 3, &DeviceClaim::config),
  });
  return message;
}

const codec::Message& Describe(const ResourceClaimSpec*) {
  static const codec::Message message = codec::MessageOf<ResourceClaimSpec>("ResourceClaimSpec", {
      codec::Field("devices", 1, &ResourceClaimSpec::devices),
  });
  return message;
}

const codec::Message& Describe(const DeviceRequestAllocationResult*) {
  static const codec::Message message =
      codec::MessageOf<DeviceRequestAllocationResult>("DeviceRequestAllocationResult", {
      codec::Field("request", 1, &DeviceRequestAllocationResult::request),
      codec::Field("driver", 2, &DeviceRequestAllocationResult::driver),
      codec::Field("pool", 3, &DeviceRequestAllocationResult::pool),
      codec::Field("device", 4, &DeviceRequestAllocationResult::device),
      codec::Field("adminAccess", 5, &DeviceRequestAllocationResult::admin_access),
      codec::Field("tolerations", 6, &DeviceRequestAllocationResult::tolerations),
      codec::Field("bindingConditions", 7, &DeviceRequestAllocationResult::binding_conditions),
      codec::Field("bindingFailureConditions", 8, &DeviceRequestAllocationResult::binding_failure_conditions),
      codec::Field("shareID", 9, &DeviceRequestAllocationResult::share_id),
      codec::Field("consumedCapacity", 10, &DeviceRequestAllocationResult::consumed_capacity),
  });
  return message;
}

const codec::Message& Describe(const DeviceAllocationResult*) {
  static const codec::Message message = codec::MessageOf<DeviceAllocationResult>("DeviceAllocationResult", {
      codec::Field("results", 1, &DeviceAllocationResult::results),
      codec::Field("config", 2, &DeviceAllocationResult::config),
  });
  return message;
}

const codec::Message& Describe(const AllocationResult*) {
  static const codec::Message message = codec::MessageOf<AllocationResult>("AllocationResult", {
      codec::Field("devices", 1, &AllocationResult::devices),
      codec::Field("nodeSelector", 3, &AllocationResult::node_selector),
      codec::Field("allocationTimestamp", 5, &AllocationResult::allocation_timestamp),
  });
  return message;
}

const codec::Message& Describe(const ResourceClaimConsumerReference*) {
  static const codec::Message message =
      codec::MessageOf<ResourceClaimConsumerReference>("ResourceClaimConsumerReference", {
      codec::Field("apiGroup", 1, &ResourceClaimConsumerReference::api_group),
      codec::Field("resource", 3, &ResourceClaimConsumerReference::resource),
      codec::Field("name", 4, &ResourceClaimConsumerReference::name),
      codec::Field("uid", 5, &ResourceClaimConsumerReference::uid),
  });
  return message;
}

const codec::Message& Describe(const DeviceCondition*) {
  static const codec::Message message = codec::MessageOf<DeviceCondition>("DeviceCondition", {
      codec::Field("type", 1, &DeviceCondition::type),
      codec::Field("status", 2, &DeviceCondition::status),
      codec::Field("reason", 5, &DeviceCondition::reason),
      codec::Field("message", 6, &DeviceCondition::message),
  }).Ignore({"observedGeneration", "lastTransitionTime"});
  return message;
}

const codec::Message& Describe(const AllocatedDeviceStatus*) {
  static const codec::Message message = codec::MessageOf<AllocatedDeviceStatus>("AllocatedDeviceStatus", {
      codec::Field("driver", 1, &AllocatedDeviceStatus::driver),
      codec::Field("pool", 2, &AllocatedDeviceStatus::pool),
      codec::Field("device", 3, &AllocatedDeviceStatus::device),
      codec::Field("shareID", 7, &AllocatedDeviceStatus::share_id),
      codec::Field("conditions", 4, &AllocatedDeviceStatus::conditions),
  }).Ignore({"data", "networkData"});
  return message;
}

const codec::Message& Describe(const ResourceClaimStatus*) {
  static const codec::Message message = codec::MessageOf<ResourceClaimStatus>("ResourceClaimStatus", {
      codec::Field("allocation", 1, &ResourceClaimStatus::allocation),
      codec::Field("reservedFor", 2, &ResourceClaimStatus::reserved_for),
      codec::Field("devices", 4, &ResourceClaimStatus::devices),
  });
  return message;
}

const codec::Message& Describe(const ResourceClaim*) {
  static const codec::Message message = codec::MessageOf<ResourceClaim>("ResourceClaim", {
      codec::Field("metadata", 1, &ResourceClaim::metadata),
      codec::Field("spec", 2, &ResourceClaim::spec),
      codec::Field("status", 3, &ResourceClaim::status),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const ResourceClaimTemplateSpec*) {
  static const codec::Message message = codec::MessageOf<ResourceClaimTemplateSpec>("ResourceClaimTemplateSpec", {
      codec::Field("metadata", 1, &ResourceClaimTemplateSpec::metadata),
      codec::Field("spec", 2, &ResourceClaimTemplateSpec::spec),
  });
  return message;
}

const codec::Message& Describe(const ResourceClaimTemplate*) {
  static const codec::Message message = codec::MessageOf<ResourceClaimTemplate>("ResourceClaimTemplate", {
      codec::Field("metadata", 1, &ResourceClaimTemplate::metadata),
      codec::Field("spec", 2, &ResourceClaimTemplate::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const ResourcePool*) {
  static const codec::Message message = codec::MessageOf<ResourcePool>("ResourcePool", {
      codec::Field("name", 1, &ResourcePool::name),
      codec::Field("generation", 2, &ResourcePool::generation),
      codec::Field("resourceSliceCount", 3, &ResourcePool::resource_slice_count),
  });
  return message;
}

const codec::Message& Describe(const Counter*) {
  static const codec::Message message = codec::MessageOf<Counter>("Counter", {
      codec::Field("value", 1, &Counter::value),
  });
  return message;
}

const codec::Message& Describe(const CounterSet*) {
  static const codec::Message message = codec::MessageOf<CounterSet>("CounterSet", {
      codec::Field("name", 1, &CounterSet::name),
      codec::Field("counters", 2, &CounterSet::counters),
  });
  return message;
}

const codec::Message& Describe(const DeviceCounterConsumption*) {
  static const codec::Message message = codec::MessageOf<DeviceCounterConsumption>("DeviceCounterConsumption", {
      codec::Field("counterSet", 1, &DeviceCounterConsumption::counter_set),
      codec::Field("counters", 2, &DeviceCounterConsumption::counters),
  });
  return message;
}

const codec::Message& Describe(const DeviceAttribute*) {
  static const codec::Message message = codec::MessageOf<DeviceAttribute>("DeviceAttribute", {
      codec::Field("int", 2, &DeviceAttribute::int_value),
      codec::Field("bool", 3, &DeviceAttribute::bool_value),
      codec::Field("string", 4, &DeviceAttribute::string_value),
      codec::Field("version", 5, &DeviceAttribute::version_value),
      codec::Field("ints", 6, &DeviceAttribute::int_values),
      codec::Field("bools", 7, &DeviceAttribute::bool_values),
      codec::Field("strings", 8, &DeviceAttribute::string_values),
      codec::Field("versions", 9, &DeviceAttribute::version_values),
  });
  return message;
}

const codec::Message& Describe(const CapacityRequestPolicyRange*) {
  static const codec::Message message = codec::MessageOf<CapacityRequestPolicyRange>("CapacityRequestPolicyRange", {
      codec::Field("min", 1, &CapacityRequestPolicyRange::min),
      codec::Field("max", 2, &CapacityRequestPolicyRange::max),
      codec::Field("step", 3, &CapacityRequestPolicyRange::step),
  });
  return message;
}

const codec::Message& Describe(const CapacityRequestPolicy*) {
  static const codec::Message message = codec::MessageOf<CapacityRequestPolicy>("CapacityRequestPolicy", {
      codec::Field("default", 1, &CapacityRequestPolicy::default_value),
      codec::Field("validValues", 3, &CapacityRequestPolicy::valid_values),
      codec::Field("validRange", 4, &CapacityRequestPolicy::valid_range),
  });
  return message;
}

const codec::Message& Describe(const DeviceCapacity*) {
  static const codec::Message message = codec::MessageOf<DeviceCapacity>("DeviceCapacity", {
      codec::Field("value", 1, &DeviceCapacity::value),
      codec::Field("requestPolicy", 2, &DeviceCapacity::request_policy),
  });
  return message;
}

const codec::Message& Describe(const DeviceTaint*) {
  static const codec::Message message = codec::MessageOf<DeviceTaint>("DeviceTaint", {
      codec::Field("key", 1, &DeviceTaint::key),
      codec::Field("value", 2, &DeviceTaint::value),
      codec::Field("effect", 3, &DeviceTaint::effect),
      codec::Field("timeAdded", 4, &DeviceTaint::time_added),
  });
  return message;
}

const codec::Message& Describe(const NodeAllocatableResourceMapping*) {
  static const codec::Message message =
      codec::MessageOf<NodeAllocatableResourceMapping>("NodeAllocatableResourceMapping", {
      codec::Field("capacityKey", 1, &NodeAllocatableResourceMapping::capacity_key),
      codec::Field("allocationMultiplier", 2, &NodeAllocatableResourceMapping::allocation_multiplier),
  });
  return message;
}

const codec::Message& Describe(const Device*) {
  static const codec::Message message = codec::MessageOf<Device>("Device", {
      codec::Field("name", 1, &Device::name),
      codec::Field("attributes", 2, &Device::attributes),
      codec::Field("capacity", 3, &Device::capacity),
      codec::Field("consumesCounters", 4, &Device::consumes_counters),
      codec::Field("nodeName", 5, &Device::node_name),
      codec::Field("nodeSelector", 6, &Device::node_selector),
      codec::Field("allNodes", 7, &Device::all_nodes),
      codec::Field("taints", 8, &Device::taints),
      codec::Field("bindsToNode", 9, &Device::binds_to_node),
      codec::Field("bindingConditions", 10, &Device::binding_conditions),
      codec::Field("bindingFailureConditions", 11, &Device::binding_failure_conditions),
      codec::Field("allowMultipleAllocations", 12, &Device::allow_multiple_allocations),
      codec::Field("nodeAllocatableResourceMappings", 13, &Device::node_allocatable_resource_mappings),
  });
  return message;
}

const codec::Message& Describe(const ResourceSliceSpec*) {
  static const codec::Message message = codec::MessageOf<ResourceSliceSpec>("ResourceSliceSpec", {
      codec::Field("driver", 1, &ResourceSliceSpec::driver),
      codec::Field("pool", 2, &ResourceSliceSpec::pool),
      codec::Field("nodeName", 3, &ResourceSliceSpec::node_name),
      codec::Field("nodeSelector", 4, &ResourceSliceSpec::node_selector),
      codec::Field("allNodes", 5, &ResourceSliceSpec::all_nodes),
      codec::Field("devices", 6, &ResourceSliceSpec::devices),
      codec::Field("perDeviceNodeSelection", 7, &ResourceSliceSpec::per_device_node_selection),
      codec::Field("sharedCounters", 8, &ResourceSliceSpec::shared_counters),
  });
  return message;
}

const codec::Message& Describe(const ResourceSlice*) {
  static const codec::Message message = codec::MessageOf<ResourceSlice>("ResourceSlice", {
      codec::Field("metadata", 1, &ResourceSlice::metadata),
      codec::Field("spec", 2, &ResourceSlice::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const DeviceClassSpec*) {
  static const codec::Message message = codec::MessageOf<DeviceClassSpec>("DeviceClassSpec", {
      codec::Field("selectors", 1, &DeviceClassSpec::selectors),
      codec::Field("config", 2, &DeviceClassSpec::config),
      codec::Field("extendedResourceName", 4, &DeviceClassSpec::extended_resource_name),
  });
  return message;
}

const codec::Message& Describe(const DeviceClass*) {
  static const codec::Message message = codec::MessageOf<DeviceClass>("DeviceClass", {
      codec::Field("metadata", 1, &DeviceClass::metadata),
      codec::Field("spec", 2, &DeviceClass::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const DeviceTaintSelector*) {
  static const codec::Message message = codec::MessageOf<DeviceTaintSelector>("DeviceTaintSelector", {
      codec::Field("driver", 2, &DeviceTaintSelector::driver),
      codec::Field("pool", 3, &DeviceTaintSelector::pool),
      codec::Field("device", 4, &DeviceTaintSelector::device),
  });
  return message;
}

const codec::Message& Describe(const DeviceTaintRuleSpec*) {
  static const codec::Message message = codec::MessageOf<DeviceTaintRuleSpec>("DeviceTaintRuleSpec", {
      codec::Field("deviceSelector", 1, &DeviceTaintRuleSpec::device_selector),
      codec::Field("taint", 2, &DeviceTaintRuleSpec::taint),
  });
  return message;
}

const codec::Message& Describe(const DeviceTaintRule*) {
  static const codec::Message message = codec::MessageOf<DeviceTaintRule>("DeviceTaintRule", {
      codec::Field("metadata", 1, &DeviceTaintRule::metadata),
      codec::Field("spec", 2, &DeviceTaintRule::spec),
  }).Ignore({"apiVersion", "kind", "status"});
  return message;
}

// clang-format on

}  // namespace berth::api
