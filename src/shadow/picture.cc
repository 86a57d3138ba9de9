#include "shadow/picture.h"

#include <fmt/format.h>

#include <utility>

#include "cluster/stores.h"
#include "framework/events.h"

namespace berth::shadow {

namespace {

const api::Pod* PodOf(const std::optional<api::Object>& object) { return object ? object->As<api::Pod>() : nullptr; }

api::Object PlacedOn(const api::Pod& pod, const std::string& node) {
  api::Pod placed = pod;
  placed.spec.node_name = node;
  return api::MakeObject(std::move(placed));
}

std::string NodeTouchedBy(const PastChange& change) {
  if (change.object().kind() == api::Kind::kNode) return change.object().metadata().name;
  for (const std::optional<api::Object>* state : {&change.after, &change.before}) {
    const api::Pod* pod = PodOf(*state);
    if (pod == nullptr) continue;
    if (!pod->spec.node_name.empty()) return pod->spec.node_name;
    if (!pod->status.nominated_node_name.empty()) return pod->status.nominated_node_name;
  }
  return {};
}

// Whether the change may affect the placement of any other pod.
bool MattersToOthers(const PastChange& change) {
  if (!change.before || !change.after) {
    const api::Pod* pod = change.object().As<api::Pod>();
    return pod == nullptr || !pod->spec.node_name.empty() || !pod->status.nominated_node_name.empty();
  }
  if (const api::Node* before = change.before->As<api::Node>()) {
    return framework::NodeUpdateActions(*before, *change.after->As<api::Node>()) != framework::ActionType::kNone;
  }
  const api::Pod* before = PodOf(change.before);
  if (before == nullptr) return true;
  const api::Pod& after = *PodOf(change.after);
  if (before->spec.node_name != after.spec.node_name ||
      before->status.nominated_node_name != after.status.nominated_node_name) {
    return true;
  }
  if (after.spec.node_name.empty()) return false;
  return framework::PodUpdateActions(*before, after) != framework::ActionType::kUpdate ||
         before->metadata.deletion_timestamp.has_value() != after.metadata.deletion_timestamp.has_value();
}

}  // namespace

std::string IdentityOf(const api::Object& object) {
  const api::ObjectMeta& metadata = object.metadata();
  if (object.kind() == api::Kind::kPod) return metadata.uid;
  return fmt::format("{} {}/{}", object.info().resource, metadata.namespace_.str(), metadata.name);
}

bool PastChange::is_bind() const {
  const api::Pod* was = PodOf(before);
  const api::Pod* is = PodOf(after);
  return is != nullptr && !is->spec.node_name.empty() && (was == nullptr || was->spec.node_name.empty());
}

std::string PastChange::Text() const {
  const api::ObjectMeta& metadata = object().metadata();
  const std::string name = metadata.namespace_.str().empty() ? metadata.name : api::KeyOf(metadata);
  if (const api::Pod* pod = object().As<api::Pod>()) {
    if (is_bind()) return fmt::format("pod {} bound to {}", name, pod->spec.node_name);
    if (!after && !node.empty()) return fmt::format("pod {} deleted from {}", name, node);
    if (pod->spec.node_name.empty() && !node.empty()) return fmt::format("nomination of pod {} for {}", name, node);
  }
  return fmt::format("{} {} {}", object().info().name, name, !before ? "added" : !after ? "deleted" : "changed");
}

std::optional<api::Object> Picture::Current(const api::Object& object) const {
  const api::ObjectMeta& metadata = object.metadata();
  const cluster::Cluster& cluster = std::as_const(driver_).cluster();
  if (object.kind() == api::Kind::kPod) {
    if (const Pending* pending = FindPending(metadata.uid)) return AsCounted(api::Object(pending->pod));
    const framework::PodInfoPtr placed = cluster.FindPod(metadata.uid);
    return placed ? std::optional(api::Object(placed->shared_pod())) : std::nullopt;
  }
  if (object.kind() == api::Kind::kNode) {
    const framework::NodeInfo* node = cluster.Find(metadata.name);
    return node ? std::optional(api::Object(node->shared_node())) : std::nullopt;
  }
  std::optional<api::Object> current;
  cluster::VisitStore(driver_.cluster().objects(), object.kind(), [&]<class T>(framework::ObjectStore<T>& store) {
    if (const std::shared_ptr<const T>* found = store.FindShared(metadata.namespace_.str(), metadata.name)) {
      current = api::Object(*found);
    }
  });
  return current;
}

std::optional<api::Object> Picture::AsCounted(const api::Object& object) const {
  const api::Pod* pod = object.As<api::Pod>();
  if (pod == nullptr) return object;
  if (api::IsTerminated(*pod)) return std::nullopt;
  if (!pod->spec.node_name.empty()) return object;
  const Pending* pending = FindPending(pod->metadata.uid);
  const bool is_announced =
      pending != nullptr && !pending->announced.empty() && pending->announced == pod->status.nominated_node_name;
  return is_announced ? PlacedOn(*pod, pending->announced) : object;
}

PastChange Picture::Preview(const Change& change) const {
  PastChange preview;
  preview.time = change.time;
  preview.before = Current(change.object);
  if (!change.deleted) preview.after = AsCounted(change.object);
  if (!preview.before && !preview.after) preview.before = change.object;
  preview.node = NodeTouchedBy(preview);
  return preview;
}

// A pod that does not stay on its node is removed first and then added again; any other object is replaced.
void Picture::Set(const std::optional<api::Object>& from, const std::optional<api::Object>& to) {
  const api::Pod* was = PodOf(from);
  const api::Pod* is = PodOf(to);
  const bool stays =
      was != nullptr && is != nullptr && !is->spec.node_name.empty() && was->spec.node_name == is->spec.node_name;
  if (from && (!to || (was != nullptr && !stays))) driver_.Remove(*from);
  if (to) driver_.Put(*to);
}

void Picture::Apply(const Change& change) {
  PastChange applied = Preview(change);
  Set(Current(change.object), applied.after);
  if (const api::Pod* pod = change.object.As<api::Pod>()) {
    const std::string& uid = pod->metadata.uid;
    if (change.deleted || !pod->spec.node_name.empty() || api::IsTerminated(*pod)) {
      pending_.erase(uid);
    } else {
      Pending& pending = pending_[uid];
      if (pending.pod == nullptr) pending.since = change.time;
      pending.pod = change.object.Share<api::Pod>();
      if (pending.announced != pod->status.nominated_node_name) pending.announced.clear();
    }
  }
  Remember(std::move(applied));
}

void Picture::Announce(const std::string& uid, const std::string& node, base::Time time) {
  const auto found = pending_.find(uid);
  if (found == pending_.end() || found->second.announced == node) return;
  const api::Object pod(found->second.pod);
  PastChange change;
  change.time = time;
  change.before = AsCounted(pod);
  found->second.announced = node;
  change.after = AsCounted(pod);
  change.node = NodeTouchedBy(change);
  Set(change.before, change.after);
  Remember(std::move(change));
}

void Picture::NoteDecided(const std::string& uid, base::Time time) {
  if (const auto found = pending_.find(uid); found != pending_.end()) found->second.since = time;
}

void Picture::Remember(PastChange change) {
  if (!MattersToOthers(change)) return;
  change.number = next_number_++;
  history_.push_back(std::move(change));
}

void Picture::Forget(base::Time now) {
  while (!history_.empty() && (history_.size() > limits_.changes || history_.front().time < now - limits_.age)) {
    history_.pop_front();
  }
}

const Picture::Pending* Picture::FindPending(const std::string& uid) const {
  const auto found = pending_.find(uid);
  return found == pending_.end() ? nullptr : &found->second;
}

Picture::Alternative::Alternative(Picture& picture, const std::vector<OtherState>& states) : picture_(picture) {
  for (const OtherState& other : states) {
    const api::Object& object = other.state ? *other.state : other.because->object();
    std::optional<api::Object> current = picture_.Current(object);
    picture_.Set(current, other.state);
    undone_.emplace_back(other.state, std::move(current));
  }
}

Picture::Alternative::~Alternative() {
  for (auto it = undone_.rbegin(); it != undone_.rend(); ++it) picture_.Set(it->first, it->second);
}

}  // namespace berth::shadow
