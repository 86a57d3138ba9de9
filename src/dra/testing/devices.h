// For tests of dynamic resource allocation: slices, classes and claims in a few words.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dra/inventory.h"

namespace berth::dra::testing {

inline constexpr const char* kDriver = "gpu.example.com";

// A device with the attribute "model", if that is not empty.
inline api::Device MakeDevice(const std::string& name, const std::string& model = {}) {
  api::Device device;
  device.name = name;
  if (!model.empty()) device.attributes["model"].string_value = model;
  return device;
}

// The one slice of a node's pool.
inline std::shared_ptr<api::ResourceSlice> MakeSlice(const std::string& node, std::vector<api::Device> devices) {
  auto slice = std::make_shared<api::ResourceSlice>();
  slice->metadata.name = node + "-slice";
  slice->spec.driver = kDriver;
  slice->spec.pool = {node, 1, 1};
  slice->spec.node_name = node;
  slice->spec.devices = std::move(devices);
  return slice;
}

inline std::shared_ptr<api::DeviceClass> MakeClass(const std::string& name, const std::string& resource = {}) {
  auto device_class = std::make_shared<api::DeviceClass>();
  device_class->metadata.name = name;
  if (!resource.empty()) device_class->spec.extended_resource_name = resource;
  return device_class;
}

inline api::DeviceRequest MakeRequest(const std::string& name, int64_t count, const std::string& expression = {}) {
  api::DeviceRequest request;
  request.name = name;
  request.exactly.emplace();
  request.exactly->device_class_name = "gpu";
  request.exactly->allocation_mode = "ExactCount";
  request.exactly->count = count;
  if (!expression.empty()) request.exactly->selectors = {{api::CELDeviceSelector{expression}}};
  return request;
}

inline std::shared_ptr<api::ResourceClaim> MakeClaim(const std::string& name,
                                                     std::vector<api::DeviceRequest> requests = {}) {
  auto claim = std::make_shared<api::ResourceClaim>();
  claim->metadata.namespace_ = Symbol("default");
  claim->metadata.name = name;
  claim->metadata.uid = "uid-" + name;
  claim->spec.devices.requests = std::move(requests);
  return claim;
}

// With these devices of a node allocated to it.
inline std::shared_ptr<api::ResourceClaim> MakeAllocated(const std::string& name, const std::string& node,
                                                         const std::vector<std::string>& devices,
                                                         const std::string& version = "1") {
  auto claim = MakeClaim(name);
  claim->metadata.resource_version = version;
  claim->status.allocation.emplace();
  for (const std::string& device : devices) {
    api::DeviceRequestAllocationResult& result = claim->status.allocation->devices.results.emplace_back();
    result.request = "r";
    result.driver = kDriver;
    result.pool = node;
    result.device = device;
  }
  return claim;
}

inline std::shared_ptr<const api::Node> MakeNode(const std::string& name) {
  auto node = std::make_shared<api::Node>();
  node->metadata.name = name;
  return node;
}

// "r:g0 r:g1 | s:g2": requests and devices, claim by claim; the error, or what kind of refusal it was.
inline std::string TextOf(const AllocationOutcome& outcome) {
  using Kind = AllocationOutcome::Kind;
  if (outcome.kind == Kind::kError) return outcome.error;
  if (outcome.kind == Kind::kTimedOut) return "timed out";
  if (outcome.kind == Kind::kInvalidPools) return "invalid pools";
  if (outcome.kind == Kind::kNone) return "none";
  std::string text;
  for (size_t i = 0; i < outcome.results.size(); ++i) {
    if (i > 0) text += " |";
    for (const api::DeviceRequestAllocationResult& result : outcome.results[i].devices.results) {
      text += (text.empty() ? "" : " ") + result.request + ":" + result.device;
    }
  }
  return text;
}

}  // namespace berth::dra::testing
