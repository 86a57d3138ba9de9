#include "storm/fit.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::storm {
namespace {

struct Names {
  const Symbol cpu{"cpu"}, memory{"memory"}, pods{"pods"};
};
// Looked up once: a few storms use this a million times.
const Names& Known() {
  static const Names names;
  return names;
}

int64_t AmountIn(const api::ResourceList& list, const Symbol& name, bool milli) {
  const api::Quantity* found = list.Find(name);
  if (found == nullptr) return 0;
  return milli ? found->MilliValue() : found->Value();
}

}  // namespace

Amounts& Amounts::operator+=(const Amounts& other) {
  milli_cpu += other.milli_cpu;
  memory += other.memory;
  pods += other.pods;
  return *this;
}

std::string Amounts::ToString() const { return fmt::format("{}m cpu, {} MiB, {} pods", milli_cpu, memory >> 20, pods); }

Amounts RequestsOf(const api::Pod& pod) {
  Amounts sum{.pods = 1};
  for (const api::Container& container : pod.spec.containers) {
    sum.milli_cpu += AmountIn(container.resources.requests, Known().cpu, true);
    sum.memory += AmountIn(container.resources.requests, Known().memory, false);
  }
  return sum;
}

Amounts AllocatableOf(const api::Node& node) {
  const api::ResourceList& list = node.status.allocatable;
  return {AmountIn(list, Known().cpu, true), AmountIn(list, Known().memory, false),
          AmountIn(list, Known().pods, false)};
}

bool MayRunOn(const api::Pod& pod, const api::Node& node) {
  if (node.spec.unschedulable || !node.spec.taints.empty()) return false;
  return std::all_of(pod.spec.node_selector.begin(), pod.spec.node_selector.end(), [&](const auto& wanted) {
    const Symbol* found = node.metadata.labels.Find(wanted.first);
    return found != nullptr && *found == wanted.second;
  });
}

bool Fits(const api::Pod& pod, const api::Node& node, const std::vector<const api::Pod*>& present) {
  if (!MayRunOn(pod, node)) return false;
  Amounts used = RequestsOf(pod);
  for (const api::Pod* other : present) used += RequestsOf(*other);
  return used.FitsInto(AllocatableOf(node));
}

}  // namespace berth::storm
