#include "preemption/extenders.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace berth::preemption {

using framework::PreemptionCandidate;
using framework::PreemptionExtender;

namespace {

bool HasASay(const PreemptionExtender& extender, const framework::PodInfo& pod) {
  return extender.SupportsPreemption() && extender.IsInterested(pod);
}

bool HasNoVictims(const PreemptionCandidate& candidate) { return candidate.victims.pods.empty(); }

}  // namespace

bool AnyHasASay(Extenders extenders, const framework::PodInfo& pod) {
  return std::ranges::any_of(extenders, [&](const PreemptionExtender* extender) { return HasASay(*extender, pod); });
}

Result<std::vector<PreemptionCandidate>> AskExtenders(Extenders extenders, const framework::PodInfo& pod,
                                                      std::vector<PreemptionCandidate> candidates,
                                                      const framework::ClusterView& cluster) {
  for (PreemptionExtender* extender : extenders) {
    if (!HasASay(*extender, pod)) continue;
    if (candidates.empty()) break;
    Result<std::vector<PreemptionCandidate>> left = extender->ProcessPreemption(pod, candidates, cluster);
    if (!left) {
      if (!extender->IsIgnorable()) return left.error();
      LOG_INFO(2, "Skipped extender as it returned error and has ignorable flag set", {"extender", extender->name()},
               {"err", left.error()});
      continue;
    }
    const auto empty = std::ranges::find_if(*left, HasNoVictims);
    if (empty != left->end() && !extender->IsIgnorable()) {
      return Error::Internal(fmt::format("expected at least one victim pod on node \"{}\"", empty->node_name));
    }
    if (std::erase_if(*left, HasNoVictims) > 0) {
      LOG_INFO(2, "Ignored nodes for which the extender didn't report victims", {"extender", extender->name()});
    }
    candidates = std::move(*left);
  }
  return candidates;
}

}  // namespace berth::preemption
