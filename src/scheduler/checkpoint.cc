// Taking and restoring checkpoints: Driver's part that has little to do with the rest of it.
#include "scheduler/checkpoint.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "cluster/stores.h"
#include "scheduler/driver.h"

namespace berth::scheduler {

using framework::PodInfoPtr;

namespace {

// The order in which objects are put back; nodes and pods have a place of their own.
constexpr api::Kind kStored[] = {
    api::Kind::kNamespace,
    api::Kind::kPersistentVolume,
    api::Kind::kPersistentVolumeClaim,
    api::Kind::kStorageClass,
    api::Kind::kCSINode,
    api::Kind::kCSIDriver,
    api::Kind::kCSIStorageCapacity,
    api::Kind::kVolumeAttachment,
    api::Kind::kService,
    api::Kind::kReplicationController,
    api::Kind::kReplicaSet,
    api::Kind::kStatefulSet,
    api::Kind::kPodDisruptionBudget,
    api::Kind::kPriorityClass,
    api::Kind::kDeviceClass,
    api::Kind::kResourceSlice,
    api::Kind::kDeviceTaintRule,
    api::Kind::kResourceClaim,
};

bool HasClaims(const api::Pod& pod) {
  return !pod.spec.resource_claims.empty() || pod.status.extended_resource_claim_status.has_value();
}

}  // namespace

bool Driver::IsAtRest() const {
  if (!scheduler_->waiting_pods().empty() || !cluster_.ClaimsAreAtRest()) return false;
  if (cluster_.nominator().remembers_any()) return false;
  const std::vector<const engine::Profile*> profiles = scheduler_->profiles();
  if (!std::all_of(profiles.begin(), profiles.end(), [](const auto* profile) { return profile->IsAtRest(); })) {
    return false;
  }
  return std::none_of(binding_.begin(), binding_.end(),
                      [](const auto& entry) { return HasClaims(entry.second->attempt().pod->pod()); });
}

Checkpoint Driver::TakeCheckpoint() {
  CHECK(IsAtRest());
  Checkpoint taken;
  taken.taken = now_.Now();
  taken.random = scheduler_->random().state();
  taken.next_sample_start = scheduler_->sampler().next_start();
  taken.node_slots = cluster_.table().slot_count();
  cluster_.node_order().Refresh();
  for (const framework::NodeInfo* node : cluster_.nodes()) {
    taken.nodes.push_back({node->shared_node(), node->index(), cluster_.table().order().AgeOf(node->index())});
    for (const PodInfoPtr& pod : node->pods()) {
      taken.pods.push_back({pod, node->name(), cluster_.AssumedBy(pod->uid())});
    }
  }
  // Some may be to nodes that are gone, and count again when such a node comes back.
  const std::map<std::string, std::vector<PodInfoPtr>> nominated(cluster_.nominator().by_node().begin(),
                                                                 cluster_.nominator().by_node().end());
  for (const auto& [node_name, pods] : nominated) {
    for (const PodInfoPtr& pod : pods) taken.nominations.push_back({pod, node_name});
  }
  const std::map<std::string, std::vector<PodInfoPtr>> astray(cluster_.pods_without_node().begin(),
                                                              cluster_.pods_without_node().end());
  for (const auto& [node_name, pods] : astray) {
    for (const PodInfoPtr& pod : pods) taken.pods.push_back({pod, node_name, cluster_.AssumedBy(pod->uid())});
  }
  for (const api::Kind kind : kStored) {
    cluster::VisitStore(cluster_.objects(), kind, [&](const auto& store) {
      for (const auto& [key, object] : store) taken.objects.emplace_back(object);
    });
  }
  for (const auto& [number, watched] : cluster_.custom_objects().watched()) {
    for (const auto& [key, object] : watched.store) taken.custom.push_back({watched.resource.Text(), object});
  }
  for (const auto& [ticket, cycle] : binding_) {
    const Attempt& attempt = cycle->attempt();
    taken.bindings.push_back({attempt.pod, ticket, attempt.number, attempt.node_name, attempt.score, attempt.scored,
                              attempt.nominated, attempt.feasible_nodes});
  }
  taken.queue = queue_->Save();
  return taken;
}

void Driver::Restore(const Checkpoint& from) {
  CHECK_WHY(cluster_.nodes().empty() && cluster_.pod_count() == 0, "a checkpoint is restored into a new driver");
  for (const api::Object& object : from.objects) {
    cluster::VisitStore(cluster_.objects(), object.kind(),
                        [&]<class T>(framework::ObjectStore<T>& store) { store.Upsert(object.Share<T>()); });
  }
  for (const Checkpoint::Custom& custom : from.custom) {
    // What no plugin watches any more decides nothing.
    for (const auto& [number, watched] : std::as_const(cluster_).custom_objects().watched()) {
      if (watched.resource.Text() == custom.resource) {
        cluster_.custom_objects().FindMutable(number)->Upsert(custom.object);
      }
    }
  }
  for (const Checkpoint::Node& node : from.nodes) cluster_.InsertNode(node.node, node.index);
  for (const Checkpoint::Node& node : from.nodes) cluster_.node_order().SetAge(node.index, node.age);
  for (const Checkpoint::Pod& pod : from.pods) {
    if (pod.assumed_by == base::Ticket::kNone) {
      cluster_.UpsertPod(pod.pod->shared_pod());
    } else {
      cluster_.AssumeAgain(pod.pod, pod.node_name, pod.assumed_by);
    }
  }
  for (const Checkpoint::Nomination& nomination : from.nominations) {
    cluster_.nominator().Nominate(nomination.pod, nomination.node_name);
  }
  queue_->Restore(from.queue);
  scheduler_->random().set_state(from.random);
  scheduler_->sampler().set_next_start(from.next_sample_start);
  for (const Checkpoint::Binding& binding : from.bindings) {
    Attempt attempt;
    attempt.pod = binding.pod;
    attempt.ticket = binding.ticket;
    attempt.number = binding.number;
    attempt.node_name = binding.node_name;
    attempt.score = binding.score;
    attempt.scored = binding.scored;
    attempt.nominated = binding.nominated;
    attempt.feasible_nodes = binding.feasible_nodes;
    std::unique_ptr<BindingCycle> cycle =
        scheduler_->ResumeBinding(cluster_.Guard(binding.pod->uid(), binding.ticket), std::move(attempt));
    CHECK_WHY(options_.scheduler.take_binding, "somebody has to take the binding cycles that were under way");
    binding_.emplace(binding.ticket, cycle.get());
    options_.scheduler.take_binding(std::move(cycle));
  }
}

}  // namespace berth::scheduler
