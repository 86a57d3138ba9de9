// Amounts of resources in the units scheduling computes with: milli-cores, bytes, counts.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/label_syntax.h"
#include "api/resource_list.h"
#include "base/flat_map.h"
#include "base/symbol.h"

namespace berth::framework {

const Symbol& CpuName();
const Symbol& MemoryName();
const Symbol& EphemeralStorageName();
const Symbol& PodsName();

// Sums of absurd amounts wrap around, as they do upstream, instead of being undefined.
constexpr int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t WrappingSubtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// Extended resources, hugepages-*, attachable-volumes-* and names in kubernetes.io: everything counted besides cpu,
// memory, ephemeral-storage and pods.
bool IsScalarResourceName(std::string_view name);
using api::IsExtendedResourceName;

struct Resource {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  int64_t allowed_pod_number = 0;
  base::FlatMap<Symbol, int64_t> scalar;

  static Resource From(const api::ResourceList& list);
  void Add(const Resource& other);
  // Scalars that reach zero are dropped, so that subtracting what was added leaves no trace.
  void Subtract(const Resource& other);
  // 0 for a resource that is not listed.
  int64_t Get(const Symbol& name) const;

  friend bool operator==(const Resource&, const Resource&) = default;
};

}  // namespace berth::framework
