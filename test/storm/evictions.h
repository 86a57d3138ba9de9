// Evictions: without faults no pod is evicted needlessly. Each deletion by a scheduler is recorded, and checked after
// the storm, when it is known what the cluster looked like before and after: a decision is slightly older than its
// write, and includes bindings that the API shows slightly later.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storm/api_writes.h"
#include "storm/invariants.h"
#include "storm/store.h"
#include "storm/timeline.h"

namespace berth::storm {

class Evictions {
 public:
  Evictions(const Timeline& timeline, const Store& store, ApiWrites& writes);

  // The first eviction that helped no pod.
  std::optional<Violation> FindNeedless() const;
  size_t count() const { return evicted_.size(); }

 private:
  struct Eviction {
    std::string key;
    std::string node;
    int32_t priority;
    base::Duration at;
  };
  using Nodes = std::map<std::string, std::string>;  // of pods, by UID
  bool HelpsSomebodyWithin(const Eviction& eviction, uint64_t first, uint64_t last) const;
  static bool HelpsSomebody(const Eviction& eviction, const Store::Objects& waiting, const Store::Objects& pods,
                            const Store::Objects& nodes, const Nodes& bound_later);

  const Timeline& timeline_;
  const Store& store_;
  std::vector<Eviction> evicted_;
};

}  // namespace berth::storm
