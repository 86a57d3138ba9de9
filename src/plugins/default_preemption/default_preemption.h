// DefaultPreemption: when a pod fits nowhere, finds the node where evicting pods of lower priority does the least harm.
//
// Only decides: the scheduler evicts the victims and records the nomination. While it does so
// (SchedulerAsyncPreemption) the pod is held back from the active queue: tried now, it would not see its victims
// terminating and would choose others. The only event it registers for is the one that lifts this gate, and its hint
// requeues no pod: the plugins that rejected the pod know which events to wait for.
//
// The results of dry runs are kept between cycles where possible (see preemption::KeptTrials); the outcome is the same
// either way.
//
// On large clusters only a sample of the nodes is tried, from a random start, as configured; with
// CycleState::exhaustive_preemption all of them, by name, and ties go to the first name.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "preemption/kept_trials.h"

namespace berth::plugins {

class DefaultPreemption final : public framework::Plugin,
                                public framework::PreEnqueuePlugin,
                                public framework::PostFilterPlugin,
                                public framework::EnqueueExtensions,
                                public framework::ExplainsPreemption {
 public:
  static constexpr std::string_view kName = "DefaultPreemption";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  DefaultPreemption(const config::DefaultPreemptionArgs& args, framework::Handle& handle)
      : args_(args), handle_(handle), async_(handle.gates().Enabled("SchedulerAsyncPreemption")), kept_(handle) {}

  std::string_view name() const override { return kName; }
  framework::Status PreEnqueue(const framework::PodInfo& pod) const override;
  framework::PostFilterResult PostFilter(framework::CycleState& state, const framework::PodInfo& pod,
                                         const framework::NodeToStatus& statuses) const override;
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override;
  framework::PreemptionExplanation ExplainPreemption(const framework::CycleState& state, const framework::PodInfo& pod,
                                                     const framework::NodeToStatus& statuses) const override;

 private:
  // The nodes worth trying, and how to search them.
  struct Plan {
    std::vector<framework::NodeIndex> nodes;  // empty when not needed: all nodes
    size_t offset;
    size_t wanted;
  };

  size_t CandidatesWanted(size_t nodes) const;
  framework::PostFilterResult SearchAfresh(const Plan& plan, const preemption::DryRun& dry_run,
                                           const framework::PodInfo& pod, bool exhaustive) const;
  framework::PostFilterResult SearchKept(const Plan& plan, const preemption::DryRun& dry_run,
                                         preemption::TrialShelf& shelf, bool verify) const;
  // The same where all nodes are worth trying, from sums; unset when a list of nodes is needed.
  std::optional<framework::PostFilterResult> SearchSums(const Plan& plan, const preemption::DryRun& dry_run,
                                                        preemption::TrialShelf& shelf, bool verify) const;

  const config::DefaultPreemptionArgs args_;
  framework::Handle& handle_;
  const bool async_;
  mutable preemption::KeptTrials kept_;  // used by the scheduling thread
};

}  // namespace berth::plugins
