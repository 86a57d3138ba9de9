#include "plugins/node_resources/scored_resources.h"

#include <algorithm>
#include <utility>

#include "dra/inventory.h"
#include "plugins/node_resources/device_count.h"
#include "plugins/node_resources/incoming_pod.h"

namespace berth::plugins {
namespace {

using framework::NodeColumns;
using framework::NodeInfo;
using framework::PodInfo;

framework::PodRequestOptions ContainersWithDefaults() {
  framework::PodRequestOptions options;
  options.skip_pod_level_resources = true;
  options.missing_container_requests = {
      {framework::CpuName(), api::Quantity::FromMilli(framework::kDefaultMilliCpuRequest)},
      {framework::MemoryName(), api::Quantity::FromInt(framework::kDefaultMemoryRequest)}};
  return options;
}

}  // namespace

ScoredResources::ScoredResources(std::span<const config::ResourceSpec> resources, Basis basis,
                                 const config::FeatureGates& gates, dra::Inventory* inventory)
    : basis_(basis),
      options_(basis == Basis::kRequested ? framework::RunningPodOptions(gates) : ContainersWithDefaults()),
      inventory_(inventory) {
  resources_.reserve(resources.size());
  for (const config::ResourceSpec& resource : resources) {
    resources_.push_back({resource.name, resource.weight, KindOf(resource.name)});
    has_other_ |= resources_.back().kind == Kind::kOther;
  }
}

ScoredResources::Kind ScoredResources::KindOf(const Symbol& name) {
  if (name == framework::CpuName()) return Kind::kCpu;
  if (name == framework::MemoryName()) return Kind::kMemory;
  if (name == framework::EphemeralStorageName()) return Kind::kEphemeralStorage;
  return framework::IsScalarResourceName(name.str()) ? Kind::kScalar : Kind::kOther;
}

bool ScoredResources::DemandIsInPodInfo(const PodInfo& pod) const {
  if (has_other_) return false;
  if (basis_ == Basis::kRequested) return true;
  // PodInfo's sums include pod-level and reported amounts; without those they are the sum over the containers.
  return !pod.pod().spec.resources && !ReportsResources(pod.pod());
}

std::vector<int64_t> ScoredResources::Demand(const PodInfo& pod) const {
  std::vector<int64_t> demand(resources_.size());
  if (DemandIsInPodInfo(pod)) {
    const bool non_zero = basis_ == Basis::kNonZeroRequested;
    for (size_t i = 0; i < resources_.size(); ++i) {
      const Entry& entry = resources_[i];
      if (non_zero && entry.kind == Kind::kCpu) {
        demand[i] = pod.non_zero_milli_cpu();
      } else if (non_zero && entry.kind == Kind::kMemory) {
        demand[i] = pod.non_zero_memory();
      } else {
        demand[i] = pod.requests().Get(entry.name);
      }
    }
    return demand;
  }
  const api::ResourceList requests = framework::PodRequests(pod.pod(), options_);
  for (size_t i = 0; i < resources_.size(); ++i) {
    const api::Quantity* amount = requests.Find(resources_[i].name);
    if (!amount) continue;
    demand[i] = resources_[i].kind == Kind::kCpu ? amount->MilliValue() : amount->Value();
  }
  return demand;
}

ResourceUse ScoredResources::Read(const Entry& entry, int64_t demand, const NodeInfo& node) const {
  const bool non_zero = basis_ == Basis::kNonZeroRequested;
  int64_t capacity = 0;
  int64_t used = 0;
  switch (entry.kind) {
    case Kind::kCpu:
      capacity = node.allocatable().milli_cpu;
      used = non_zero ? node.non_zero_milli_cpu() : node.requested().milli_cpu;
      break;
    case Kind::kMemory:
      capacity = node.allocatable().memory;
      used = non_zero ? node.non_zero_memory() : node.requested().memory;
      break;
    case Kind::kEphemeralStorage:
      capacity = node.allocatable().ephemeral_storage;
      used = node.requested().ephemeral_storage;
      break;
    case Kind::kScalar:
      // A scalar resource that the pod does not request says nothing about how well the pod fits.
      if (demand == 0) break;
      capacity = node.allocatable().Get(entry.name);
      used = node.requested().Get(entry.name);
      if (capacity == 0 && inventory_) {
        const DeviceCount devices = CountDevices(*inventory_, entry.name, node.node());
        if (devices.all > 0) {
          capacity = devices.all;
          used = devices.allocated;
        }
      }
      break;
    case Kind::kOther:
      break;
  }
  return {capacity, used, framework::WrappingAdd(used, demand), entry.weight};
}

bool ScoredResources::CountsDevices(std::span<const int64_t> demand) const {
  for (size_t i = 0; inventory_ && i < resources_.size(); ++i) {
    if (demand[i] != 0 && resources_[i].kind == Kind::kScalar && inventory_->class_names().Find(resources_[i].name)) {
      return true;
    }
  }
  return false;
}

bool ScoredResources::Select(std::span<const int64_t> demand, const NodeColumns& columns, Columns& selected) const {
  if (resources_.size() > kFew) return false;
  const bool non_zero = basis_ == Basis::kNonZeroRequested;
  for (size_t i = 0; i < resources_.size(); ++i) {
    const Entry& entry = resources_[i];
    const std::vector<int64_t>* capacity = nullptr;
    const std::vector<int64_t>* used = nullptr;
    switch (entry.kind) {
      case Kind::kCpu:
        capacity = &columns.allocatable_milli_cpu;
        used = non_zero ? &columns.non_zero_milli_cpu : &columns.requested_milli_cpu;
        break;
      case Kind::kMemory:
        capacity = &columns.allocatable_memory;
        used = non_zero ? &columns.non_zero_memory : &columns.requested_memory;
        break;
      case Kind::kEphemeralStorage:
        capacity = &columns.allocatable_ephemeral_storage;
        used = &columns.requested_ephemeral_storage;
        break;
      case Kind::kScalar:
        if (demand[i] != 0) return false;
        continue;
      case Kind::kOther:
        continue;
    }
    selected.entries[selected.size++] = {capacity->data(), used->data(), demand[i], entry.weight};
  }
  return true;
}

}  // namespace berth::plugins
