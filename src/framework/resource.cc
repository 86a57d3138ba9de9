#include "framework/resource.h"

namespace berth::framework {
namespace {

constexpr std::string_view kKubernetesDomain = "kubernetes.io/";

bool IsInKubernetesDomain(std::string_view name) { return name.find(kKubernetesDomain) != std::string_view::npos; }

}  // namespace

const Symbol& CpuName() {
  static const Symbol kName("cpu");
  return kName;
}

const Symbol& MemoryName() {
  static const Symbol kName("memory");
  return kName;
}

const Symbol& EphemeralStorageName() {
  static const Symbol kName("ephemeral-storage");
  return kName;
}

const Symbol& PodsName() {
  static const Symbol kName("pods");
  return kName;
}

bool IsScalarResourceName(std::string_view name) {
  return name.starts_with("hugepages-") || name.starts_with("attachable-volumes-") || IsInKubernetesDomain(name) ||
         IsExtendedResourceName(name);
}

Resource Resource::From(const api::ResourceList& list) {
  Resource resource;
  for (const auto& [name, amount] : list) {
    if (name == CpuName()) {
      resource.milli_cpu = amount.MilliValue();
    } else if (name == MemoryName()) {
      resource.memory = amount.Value();
    } else if (name == EphemeralStorageName()) {
      resource.ephemeral_storage = amount.Value();
    } else if (name == PodsName()) {
      resource.allowed_pod_number = amount.Value();
    } else if (IsScalarResourceName(name.str())) {
      resource.scalar.Set(name, amount.Value());
    }
  }
  return resource;
}

void Resource::Add(const Resource& other) {
  milli_cpu = WrappingAdd(milli_cpu, other.milli_cpu);
  memory = WrappingAdd(memory, other.memory);
  ephemeral_storage = WrappingAdd(ephemeral_storage, other.ephemeral_storage);
  allowed_pod_number = WrappingAdd(allowed_pod_number, other.allowed_pod_number);
  for (const auto& [name, amount] : other.scalar) {
    int64_t& sum = scalar[name];
    sum = WrappingAdd(sum, amount);
  }
}

void Resource::Subtract(const Resource& other) {
  milli_cpu = WrappingSubtract(milli_cpu, other.milli_cpu);
  memory = WrappingSubtract(memory, other.memory);
  ephemeral_storage = WrappingSubtract(ephemeral_storage, other.ephemeral_storage);
  allowed_pod_number = WrappingSubtract(allowed_pod_number, other.allowed_pod_number);
  for (const auto& [name, amount] : other.scalar) {
    int64_t& rest = scalar[name];
    rest = WrappingSubtract(rest, amount);
    if (rest == 0) scalar.Erase(name);
  }
}

int64_t Resource::Get(const Symbol& name) const {
  if (name == CpuName()) return milli_cpu;
  if (name == MemoryName()) return memory;
  if (name == EphemeralStorageName()) return ephemeral_storage;
  if (name == PodsName()) return allowed_pod_number;
  const int64_t* amount = scalar.Find(name);
  return amount ? *amount : 0;
}

}  // namespace berth::framework
