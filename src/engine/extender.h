// Extender: an external program that has a say in scheduling: which nodes fit, which are better, which pods are
// evicted, and who binds. kube-scheduler's configuration calls them extenders.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "framework/node_info.h"
#include "framework/pod_info.h"
#include "framework/preemption_extender.h"

namespace berth::engine {

// Recorded as the rejecting plugin when extenders rejected nodes.
inline constexpr std::string_view kExtenderName = "Extender";
// Extenders score from 0 to this, plugins to framework::kMaxNodeScore.
inline constexpr int64_t kMaxExtenderPriority = 10;

using Nodes = std::span<const framework::NodeInfo* const>;

struct ExtenderVerdicts {
  std::vector<const framework::NodeInfo*> feasible;  // a subset of the nodes asked about
  // The reason by node name; a node that is missing from `feasible` may have none.
  base::FlatMap<std::string, std::string> failed;
  base::FlatMap<std::string, std::string> failed_and_unresolvable;  // evicting pods would not help; takes precedence
};

struct HostPriority {
  std::string host;
  int64_t score = 0;
};

// Thread-safe: Bind is called off the scheduling thread, everything else on it.
class Extender : public framework::PreemptionExtender {
 public:
  virtual bool IsFilter() const = 0;
  virtual bool IsPrioritizer() const = 0;
  virtual bool IsBinder() const = 0;
  virtual int64_t weight() const = 0;  // of its scores

  virtual Result<ExtenderVerdicts> Filter(const framework::PodInfo& pod, Nodes nodes) = 0;
  // Sends the request without waiting for the answer, so that several extenders can be asked at once.
  virtual std::future<Result<std::vector<HostPriority>>> Prioritize(const framework::PodInfo& pod, Nodes nodes) = 0;
  // Fails, and nothing is sent, where bindings are not allowed.
  Result<void> Bind(const framework::PodInfo& pod, const std::string& node_name) {
    if (may_bind_ && !may_bind_()) return Error::Conflict("not sent: no longer the leader");
    const Result<void> bound = SendBind(pod, node_name);
    const bool says_no = !bound && bound.error().code == ErrorCode::kInternal;
    if (bound || says_no || !confirm_) return bound;
    return confirm_(pod, node_name, bound.error());
  }
  // Asked right before each binding, on its thread. The lease fences bindings, whoever makes them. Unset: always.
  void set_may_bind(std::function<bool()> may_bind) { may_bind_ = std::move(may_bind); }
  // Finds out whether the pod was bound, on the same thread, when the extender has not said so: it may have bound the
  // pod, and its answer was late or lost. Unset: it was not.
  using Confirm =
      std::function<Result<void>(const framework::PodInfo& pod, const std::string& node_name, const Error& refusal)>;
  void set_confirm(Confirm confirm) { confirm_ = std::move(confirm); }

 protected:
  // kInternal: the extender itself has said that it did not bind the pod.
  virtual Result<void> SendBind(const framework::PodInfo& pod, const std::string& node_name) = 0;

 private:
  std::function<bool()> may_bind_;
  Confirm confirm_;
};

}  // namespace berth::engine
