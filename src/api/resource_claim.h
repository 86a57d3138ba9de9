// Dynamic resource allocation (resource.k8s.io/v1): what a claim asks for, what a driver offers in its slices, and the
// device classes between them. Device configuration is opaque to scheduling: it is kept as JSON, because an allocation
// passes it on to the driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/node_selector.h"
#include "api/quantity.h"
#include "base/flat_map.h"

namespace berth::api {

// A JSON value that is passed on and never read.
struct RawExtension {
  std::string json;
  friend bool operator==(const RawExtension&, const RawExtension&) = default;
};

struct OpaqueDeviceConfiguration {
  std::string driver;
  RawExtension parameters;
  friend bool operator==(const OpaqueDeviceConfiguration&, const OpaqueDeviceConfiguration&) = default;
};
struct DeviceConfiguration {
  std::optional<OpaqueDeviceConfiguration> opaque;
  friend bool operator==(const DeviceConfiguration&, const DeviceConfiguration&) = default;
};
struct DeviceClassConfiguration {
  DeviceConfiguration device_configuration;
};
struct DeviceClaimConfiguration {
  std::vector<std::string> requests;  // empty: all of the claim
  DeviceConfiguration device_configuration;
};
struct DeviceAllocationConfiguration {
  std::string source;  // FromClass, FromClaim
  std::vector<std::string> requests;
  DeviceConfiguration device_configuration;
  friend bool operator==(const DeviceAllocationConfiguration&, const DeviceAllocationConfiguration&) = default;
};

struct CELDeviceSelector {
  std::string expression;
};
struct DeviceSelector {
  std::optional<CELDeviceSelector> cel;
};

struct DeviceToleration {
  std::string key;
  std::string op;  // JSON operator
  std::string value;
  std::string effect;
  std::optional<int64_t> toleration_seconds;
  friend bool operator==(const DeviceToleration&, const DeviceToleration&) = default;
};

struct CapacityRequirements {
  base::FlatMap<std::string, Quantity> requests;
};

struct ExactDeviceRequest {
  std::string device_class_name;
  std::vector<DeviceSelector> selectors;
  std::string allocation_mode;
  int64_t count = 0;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::optional<CapacityRequirements> capacity;
};

// One of the alternatives of a request, tried in order.
struct DeviceSubRequest {
  std::string name;
  std::string device_class_name;
  std::vector<DeviceSelector> selectors;
  std::string allocation_mode;
  int64_t count = 0;
  std::vector<DeviceToleration> tolerations;
  std::optional<CapacityRequirements> capacity;
};

struct DeviceRequest {
  std::string name;
  std::optional<ExactDeviceRequest> exactly;
  std::vector<DeviceSubRequest> first_available;
};

struct DeviceConstraint {
  std::vector<std::string> requests;  // empty: all of the claim
  std::optional<std::string> match_attribute;
  std::optional<std::string> distinct_attribute;
};

struct DeviceClaim {
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  std::vector<DeviceClaimConfiguration> config;
};

struct ResourceClaimSpec {
  DeviceClaim devices;
};

struct DeviceRequestAllocationResult {
  std::string request;
  std::string driver;
  std::string pool;
  std::string device;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  std::optional<std::string> share_id;  // JSON shareID
  base::FlatMap<std::string, Quantity> consumed_capacity;
  friend bool operator==(const DeviceRequestAllocationResult&, const DeviceRequestAllocationResult&) = default;
};

struct DeviceAllocationResult {
  std::vector<DeviceRequestAllocationResult> results;
  std::vector<DeviceAllocationConfiguration> config;
  friend bool operator==(const DeviceAllocationResult&, const DeviceAllocationResult&) = default;
};

struct AllocationResult {
  DeviceAllocationResult devices;
  std::optional<NodeSelector> node_selector;  // absent: usable on every node
  std::optional<Time> allocation_timestamp;
  friend bool operator==(const AllocationResult&, const AllocationResult&) = default;
};

struct ResourceClaimConsumerReference {
  std::string api_group;
  std::string resource;
  std::string name;
  std::string uid;
  friend bool operator==(const ResourceClaimConsumerReference&, const ResourceClaimConsumerReference&) = default;
};

struct DeviceCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  friend bool operator==(const DeviceCondition&, const DeviceCondition&) = default;
};

// What a driver reports about an allocated device; binding waits for its conditions.
struct AllocatedDeviceStatus {
  std::string driver;
  std::string pool;
  std::string device;
  std::vector<DeviceCondition> conditions;
  std::optional<std::string> share_id;  // JSON shareID
  friend bool operator==(const AllocatedDeviceStatus&, const AllocatedDeviceStatus&) = default;
};

struct ResourceClaimStatus {
  std::optional<AllocationResult> allocation;
  std::vector<ResourceClaimConsumerReference> reserved_for;
  std::vector<AllocatedDeviceStatus> devices;
  friend bool operator==(const ResourceClaimStatus&, const ResourceClaimStatus&) = default;
};

struct ResourceClaim {
  ObjectMeta metadata;
  ResourceClaimSpec spec;
  ResourceClaimStatus status;
};

struct ResourceClaimTemplateSpec {
  ObjectMeta metadata;
  ResourceClaimSpec spec;
};
// Each pod that names it gets its own claim made from it.
struct ResourceClaimTemplate {
  ObjectMeta metadata;
  ResourceClaimTemplateSpec spec;
};

struct ResourcePool {
  std::string name;
  int64_t generation = 0;
  int64_t resource_slice_count = 0;
};

struct Counter {
  Quantity value;
};

struct CounterSet {
  std::string name;
  base::FlatMap<std::string, Counter> counters;
};

struct DeviceCounterConsumption {
  std::string counter_set;
  base::FlatMap<std::string, Counter> counters;
};

// A decoder needs the address of each element, which std::vector<bool> cannot give.
struct BoolValue {
  bool value = false;
  friend bool operator==(const BoolValue&, const BoolValue&) = default;
};

// Exactly one member is set in a valid object.
struct DeviceAttribute {
  std::optional<int64_t> int_value;          // JSON int
  std::optional<bool> bool_value;            // JSON bool
  std::optional<std::string> string_value;   // JSON string
  std::optional<std::string> version_value;  // JSON version
  std::vector<int64_t> int_values;           // JSON ints
  std::vector<BoolValue> bool_values;        // JSON bools
  std::vector<std::string> string_values;    // JSON strings
  std::vector<std::string> version_values;   // JSON versions
  friend bool operator==(const DeviceAttribute&, const DeviceAttribute&) = default;
};

struct CapacityRequestPolicyRange {
  std::optional<Quantity> min;
  std::optional<Quantity> max;
  std::optional<Quantity> step;
};

struct CapacityRequestPolicy {
  std::optional<Quantity> default_value;  // JSON default
  std::vector<Quantity> valid_values;
  std::optional<CapacityRequestPolicyRange> valid_range;
};

struct DeviceCapacity {
  Quantity value;
  std::optional<CapacityRequestPolicy> request_policy;
};

struct DeviceTaint {
  std::string key;
  std::string value;
  std::string effect;
  std::optional<Time> time_added;
  friend bool operator==(const DeviceTaint&, const DeviceTaint&) = default;
};

// How much of a node's allocatable resource the use of a device takes.
struct NodeAllocatableResourceMapping {
  std::optional<std::string> capacity_key;
  std::optional<Quantity> allocation_multiplier;
};

struct Device {
  std::string name;
  base::FlatMap<std::string, DeviceAttribute> attributes;
  base::FlatMap<std::string, DeviceCapacity> capacity;
  std::vector<DeviceCounterConsumption> consumes_counters;
  std::optional<std::string> node_name;
  std::optional<NodeSelector> node_selector;
  std::optional<bool> all_nodes;
  std::vector<DeviceTaint> taints;
  std::optional<bool> binds_to_node;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  std::optional<bool> allow_multiple_allocations;
  base::FlatMap<Symbol, NodeAllocatableResourceMapping> node_allocatable_resource_mappings;
};

struct ResourceSliceSpec {
  std::string driver;
  ResourcePool pool;
  std::optional<std::string> node_name;
  std::optional<NodeSelector> node_selector;
  std::optional<bool> all_nodes;
  std::vector<Device> devices;
  std::optional<bool> per_device_node_selection;
  std::vector<CounterSet> shared_counters;
};

struct ResourceSlice {
  ObjectMeta metadata;
  ResourceSliceSpec spec;
};

struct DeviceClassSpec {
  std::vector<DeviceSelector> selectors;
  std::vector<DeviceClassConfiguration> config;
  std::optional<std::string> extended_resource_name;
};

struct DeviceClass {
  ObjectMeta metadata;
  DeviceClassSpec spec;
};

struct DeviceTaintSelector {
  std::optional<std::string> driver;
  std::optional<std::string> pool;
  std::optional<std::string> device;
};
struct DeviceTaintRuleSpec {
  std::optional<DeviceTaintSelector> device_selector;
  DeviceTaint taint;
};
// An administrator's taint on the devices it selects (gate DRADeviceTaintRules).
struct DeviceTaintRule {
  ObjectMeta metadata;
  DeviceTaintRuleSpec spec;
};

const codec::Message& Describe(const OpaqueDeviceConfiguration*);
const codec::Message& Describe(const DeviceConfiguration*);
const codec::Message& Describe(const DeviceClassConfiguration*);
const codec::Message& Describe(const DeviceClaimConfiguration*);
const codec::Message& Describe(const DeviceAllocationConfiguration*);
const codec::Message& Describe(const CELDeviceSelector*);
const codec::Message& Describe(const DeviceSelector*);
const codec::Message& Describe(const DeviceToleration*);
const codec::Message& Describe(const CapacityRequirements*);
const codec::Message& Describe(const ExactDeviceRequest*);
const codec::Message& Describe(const DeviceSubRequest*);
const codec::Message& Describe(const DeviceRequest*);
const codec::Message& Describe(const DeviceConstraint*);
const codec::Message& Describe(const DeviceClaim*);
const codec::Message& Describe(const ResourceClaimSpec*);
const codec::Message& Describe(const DeviceRequestAllocationResult*);
const codec::Message& Describe(const DeviceAllocationResult*);
const codec::Message& Describe(const AllocationResult*);
const codec::Message& Describe(const ResourceClaimConsumerReference*);
const codec::Message& Describe(const DeviceCondition*);
const codec::Message& Describe(const AllocatedDeviceStatus*);
const codec::Message& Describe(const ResourceClaimStatus*);
const codec::Message& Describe(const ResourceClaim*);
const codec::Message& Describe(const ResourceClaimTemplateSpec*);
const codec::Message& Describe(const ResourceClaimTemplate*);
const codec::Message& Describe(const ResourcePool*);
const codec::Message& Describe(const Counter*);
const codec::Message& Describe(const CounterSet*);
const codec::Message& Describe(const DeviceCounterConsumption*);
const codec::Message& Describe(const DeviceAttribute*);
const codec::Message& Describe(const CapacityRequestPolicyRange*);
const codec::Message& Describe(const CapacityRequestPolicy*);
const codec::Message& Describe(const DeviceCapacity*);
const codec::Message& Describe(const DeviceTaint*);
const codec::Message& Describe(const NodeAllocatableResourceMapping*);
const codec::Message& Describe(const Device*);
const codec::Message& Describe(const ResourceSliceSpec*);
const codec::Message& Describe(const ResourceSlice*);
const codec::Message& Describe(const DeviceClassSpec*);
const codec::Message& Describe(const DeviceClass*);
const codec::Message& Describe(const DeviceTaintSelector*);
const codec::Message& Describe(const DeviceTaintRuleSpec*);
const codec::Message& Describe(const DeviceTaintRule*);

}  // namespace berth::api
