// Extender: a program outside that has a say in scheduling: which nodes will do, which are better, who is evicted, and
// who binds. What kube-scheduler's configuration calls extenders.
#pragma once

#include <cstdint>
#include <future>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "framework/node_info.h"
#include "framework/pod_info.h"
#include "framework/preemption_extender.h"

namespace berth::engine {

// Noted as the plugin to blame when extenders turned nodes down.
inline constexpr std::string_view kExtenderName = "Extender";
// Extenders score from 0 to this, plugins to framework::kMaxNodeScore.
inline constexpr int64_t kMaxExtenderPriority = 10;

using Nodes = std::span<const framework::NodeInfo* const>;

struct ExtenderVerdicts {
  std::vector<const framework::NodeInfo*> feasible;  // some of those asked about
  // Why not, by name of node; there need not be a reason for each node that is missing.
  base::FlatMap<std::string, std::string> failed;
  base::FlatMap<std::string, std::string> failed_and_unresolvable;  // evicting pods would not help; comes first
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
  // Asks, and does not wait for the answer, so that several may be asked at a time.
  virtual std::future<Result<std::vector<HostPriority>>> Prioritize(const framework::PodInfo& pod, Nodes nodes) = 0;
  virtual Result<void> Bind(const framework::PodInfo& pod, const std::string& node_name) = 0;
};

}  // namespace berth::engine
