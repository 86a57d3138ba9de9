#include "perf/bench_devices.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "api/resource_claim.h"
#include "perf/bench_workload.h"

namespace berth::perf {
namespace {

constexpr uint64_t kDevicesPerNode = 8;
constexpr uint64_t kZones = 3;
// For kinds in which every node sees every pool.
constexpr uint64_t kCommonPools = 1000;
constexpr char kDriver[] = "gpu.example.com";
constexpr char kResource[] = "example.com/gpu";

api::Device MakeDevice(std::string name, std::string profile) {
  api::Device device;
  device.name = std::move(name);
  device.attributes["profile"].string_value = std::move(profile);
  device.capacity["memory"].value = api::Quantity::FromInt(int64_t{80} << 30, api::Quantity::Format::kBinarySI);
  return device;
}

api::ResourceSlice MakeSlice(const std::string& name, const std::string& pool, int64_t slices) {
  api::ResourceSlice slice;
  slice.metadata.name = name;
  slice.spec.driver = kDriver;
  slice.spec.pool = {pool, 1, slices};
  return slice;
}

void FillNode(const std::string& node, scheduler::Driver& driver) {
  api::ResourceSlice slice = MakeSlice(node + "-gpus", node, 1);
  slice.spec.node_name = node;
  for (uint64_t i = 0; i < kDevicesPerNode; ++i) slice.spec.devices.push_back(MakeDevice(fmt::format("g{}", i), "1"));
  PutObject(std::move(slice), driver);
}

void FillZone(uint64_t zone, uint64_t devices, scheduler::Driver& driver) {
  constexpr uint64_t kPerSlice = 128;
  const std::string pool = fmt::format("zone-{}", zone);
  const uint64_t slices = (devices + kPerSlice - 1) / kPerSlice;
  for (uint64_t s = 0; s < slices; ++s) {
    api::ResourceSlice slice = MakeSlice(fmt::format("{}-{:05}", pool, s), pool, static_cast<int64_t>(slices));
    slice.spec.node_selector.emplace().node_selector_terms.push_back(
        {{{Symbol("topology.kubernetes.io/zone"), "In", {Symbol(pool)}}}, {}});
    for (uint64_t i = s * kPerSlice; i < std::min((s + 1) * kPerSlice, devices); ++i) {
      slice.spec.devices.push_back(MakeDevice(fmt::format("g{}", i), "1"));
    }
    PutObject(std::move(slice), driver);
  }
}

void FillPartitions(const std::string& node, scheduler::Driver& driver) {
  const auto counter = [](int64_t amount) { return api::Counter{api::Quantity::FromInt(amount)}; };
  api::ResourceSlice counters = MakeSlice(node + "-counters", node, 2);
  counters.spec.node_name = node;
  counters.spec.shared_counters = {{"gpu", {{"slices", counter(8)}}}};
  PutObject(std::move(counters), driver);
  api::ResourceSlice slice = MakeSlice(node + "-partitions", node, 2);
  slice.spec.node_name = node;
  for (int64_t size = 8; size >= 1; size /= 2) {
    for (int64_t i = 0; i < 8 / size; ++i) {
      api::Device device = MakeDevice(fmt::format("p{}-{}", size, i), std::to_string(size));
      device.consumes_counters = {{"gpu", {{"slices", counter(size)}}}};
      slice.spec.devices.push_back(std::move(device));
    }
  }
  PutObject(std::move(slice), driver);
}

bool HasCommonPools(std::string_view kind) { return kind == "draconsumable" || kind == "drapairs"; }

// Pools for all nodes, each with a device that is shared by capacity.
void FillConsumable(scheduler::Driver& driver) {
  for (uint64_t i = 0; i < kCommonPools; ++i) {
    api::ResourceSlice slice = MakeSlice(fmt::format("common-{}", i), fmt::format("common-{}", i), 1);
    slice.spec.all_nodes = true;
    api::Device device = MakeDevice("g0", "1");
    device.allow_multiple_allocations = true;
    api::CapacityRequestPolicy& policy = device.capacity["memory"].request_policy.emplace();
    policy.default_value = api::Quantity::FromInt(int64_t{1} << 30, api::Quantity::Format::kBinarySI);
    policy.valid_range.emplace().min = policy.default_value;
    slice.spec.devices.push_back(std::move(device));
    PutObject(std::move(slice), driver);
  }
}

// Pools for all nodes, each with a half and four quarters of a device: the half and a quarter make a pair, and the
// remaining quarter obstructs every later search.
void FillPairs(scheduler::Driver& driver) {
  const auto one = [] { return api::Counter{api::Quantity::FromInt(1)}; };
  for (uint64_t i = 0; i < kCommonPools; ++i) {
    const std::string pool = fmt::format("common-{}", i);
    api::ResourceSlice counters = MakeSlice(pool + "-counters", pool, 2);
    counters.spec.all_nodes = true;
    counters.spec.shared_counters = {{"gpu", {{"q0", one()}, {"q1", one()}, {"q2", one()}, {"q3", one()}}}};
    PutObject(std::move(counters), driver);
    api::ResourceSlice slice = MakeSlice(pool + "-devices", pool, 2);
    slice.spec.all_nodes = true;
    slice.spec.devices.push_back(MakeDevice("half", "1"));
    slice.spec.devices.back().consumes_counters = {{"gpu", {{"q0", one()}, {"q1", one()}}}};
    for (int quarter = 0; quarter < 4; ++quarter) {
      slice.spec.devices.push_back(MakeDevice(fmt::format("quarter-{}", quarter), "1"));
      slice.spec.devices.back().consumes_counters = {{"gpu", {{fmt::format("q{}", quarter), one()}}}};
    }
    for (api::Device& device : slice.spec.devices) {
      device.attributes["number"].int_value = static_cast<int64_t>(i);
    }
    PutObject(std::move(slice), driver);
  }
}

std::string ClaimName(uint64_t number) { return fmt::format("pod-{}-gpu", number); }

}  // namespace

bool IsDeviceKind(std::string_view kind) { return kind.starts_with("dra"); }

std::string ExtendedClaimName(uint64_t number) { return fmt::format("pod-{}-extended-resources-x", number); }

void FillDevices(std::string_view kind, uint64_t nodes, scheduler::Driver& driver) {
  api::DeviceClass device_class;
  device_class.metadata.name = "gpu";
  device_class.spec.selectors = {{api::CELDeviceSelector{"device.driver == \"gpu.example.com\""}}};
  if (kind == "draextended") device_class.spec.extended_resource_name = kResource;
  PutObject(std::move(device_class), driver);
  if (kind == "draconsumable") FillConsumable(driver);
  if (kind == "drapairs") FillPairs(driver);
  for (uint64_t zone = 0; kind == "drashared" && zone < kZones; ++zone) {
    FillZone(zone, nodes * kDevicesPerNode / kZones, driver);
  }
  for (uint64_t i = 0; kind != "drashared" && kind != "drapairs" && i < nodes; ++i) {
    const std::string node = fmt::format("node-{}", i);
    kind == "drapartition" ? FillPartitions(node, driver) : FillNode(node, driver);
  }
}

void ShapeDevicePod(std::string_view kind, uint64_t number, api::Pod& pod) {
  if (kind == "draextended") {
    pod.spec.containers.front().resources.requests.Set(Symbol(kResource), api::Quantity::FromInt(1));
    return;
  }
  pod.spec.resource_claims = {{"gpu", std::nullopt, "one-gpu"}};
  pod.status.resource_claim_statuses = {{"gpu", ClaimName(number)}};
}

void TurnDevices(std::string_view kind, uint64_t number, uint64_t nodes, scheduler::Driver& driver) {
  const bool extended = kind == "draextended";
  const uint64_t places = HasCommonPools(kind) ? kCommonPools : nodes * kDevicesPerNode;
  const uint64_t lifetime = places * 3 / 4;
  if (number >= lifetime) {
    const uint64_t old = number - lifetime;
    BenchWorkload::EndPod(old, driver);
    const auto* claim = std::as_const(driver).cluster().objects().resource_claims.FindShared(
        "default", extended ? ExtendedClaimName(old) : ClaimName(old));
    if (claim) driver.Remove(api::Object(*claim));
  }
  if (extended) return;
  api::ResourceClaim claim;
  claim.metadata.name = ClaimName(number);
  claim.metadata.namespace_ = Symbol("default");
  claim.metadata.uid = claim.metadata.name;
  claim.metadata.resource_version = "1";
  claim.metadata.owner_references = {{"v1", "Pod", fmt::format("pod-{}", number), BenchWorkload::UidOf(number), true}};
  api::DeviceRequest& request = claim.spec.devices.requests.emplace_back();
  request.name = "gpu";
  request.exactly.emplace();
  request.exactly->device_class_name = "gpu";
  request.exactly->allocation_mode = "ExactCount";
  request.exactly->count = 1;
  request.exactly->selectors = {{api::CELDeviceSelector{"device.attributes[\"gpu.example.com\"].profile == \"1\""}}};
  if (kind == "drapairs") {
    request.exactly->count = 2;
    claim.spec.devices.constraints.emplace_back().match_attribute = "gpu.example.com/number";
  }
  if (kind == "draconsumable") {
    request.exactly->selectors = {{api::CELDeviceSelector{"device.allowMultipleAllocations"}}};
    request.exactly->capacity.emplace().requests.Set(
        "memory", api::Quantity::FromInt(int64_t{40} << 30, api::Quantity::Format::kBinarySI));
    api::DeviceRequest second = request;
    second.name = "second";
    claim.spec.devices.requests.push_back(std::move(second));
  }
  PutObject(std::move(claim), driver);
}

}  // namespace berth::perf
