#include "input/overlay.h"

#include <utility>

#include "api/node.h"
#include "api/policy.h"
#include "api/storage.h"
#include "api/workload.h"

namespace berth::input {

namespace {

void KeepIdentity(const api::ObjectMeta& earlier, api::ObjectMeta& later) {
  later.uid = earlier.uid;
  if (!later.creation_timestamp) later.creation_timestamp = earlier.creation_timestamp;
}

// A workload without a replica count of its own keeps the one it has been scaled to.
template <class T>
void KeepReplicas(const T& earlier, T& later) {
  if (!later.spec.replicas) later.spec.replicas = earlier.spec.replicas;
}

// `kubectl rollout restart` adds it, and `kubectl apply` does not remove it.
template <class T>
void KeepRestart(const T& earlier, T& later) {
  constexpr char kRestartedAt[] = "kubectl.kubernetes.io/restartedAt";
  const std::string* when = earlier.spec.pod_template.metadata.annotations.Find(kRestartedAt);
  auto& annotations = later.spec.pod_template.metadata.annotations;
  if (when && !annotations.Contains(kRestartedAt)) annotations.Set(kRestartedAt, *when);
}

void KeepServersPart(const api::Deployment& earlier, api::Deployment& later) {
  KeepReplicas(earlier, later);
  KeepRestart(earlier, later);
}
void KeepServersPart(const api::ReplicaSet& earlier, api::ReplicaSet& later) {
  KeepReplicas(earlier, later);
  if (later.metadata.owner_references.empty()) later.metadata.owner_references = earlier.metadata.owner_references;
}
void KeepServersPart(const api::StatefulSet& earlier, api::StatefulSet& later) {
  KeepReplicas(earlier, later);
  KeepRestart(earlier, later);
}
void KeepServersPart(const api::ReplicationController& earlier, api::ReplicationController& later) {
  KeepReplicas(earlier, later);
}
void KeepServersPart(const api::DaemonSet& earlier, api::DaemonSet& later) { KeepRestart(earlier, later); }
void KeepServersPart(const api::Job& earlier, api::Job& later) { later.status = earlier.status; }
void KeepServersPart(const api::PodDisruptionBudget& earlier, api::PodDisruptionBudget& later) {
  later.status = earlier.status;
}
void KeepServersPart(const api::ResourceQuota& earlier, api::ResourceQuota& later) { later.status = earlier.status; }
void KeepServersPart(const api::Node& earlier, api::Node& later) {
  if (later.status.allocatable.empty()) later.status = earlier.status;
  // Labels and taints of a node have many authors; a manifest that names one does not remove the others.
  for (const auto& [key, value] : earlier.metadata.labels) {
    if (!later.metadata.labels.Contains(key)) later.metadata.labels.Set(key, value);
  }
  if (later.spec.taints.empty()) later.spec.taints = earlier.spec.taints;
  later.spec.unschedulable = later.spec.unschedulable || earlier.spec.unschedulable;
}
void KeepServersPart(const api::PersistentVolumeClaim& earlier, api::PersistentVolumeClaim& later) {
  for (const auto& [key, value] : earlier.metadata.annotations) {
    if (!later.metadata.annotations.Contains(key)) later.metadata.annotations.Set(key, value);
  }
  if (later.spec.volume_name.empty()) later.spec.volume_name = earlier.spec.volume_name;
  if (!later.spec.storage_class_name) later.spec.storage_class_name = earlier.spec.storage_class_name;
  later.status = earlier.status;
}
void KeepServersPart(const api::PersistentVolume& earlier, api::PersistentVolume& later) {
  if (!later.spec.claim_ref) later.spec.claim_ref = earlier.spec.claim_ref;
  later.status = earlier.status;
}

template <class... T>
api::Object LaidOverAs(const api::Object& earlier, const api::Object& later) {
  api::Object result = later;
  const auto lay = [&]<class Kind>(const Kind* below, const Kind* above) {
    if (!below || !above) return;
    Kind changed = *above;
    KeepIdentity(below->metadata, changed.metadata);
    KeepServersPart(*below, changed);
    result = api::MakeObject(std::move(changed));
  };
  (..., lay(earlier.As<T>(), later.As<T>()));
  return result;
}

}  // namespace

DraftObject LaidOver(const DraftObject& earlier, DraftObject later) {
  if (!later.is_new) return later;
  later.object = LaidOverAs<api::Deployment, api::ReplicaSet, api::StatefulSet, api::ReplicationController,
                            api::DaemonSet, api::Job, api::PodDisruptionBudget, api::ResourceQuota, api::Node,
                            api::PersistentVolumeClaim, api::PersistentVolume>(earlier.object, later.object);
  return later;
}

}  // namespace berth::input
