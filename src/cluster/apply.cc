#include "cluster/apply.h"

#include <utility>

#include "cluster/stores.h"

namespace berth::cluster {

namespace {

void ApplyPod(Cluster& cluster, std::shared_ptr<const api::Pod> pod) {
  if (!pod->spec.node_name.empty() || api::IsTerminated(*pod)) {
    cluster.UpsertPod(std::move(pod));
    return;
  }
  const std::string nominated = pod->status.nominated_node_name;
  if (!nominated.empty()) cluster.nominator().Nominate(cluster.MakePodInfo(std::move(pod)), nominated);
}

}  // namespace

void Apply(Cluster& cluster, const api::Object& object) {
  if (object.kind() == api::Kind::kNode) return cluster.UpsertNode(object.Share<api::Node>());
  if (object.kind() == api::Kind::kPod) return ApplyPod(cluster, object.Share<api::Pod>());
  VisitStore(cluster.objects(), object.kind(),
             [&]<class T>(framework::ObjectStore<T>& store) { store.Upsert(object.Share<T>()); });
}

}  // namespace berth::cluster
