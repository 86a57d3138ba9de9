#include "plugins/volume_binding/static_volumes.h"

#include "plugins/signature_text.h"
#include "plugins/volume/claims.h"

namespace berth::plugins {

const std::pair<const StaticVolumes::Order, VolumePtr>* StaticVolumes::Group::Find(
    const ClaimMatcher& claim, const std::set<std::string>& taken) const {
  for (auto it = volumes.lower_bound(Order(claim.requested(), "")); it != volumes.end(); ++it) {
    if (claim.Accepts(*it->second) && taken.count(it->first.second) == 0) return &*it;
  }
  return nullptr;
}

void StaticVolumes::CatchUp(const framework::Objects& objects, const AssumedObjects<api::PersistentVolume>& assumed) {
  const auto& changes = objects.persistent_volumes.changes();
  if (built_ && volumes_seen_ == changes.end() && assumed_seen_ == assumed.version()) return;
  std::vector<framework::ObjectStore<api::PersistentVolume>::Key> changed;
  // Groups of removed nodes accumulate.
  if (!built_ || groups_.size() > 2 * known_.size() + 64 || !changes.Knows(volumes_seen_) ||
      !assumed.ReadChanges(assumed_seen_, changed)) {
    return Rebuild(objects, assumed);
  }
  for (; volumes_seen_ < changes.end(); ++volumes_seen_) {
    const auto& change = changes.at(volumes_seen_);
    changed.emplace_back("", (change.after ? change.after : change.before)->metadata.name);
  }
  for (const auto& [name_space, name] : changed) {
    Remove(name);
    if (VolumePtr volume = assumed.Find(objects.persistent_volumes, name_space, name)) Add(std::move(volume));
  }
}

void StaticVolumes::Rebuild(const framework::Objects& objects, const AssumedObjects<api::PersistentVolume>& assumed) {
  known_.clear();
  claims_.clear();
  classes_.clear();
  groups_.clear();
  for (const auto& [key, volume] : objects.persistent_volumes) Add(assumed.Latest(volume));
  volumes_seen_ = objects.persistent_volumes.changes().end();
  assumed_seen_ = assumed.version();
  built_ = true;
  ++rebuilds_;
}

void StaticVolumes::Add(VolumePtr volume) {
  Known& known = known_[volume->metadata.name];
  if (const auto& claim = volume->spec.claim_ref) {
    known.claim = api::KeyOf(claim->namespace_.str(), claim->name);
    ++claims_[known.claim];
    return;
  }
  if (!IsAvailable(*volume)) return;
  known.group = GroupOf(*volume);
  known.order = {StorageCapacity(*volume), volume->metadata.name};
  groups_[*known.group].volumes.emplace(known.order, std::move(volume));
  changes_.Append(*known.group);
}

void StaticVolumes::Remove(const std::string& name) {
  const auto it = known_.find(name);
  if (it == known_.end()) return;
  const Known& known = it->second;
  if (!known.claim.empty()) {
    const auto claim = claims_.find(known.claim);
    if (--claim->second == 0) claims_.erase(claim);
  }
  if (known.group) {
    groups_[*known.group].volumes.erase(known.order);
    changes_.Append(*known.group);
  }
  known_.erase(it);
}

StaticVolumes::GroupId StaticVolumes::GroupOf(const api::PersistentVolume& volume) {
  OfClass& storage_class = classes_[std::string(StorageClassOf(volume))];
  std::string text;
  AppendAffinity(text, volume.spec.node_affinity);
  const auto [it, is_new] = storage_class.by_affinity.try_emplace(std::move(text), groups_.size());
  if (is_new) {
    std::optional<Pin> pin = PinOf(volume.spec.node_affinity);
    storage_class.index.Add(pin, it->second);
    groups_.push_back(
        {std::string(StorageClassOf(volume)), VolumeAffinity(volume.spec.node_affinity), std::move(pin), {}});
  }
  return it->second;
}

bool StaticVolumes::HasVolumeFor(const api::PersistentVolumeClaim& claim) const {
  return claims_.contains(api::KeyOf(claim.metadata));
}

VolumePtr StaticVolumes::FindOn(const ClaimMatcher& claim, std::string_view storage_class,
                                const api::Labels& node_labels, const std::set<std::string>& taken) const {
  const auto found = classes_.find(storage_class);
  if (found == classes_.end()) return nullptr;
  const std::pair<const Order, VolumePtr>* best = nullptr;
  found->second.index.ForEachNear(node_labels, [&](GroupId id) {
    const Group& group = groups_[id];
    if (group.volumes.empty() || !group.affinity.Allows(node_labels)) return;
    const auto* first = group.Find(claim, taken);
    if (first != nullptr && (best == nullptr || first->first < best->first)) best = first;
  });
  return best ? best->second : nullptr;
}

void AppendAffinity(std::string& text, const std::optional<api::VolumeNodeAffinity>& affinity) {
  const bool required = affinity && affinity->required;
  AppendField(text, int64_t{required});
  if (!required) return;
  const auto append = [&](const std::vector<api::NodeSelectorRequirement>& requirements) {
    AppendField(text, static_cast<int64_t>(requirements.size()));
    for (const api::NodeSelectorRequirement& requirement : requirements) {
      AppendField(text, requirement.key.str());
      AppendField(text, requirement.op);
      AppendField(text, static_cast<int64_t>(requirement.values.size()));
      for (const Symbol& value : requirement.values) AppendField(text, value.str());
    }
  };
  AppendField(text, static_cast<int64_t>(affinity->required->node_selector_terms.size()));
  for (const api::NodeSelectorTerm& term : affinity->required->node_selector_terms) {
    append(term.match_expressions);
    append(term.match_fields);
  }
}

}  // namespace berth::plugins
