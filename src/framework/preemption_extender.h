// PreemptionExtender: somebody outside the program who has a say in where pods are evicted, and which.
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

  // How messages call it.
  virtual std::string_view name() const = 0;
  // False: the pod is none of its business, whatever else it does.
  virtual bool IsInterested(const PodInfo& pod) const = 0;
  // Where it gives no answer, the work goes on as if it did not exist.
  virtual bool IsIgnorable() const = 0;
  virtual bool SupportsPreemption() const = 0;
  // Which of the candidates may stay, and who is to be evicted there. Pods are those on the nodes of `cluster`.
  virtual Result<std::vector<PreemptionCandidate>> ProcessPreemption(const PodInfo& pod,
                                                                     std::span<const PreemptionCandidate> candidates,
                                                                     const ClusterView& cluster) = 0;
};

}  // namespace berth::framework
