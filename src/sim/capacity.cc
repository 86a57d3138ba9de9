#include "sim/capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/policy.h"
#include "framework/pod_resources.h"
#include "input/input.h"

namespace berth::sim {

namespace {

CapacityReport::Share Describe(const CapacityShare& share, const config::FeatureGates& gates) {
  const api::Pod& pod = *share.pod;
  CapacityReport::Share described{.pod = pod.metadata.name, .key = api::KeyOf(pod.metadata)};
  described.per_round = share.per_round;
  described.requests = framework::PodRequests(pod, framework::RunningPodOptions(gates));
  described.node_selector = pod.spec.node_selector;
  return described;
}

// The next replica as the API server would see it: its own name and UID, and no node yet.
std::shared_ptr<const api::Pod> MakeInstance(const api::Pod& pod, size_t share, size_t number, bool may_preempt) {
  api::Pod instance = pod;
  instance.metadata.name = fmt::format("{}-{}", pod.metadata.name, number);
  instance.metadata.uid = fmt::format("capacity/{}/{}", share, number);
  instance.spec.node_name.clear();
  instance.status = {};
  if (!may_preempt) instance.spec.preemption_policy = "Never";
  return std::make_shared<const api::Pod>(std::move(instance));
}

CapacityStop StopFor(PodOutcome outcome) {
  if (outcome == PodOutcome::kGated) return CapacityStop::kGated;
  return outcome == PodOutcome::kForeign ? CapacityStop::kForeign : CapacityStop::kUnschedulable;
}

// Pods of one controller are alike; a pod without one stands alone.
std::string OwnerOf(const api::Pod& pod) {
  for (const api::OwnerReference& owner : pod.metadata.owner_references) {
    if (owner.controller.value_or(false)) return fmt::format("{} {}", owner.kind, owner.name);
  }
  return "Pod " + api::KeyOf(pod.metadata);
}

std::pair<api::Kind, std::string> Identity(const api::Object& object) {
  return {object.kind(), api::KeyOf(object.metadata())};
}

}  // namespace

size_t CapacityReport::instances() const {
  size_t sum = 0;
  for (const Share& share : shares) sum += share.instances;
  return sum;
}

CapacityReport MeasureCapacity(Simulation& simulation, const CapacityRequest& request,
                               const config::FeatureGates& gates) {
  CapacityReport report;
  for (const CapacityShare& share : request.shares) report.shares.push_back(Describe(share, gates));
  const size_t evicted_before = simulation.preempted().size();
  bool fits = true;
  while (fits && report.rounds < request.max_rounds) {
    for (size_t i = 0; fits && i < request.shares.size(); ++i) {
      CapacityReport::Share& share = report.shares[i];
      for (size_t k = 0; fits && k < share.per_round; ++k) {
        const auto instance = MakeInstance(*request.shares[i].pod, i, share.instances, request.may_preempt);
        if (std::string why = request.refuse ? request.refuse(*instance) : std::string(); !why.empty()) {
          fits = false;
          report.stop = CapacityStop::kRefused;
          report.stopped_share = i;
          report.message = std::move(why);
          continue;
        }
        const PodReport placed = simulation.Place(instance);
        fits = placed.outcome == PodOutcome::kScheduled;
        if (fits) {
          ++share.instances;
          ++share.by_node[placed.node];
          continue;
        }
        report.stop = StopFor(placed.outcome);
        report.stopped_share = i;
        report.message = placed.message;
      }
    }
    if (fits) ++report.rounds;
  }
  if (fits) {
    report.stop = CapacityStop::kLimitReached;
    report.message = fmt::format("Maximum number of pods simulated: {}", report.instances());
  }
  const std::vector<PodReport>& evicted = simulation.preempted();
  report.preempted.assign(evicted.begin() + static_cast<ptrdiff_t>(evicted_before), evicted.end());
  return report;
}

Result<PodTemplate> ReadPodTemplate(const std::string& file, const std::vector<api::Object>& cluster,
                                    const input::InputChanges& how) {
  std::vector<api::Object> classes;
  std::set<std::pair<api::Kind, std::string>> present;
  for (const api::Object& object : cluster) {
    const bool shapes_pods = object.kind() == api::Kind::kPriorityClass || object.kind() == api::Kind::kLimitRange ||
                             object.kind() == api::Kind::kRuntimeClass;
    if (shapes_pods) classes.push_back(object);
    present.insert(Identity(object));
  }
  input::InputChanges changes;
  changes.live = std::move(classes);
  changes.name_space = how.name_space;
  changes.validation = how.validation;
  changes.max_bytes = how.max_bytes;
  changes.is_part = true;
  Result<input::ClusterInput> input = input::ReadCluster({file}, std::move(changes));
  if (!input) return input.error();
  PodTemplate found;
  found.warnings = std::move(input->warnings);
  std::set<std::string> owners;
  for (const api::Object& object : input->objects) {
    if (std::shared_ptr<const api::Pod> pod = object.Share<api::Pod>()) {
      owners.insert(OwnerOf(*pod));
      if (!found.pod) found.pod = std::move(pod);
    } else if (!present.contains(Identity(object))) {
      found.others.push_back(object);
    }
  }
  if (owners.size() == 1) return found;
  if (owners.empty()) return Error::InvalidArgument(fmt::format("{}: expected a pod, found none", file));
  return Error::InvalidArgument(
      fmt::format("{}: expected one pod, found {}: {}", file, owners.size(), fmt::join(owners, ", ")));
}

}  // namespace berth::sim
