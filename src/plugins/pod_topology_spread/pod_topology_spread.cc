#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <algorithm>
#include <string>
#include <utility>

#include "plugins/args.h"
#include "plugins/pod_topology_spread/default_selector.h"

namespace berth::plugins {
namespace {

api::TopologySpreadConstraint SoftDefault(std::string_view topology_key, int32_t max_skew) {
  api::TopologySpreadConstraint constraint;
  constraint.topology_key = Symbol(topology_key);
  constraint.max_skew = max_skew;
  constraint.when_unsatisfiable = kScheduleAnyway;
  return constraint;
}

std::vector<api::TopologySpreadConstraint> SystemDefaults() {
  return {SoftDefault("kubernetes.io/hostname", 3), SoftDefault("topology.kubernetes.io/zone", 5)};
}

Error Wrap(std::string_view context, Error error) {
  error.message.insert(0, std::string(context) + ": ");
  return error;
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> PodTopologySpread::Create(const config::PluginArgs& args,
                                                                     framework::Handle& handle) {
  Result<config::PodTopologySpreadArgs> own = ReadArgs<config::PodTopologySpreadArgs>(args, kName);
  if (!own) return std::move(own).error();
  return std::unique_ptr<framework::Plugin>(new PodTopologySpread(*own, handle));
}

PodTopologySpread::PodTopologySpread(const config::PodTopologySpreadArgs& args, framework::Handle& handle)
    : handle_(handle),
      gates_(SpreadGates::From(handle.gates())),
      system_defaults_(args.defaulting_type == config::SpreadDefaulting::kSystem),
      default_constraints_(system_defaults_ ? SystemDefaults() : args.default_constraints),
      filter_key_(handle.NewStateKey<FilterState>()),
      score_key_(handle.NewStateKey<ScoreState>()),
      // Evicting pods adds no label to a node.
      missing_label_(framework::Status::UnschedulableAndUnresolvable(std::string(kMissingLabelReason))),
      too_skewed_(framework::Status::Unschedulable(std::string(kSkewReason))) {}

Result<std::vector<SpreadConstraint>> PodTopologySpread::HardConstraints(const framework::PodInfo& pod) const {
  Result<std::vector<SpreadConstraint>> constraints = ConstraintsOf(pod.pod(), kDoNotSchedule);
  if (constraints) return constraints;
  return Wrap(pod.pod().spec.topology_spread_constraints.empty() ? "setting default hard topology spread constraints"
                                                                 : "obtaining pod's hard topology spread constraints",
              std::move(constraints).error());
}

Result<std::vector<SpreadConstraint>> PodTopologySpread::SoftConstraints(const framework::PodInfo& pod) const {
  Result<std::vector<SpreadConstraint>> constraints = ConstraintsOf(pod.pod(), kScheduleAnyway);
  if (constraints) return constraints;
  return Wrap(pod.pod().spec.topology_spread_constraints.empty() ? "setting default soft topology spread constraints"
                                                                 : "obtaining pod's soft topology spread constraints",
              std::move(constraints).error());
}

Result<std::vector<SpreadConstraint>> PodTopologySpread::ConstraintsOf(const api::Pod& pod,
                                                                       std::string_view when_unsatisfiable) const {
  const std::vector<api::TopologySpreadConstraint>& own = pod.spec.topology_spread_constraints;
  if (!own.empty()) return CompileSpreadConstraints(own, when_unsatisfiable, pod.metadata.labels, gates_);

  const bool none_by_default =
      std::none_of(default_constraints_.begin(), default_constraints_.end(),
                   [&](const auto& constraint) { return constraint.when_unsatisfiable == when_unsatisfiable; });
  if (none_by_default) return std::vector<SpreadConstraint>();
  const api::Selector selector = DefaultSpreadSelector(pod, handle_.objects());
  // Nothing says which pods belong with this one.
  if (selector.empty()) return std::vector<SpreadConstraint>();
  Result<std::vector<SpreadConstraint>> defaults =
      CompileSpreadConstraints(default_constraints_, when_unsatisfiable, pod.metadata.labels, gates_);
  if (!defaults) return defaults;
  for (SpreadConstraint& constraint : *defaults) constraint.selector = selector;
  return defaults;
}

bool PodTopologySpread::RequiresEveryKey(const framework::PodInfo& pod) const {
  return !pod.pod().spec.topology_spread_constraints.empty() || !system_defaults_;
}

}  // namespace berth::plugins
