// PreemptionExtender: an external service that has a say in which pods are evicted, and where.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "framework/cluster_view.h"
#include "framework/plugin.h"

namespace berth::framework {

// Asked on the scheduling thread, which waits for the answer.
class PreemptionExtender {
 public:
  virtual ~PreemptionExtender() = default;

  // Its name in messages.
  virtual std::string_view name() const = 0;
  // False: the extender does not handle this pod at all.
  virtual bool IsInterested(const PodInfo& pod) const = 0;
  // If it fails to answer, preemption continues without it.
  virtual bool IsIgnorable() const = 0;
  virtual bool SupportsPreemption() const = 0;
  // The candidates that remain, and the victims on each. Victims are pods on the nodes of `cluster`.
  virtual Result<std::vector<PreemptionCandidate>> ProcessPreemption(const PodInfo& pod,
                                                                     std::span<const PreemptionCandidate> candidates,
                                                                     const ClusterView& cluster) = 0;
};

}  // namespace berth::framework
