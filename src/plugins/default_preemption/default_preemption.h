// DefaultPreemption: when a pod fits nowhere, finds the node where evicting pods of lower priority does the least harm.
//
// Decides only: the scheduler evicts the victims and records the nomination. Nothing goes on behind the queue's back,
// so this plugin holds no pod back and registers for no event; the plugins that rejected the pod know what to wait for.
//
// What was learnt about nodes is kept between cycles where it can be (see preemption::KeptTrials); the outcome is the
// same either way.
//
// On large clusters only a sample of the nodes is tried, from a random start, as configured; with
// CycleState::exhaustive_preemption all of them, by name, and ties go to the first name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "preemption/kept_trials.h"

namespace berth::plugins {

class DefaultPreemption final : public framework::Plugin,
                                public framework::PostFilterPlugin,
                                public framework::EnqueueExtensions {
 public:
  static constexpr std::string_view kName = "DefaultPreemption";
  static Result<std::unique_ptr<framework::Plugin>> Create(const config::PluginArgs& args, framework::Handle& handle);

  DefaultPreemption(const config::DefaultPreemptionArgs& args, framework::Handle& handle)
      : args_(args), handle_(handle), kept_(handle) {}

  std::string_view name() const override { return kName; }
  framework::PostFilterResult PostFilter(framework::CycleState& state, const framework::PodInfo& pod,
                                         const framework::NodeToStatus& statuses) const override;
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override { return {}; }

 private:
  // The nodes worth trying and how to go about it.
  struct Plan {
    std::vector<framework::NodeIndex> nodes;
    size_t offset;
    size_t wanted;
  };

  size_t CandidatesWanted(size_t nodes) const;
  framework::PostFilterResult SearchAfresh(const Plan& plan, const preemption::DryRun& dry_run,
                                           const framework::PodInfo& pod, bool exhaustive) const;
  framework::PostFilterResult SearchKept(const Plan& plan, const preemption::DryRun& dry_run,
                                         preemption::TrialShelf& shelf, bool verify) const;

  const config::DefaultPreemptionArgs args_;
  framework::Handle& handle_;
  mutable preemption::KeptTrials kept_;  // of the scheduling thread
};

}  // namespace berth::plugins
