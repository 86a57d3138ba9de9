// ModelExtender: an extender that accepts every node, if it answers in time.
#pragma once

#include <future>
#include <string>
#include <vector>

#include "engine/extender.h"
#include "storm/faults.h"

namespace berth::storm {

class ModelExtender final : public engine::Extender {
 public:
  ModelExtender(Faults& faults, bool ignorable) : faults_(faults), ignorable_(ignorable) {}

  std::string_view name() const override { return "http://extender.example"; }
  bool IsInterested(const framework::PodInfo&) const override { return true; }
  bool IsIgnorable() const override { return ignorable_; }
  bool SupportsPreemption() const override { return true; }
  bool IsFilter() const override { return true; }
  bool IsPrioritizer() const override { return true; }
  bool IsBinder() const override { return false; }
  int64_t weight() const override { return 1; }

  Result<engine::ExtenderVerdicts> Filter(const framework::PodInfo&, engine::Nodes nodes) override {
    if (faults_.Strikes(Fault::kExtender)) return TimedOut();
    return engine::ExtenderVerdicts{
        .feasible = {nodes.begin(), nodes.end()}, .failed = {}, .failed_and_unresolvable = {}};
  }
  std::future<Result<std::vector<engine::HostPriority>>> Prioritize(const framework::PodInfo&, engine::Nodes) override {
    std::promise<Result<std::vector<engine::HostPriority>>> answer;
    if (faults_.Strikes(Fault::kExtender)) {
      answer.set_value(TimedOut());
    } else {
      answer.set_value(std::vector<engine::HostPriority>());
    }
    return answer.get_future();
  }
  Result<std::vector<framework::PreemptionCandidate>> ProcessPreemption(
      const framework::PodInfo&, std::span<const framework::PreemptionCandidate> candidates,
      const framework::ClusterView&) override {
    if (faults_.Strikes(Fault::kExtenderPreempts)) return TimedOut();
    return std::vector<framework::PreemptionCandidate>(candidates.begin(), candidates.end());
  }
  Result<void> SendBind(const framework::PodInfo&, const std::string&) override { return TimedOut(); }

 private:
  static Error TimedOut() { return Error::Unavailable("context deadline exceeded (Client.Timeout exceeded)"); }

  Faults& faults_;
  const bool ignorable_;
};

}  // namespace berth::storm
