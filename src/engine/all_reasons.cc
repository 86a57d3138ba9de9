#include "engine/all_reasons.h"

#include <string>
#include <vector>

namespace berth::engine {

using framework::NodeInfo;
using framework::Status;

framework::NodeToStatus WithAllReasons(const Profile& profile, const framework::CycleState& state,
                                       const framework::PodInfo& pod, const framework::NodeToStatus& statuses) {
  framework::NodeToStatus all;
  all.SetAbsent(statuses.absent());
  for (const NodeInfo* node : profile.cluster().nodes()) {
    if (!statuses.IsExplicit(node->index())) continue;
    const Status& first = statuses.Get(node->index());
    std::vector<std::string> reasons = first.reasons();
    for (const auto& filter : profile.filters()) {
      if (filter.name == first.plugin() || IsSkipped(state.skip_filter, filter.id)) continue;
      const Status other = profile.RunOneFilter(filter, state, pod, *node);
      if (other.IsRejected()) reasons.insert(reasons.end(), other.reasons().begin(), other.reasons().end());
    }
    all.Set(node->index(), Status(first.code(), std::move(reasons), first.shortfalls()).WithPlugin(first.plugin()));
  }
  return all;
}

}  // namespace berth::engine
