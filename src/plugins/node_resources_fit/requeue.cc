#include "plugins/node_resources_fit/requeue.h"

#include <algorithm>

namespace berth::plugins {

using framework::Resource;

bool FreesWhatIsWanted(const api::ResourceList& wanted, const Resource& before, const Resource& after) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const auto& [name, amount] = entry;
    // Resizing a pod does not change the number of pods.
    if (amount.IsZero() || name == framework::PodsName()) return false;
    return before.Get(name) > after.Get(name);
  });
}

bool OffersMoreOfWhatIsWanted(const Resource& wanted, const Resource& before, const Resource& after) {
  if (after.allowed_pod_number > before.allowed_pod_number) return true;
  if (wanted.milli_cpu > 0 && after.milli_cpu > before.milli_cpu) return true;
  if (wanted.memory > 0 && after.memory > before.memory) return true;
  if (wanted.ephemeral_storage > 0 && after.ephemeral_storage > before.ephemeral_storage) return true;
  return std::any_of(wanted.scalar.begin(), wanted.scalar.end(), [&](const auto& entry) {
    return entry.second != 0 && after.Get(entry.first) > before.Get(entry.first);
  });
}

}  // namespace berth::plugins
