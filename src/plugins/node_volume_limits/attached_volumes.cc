#include "plugins/node_volume_limits/attached_volumes.h"

#include <algorithm>

#include "plugins/signature_text.h"

namespace berth::plugins {

using framework::ClusterView;
using framework::Objects;
using framework::PodInfo;
using framework::PodInfoPtr;

namespace {

std::string KeyOf(const AttachableVolume& volume) {
  std::string key;
  key.reserve(volume.driver.size() + volume.handle.size() + 3 * sizeof(int64_t));
  AppendField(key, volume.driver);
  AppendField(key, volume.handle);
  AppendField(key, int64_t{volume.unprovisioned});
  return key;
}

template <class Map, class Value>
void EraseOne(Map& map, const std::string& key, const Value& value) {
  const auto [begin, end] = map.equal_range(key);
  const auto it = std::find_if(begin, end, [&](const auto& entry) { return entry.second == value; });
  if (it != end) map.erase(it);
}

template <class Map>
auto ValuesAt(const Map& map, const std::string& key) {
  std::vector<typename Map::mapped_type> values;
  const auto [begin, end] = map.equal_range(key);
  for (auto it = begin; it != end; ++it) values.push_back(it->second);
  return values;
}

template <class T>
const T& EitherOf(const typename framework::ObjectStore<T>::Change& change) {
  return change.after ? *change.after : *change.before;
}

}  // namespace

bool AttachedVolumes::OfNode::IsUsed(const Volume& volume) const {
  return std::any_of(volumes.begin(), volumes.end(),
                     [&](const Held& held) { return held.volume == &volume && held.pods > 0; });
}

const AttachedVolumes::OfDriver* AttachedVolumes::OfNode::Find(std::string_view driver) const {
  for (const OfDriver& entry : drivers) {
    if (entry.driver == driver) return &entry;
  }
  return nullptr;
}

AttachedVolumes::Cursors AttachedVolumes::Now(const ClusterView& cluster, const Objects& objects) {
  return {cluster.volume_pods()->end(),         objects.persistent_volume_claims.version(),
          objects.persistent_volumes.version(), objects.storage_classes.version(),
          objects.csi_nodes.version(),          objects.volume_attachments.version()};
}

bool AttachedVolumes::CatchUp(const ClusterView& cluster, const Objects& objects) {
  if (cluster.volume_pods() == nullptr) return false;
  objects_ = &objects;
  const Cursors now = Now(cluster, objects);
  if (built_ && now == seen_) return true;
  built_&& CanFollow(cluster, objects) ? Follow(cluster, objects) : Rebuild(cluster, objects);
  seen_ = now;
  return true;
}

bool AttachedVolumes::CanFollow(const ClusterView& cluster, const Objects& objects) const {
  // Entries of removed nodes accumulate; classes rarely change, and affect any claim.
  const size_t most_nodes = 2 * std::max(cluster.nodes().size(), nodes_when_built_) + 64;
  return nodes_.size() <= most_nodes && objects.storage_classes.version() == seen_.classes &&
         cluster.volume_pods()->Knows(seen_.pods) && objects.persistent_volume_claims.changes().Knows(seen_.claims) &&
         objects.persistent_volumes.changes().Knows(seen_.volumes) &&
         objects.csi_nodes.changes().Knows(seen_.csi_nodes) &&
         objects.volume_attachments.changes().Knows(seen_.attachments);
}

void AttachedVolumes::Rebuild(const ClusterView& cluster, const Objects& objects) {
  by_index_.clear();
  by_claim_.clear();
  by_volume_.clear();
  pods_.clear();
  attachments_.clear();
  attachments_by_volume_.clear();
  volumes_.clear();
  nodes_.clear();
  for (const framework::NodeInfo* node : cluster.nodes()) {
    const Symbol name(node->name());
    for (const PodInfoPtr& pod : node->pods()) {
      const std::vector<api::Volume>& volumes = pod->volumes();
      const auto is_read = [](const api::Volume& volume) { return volume.source != nullptr; };
      if (std::any_of(volumes.begin(), volumes.end(), is_read)) AddPod(pod, name, objects);
    }
  }
  for (const auto& [key, attachment] : objects.volume_attachments) {
    SetAttachment(key.second, attachment.get(), objects);
  }
  nodes_when_built_ = nodes_.size();
  built_ = true;
  ++rebuilds_;
}

// Lookups see the current objects, whichever change produced them: the order of kinds does not matter.
void AttachedVolumes::Follow(const ClusterView& cluster, const Objects& objects) {
  const auto& pods = *cluster.volume_pods();
  for (uint64_t at = seen_.pods; at < pods.end(); ++at) {
    const framework::VolumePodChange& change = pods.at(at);
    change.sign > 0 ? AddPod(change.pod, change.node_name, objects) : RemovePod(change.pod);
  }
  const auto& claims = objects.persistent_volume_claims.changes();
  for (uint64_t at = seen_.claims; at < claims.end(); ++at) {
    const api::ObjectMeta& metadata = EitherOf<api::PersistentVolumeClaim>(claims.at(at)).metadata;
    ResolveAgain(ValuesAt(by_claim_, api::KeyOf(metadata)), objects);
  }
  const auto& volumes = objects.persistent_volumes.changes();
  for (uint64_t at = seen_.volumes; at < volumes.end(); ++at) {
    FollowVolume(EitherOf<api::PersistentVolume>(volumes.at(at)).metadata.name, objects);
  }
  const auto& csi_nodes = objects.csi_nodes.changes();
  for (uint64_t at = seen_.csi_nodes; at < csi_nodes.end(); ++at) {
    const Symbol name(EitherOf<api::CSINode>(csi_nodes.at(at)).metadata.name);
    if (const auto it = nodes_.find(name); it != nodes_.end()) ReadLimits(it->second, objects);
    changes_.Append(name);
  }
  const auto& attachments = objects.volume_attachments.changes();
  for (uint64_t at = seen_.attachments; at < attachments.end(); ++at) {
    const auto& change = attachments.at(at);
    const std::string& name = EitherOf<api::VolumeAttachment>(change).metadata.name;
    SetAttachment(name, objects.volume_attachments.Find(name), objects);
  }
}

AttachedVolumes::OfNode& AttachedVolumes::NodeNamed(const Symbol& name, const Objects& objects) {
  const auto [it, is_new] = nodes_.try_emplace(name);
  if (is_new) {
    it->second.name = name;
    ReadLimits(it->second, objects);
  }
  return it->second;
}

void AttachedVolumes::ReadLimits(OfNode& node, const Objects& objects) {
  for (OfDriver& entry : node.drivers) entry.limit = kNoLimit;
  node.has_limits = false;
  const api::CSINode* csi_node = objects.csi_nodes.Find(node.name.str());
  node.has_csi_node = csi_node != nullptr;
  if (csi_node == nullptr) return;
  for (const api::CSINodeDriver& driver : csi_node->spec.drivers) {
    if (!driver.allocatable || !driver.allocatable->count) continue;
    Count(node, driver.name, 0);
    const auto entry = std::find_if(node.drivers.begin(), node.drivers.end(),
                                    [&](const OfDriver& known) { return known.driver == driver.name; });
    entry->limit = *driver.allocatable->count;
    node.has_limits = true;
  }
}

const AttachedVolumes::OfNode& AttachedVolumes::On(const framework::NodeInfo& node) {
  if (node.index() >= by_index_.size()) by_index_.resize(node.index() + 1, nullptr);
  OfNode*& place = by_index_[node.index()];
  if (place == nullptr || place->name != node.name()) place = &NodeNamed(Symbol(node.name()), *objects_);
  return *place;
}

const AttachedVolumes::Volume* AttachedVolumes::FindUsed(const AttachableVolume& name) const {
  const auto it = volumes_.find(KeyOf(name));
  return it == volumes_.end() || it->second.pods == 0 ? nullptr : &it->second;
}

void AttachedVolumes::AddPod(const PodInfoPtr& pod, const Symbol& node_name, const Objects& objects) {
  Pod& entry = pods_[pod.get()];
  entry.pod = pod;
  entry.node = &NodeNamed(node_name, objects);
  for (const api::Volume& volume : pod->volumes()) {
    if (const std::optional<ClaimReference> reference = ClaimOf(*pod, volume)) {
      by_claim_.emplace(api::KeyOf(pod->namespace_().str(), reference->name), &entry);
    }
  }
  Resolve(entry, objects);
}

void AttachedVolumes::RemovePod(const PodInfoPtr& pod) {
  const auto it = pods_.find(pod.get());
  if (it == pods_.end()) return;
  Unresolve(it->second);
  for (const api::Volume& volume : pod->volumes()) {
    if (const std::optional<ClaimReference> reference = ClaimOf(*pod, volume)) {
      EraseOne(by_claim_, api::KeyOf(pod->namespace_().str(), reference->name), &it->second);
    }
  }
  pods_.erase(it);
}

void AttachedVolumes::Resolve(Pod& pod, const Objects& objects) {
  const PodInfo& info = *pod.pod;
  for (const api::Volume& volume : info.volumes()) {
    const std::optional<ClaimReference> reference = ClaimOf(info, volume);
    if (!reference) continue;
    const auto* claim = objects.persistent_volume_claims.Find(info.namespace_().str(), reference->name);
    if (claim == nullptr || claim->spec.volume_name.empty()) continue;
    pod.volume_names.push_back(claim->spec.volume_name);
    by_volume_.emplace(claim->spec.volume_name, &pod);
  }
  AttachableVolumes volumes;
  pod.unclear = !CollectAttachable(objects, info, PodRole::kRunning, /*node_has_csi=*/true, volumes).ok();
  if (pod.unclear) {
    ++pod.node->unclear_pods;
    return;
  }
  for (const AttachableVolume& volume : volumes) {
    pod.volumes.push_back(Intern(volume));
    Hold(*pod.node, pod.volumes.back(), &OfNode::Held::pods);
  }
}

void AttachedVolumes::Unresolve(Pod& pod) {
  for (const std::string& name : pod.volume_names) EraseOne(by_volume_, name, &pod);
  pod.volume_names.clear();
  for (Volume* volume : pod.volumes) Release(*pod.node, volume, &OfNode::Held::pods);
  pod.volumes.clear();
  if (pod.unclear) --pod.node->unclear_pods;
  pod.unclear = false;
}

void AttachedVolumes::ResolveAgain(const std::vector<Pod*>& pods, const Objects& objects) {
  for (Pod* pod : pods) {
    Unresolve(*pod);
    Resolve(*pod, objects);
    changes_.Append(pod->node->name);
  }
}

void AttachedVolumes::FollowVolume(const std::string& name, const Objects& objects) {
  ResolveAgain(ValuesAt(by_volume_, name), objects);
  for (const std::string& attachment : ValuesAt(attachments_by_volume_, name)) {
    SetAttachment(attachment, objects.volume_attachments.Find(attachment), objects);
  }
}

void AttachedVolumes::SetAttachment(const std::string& name, const api::VolumeAttachment* attachment,
                                    const Objects& objects) {
  if (const auto known = attachments_.find(name); known != attachments_.end()) {
    const Attachment& before = known->second;
    if (before.volume) Release(*before.node, before.volume, &OfNode::Held::attachments);
    EraseOne(attachments_by_volume_, before.volume_name, name);
    changes_.Append(before.node->name);
    attachments_.erase(known);
  }
  if (attachment == nullptr) return;
  Attachment& entry = attachments_[name];
  entry.node = &NodeNamed(Symbol(attachment->spec.node_name), objects);
  entry.volume_name = attachment->spec.source.persistent_volume_name.value_or("");
  attachments_by_volume_.emplace(entry.volume_name, name);
  if (const std::optional<AttachableVolume> attached = AttachedBy(objects, *attachment)) {
    entry.volume = Intern(*attached);
    Hold(*entry.node, entry.volume, &OfNode::Held::attachments);
  }
  changes_.Append(entry.node->name);
}

AttachedVolumes::Volume* AttachedVolumes::Intern(const AttachableVolume& name) {
  const auto [it, is_new] = volumes_.try_emplace(KeyOf(name));
  if (is_new) it->second.name = name;
  return &it->second;
}

void AttachedVolumes::Hold(OfNode& node, Volume* volume, uint32_t OfNode::Held::*count) {
  ++volume->holders;
  if (count == &OfNode::Held::pods) ++volume->pods;
  for (OfNode::Held& held : node.volumes) {
    if (held.volume != volume) continue;
    ++(held.*count);
    return;
  }
  node.volumes.push_back({volume});
  ++(node.volumes.back().*count);
  Count(node, volume->name.driver, +1);
}

void AttachedVolumes::Release(OfNode& node, Volume* volume, uint32_t OfNode::Held::*count) {
  const auto held = std::find_if(node.volumes.begin(), node.volumes.end(),
                                 [&](const OfNode::Held& known) { return known.volume == volume; });
  if (--((*held).*count) == 0 && held->pods == 0 && held->attachments == 0) {
    Count(node, volume->name.driver, -1);
    *held = node.volumes.back();
    node.volumes.pop_back();
  }
  if (count == &OfNode::Held::pods) --volume->pods;
  if (--volume->holders == 0) volumes_.erase(KeyOf(volume->name));
}

void AttachedVolumes::Count(OfNode& node, const std::string& driver, int64_t change) {
  for (OfDriver& entry : node.drivers) {
    if (entry.driver != driver) continue;
    entry.held += change;
    return;
  }
  node.drivers.push_back({driver, change, kNoLimit});
}

}  // namespace berth::plugins
