#include "controllers/volume_controller.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "framework/events.h"
#include "plugins/volume/claims.h"
#include "plugins/volume/csi_migration.h"
#include "plugins/volume_binding/claim_candidates.h"

namespace berth::controllers {

namespace {

constexpr char kNoProvisioner[] = "kubernetes.io/no-provisioner";
constexpr char kDefaultClassAnnotation[] = "storageclass.kubernetes.io/is-default-class";

// The class for claims without one: the newest of those marked as default, by name among equals.
const api::StorageClass* DefaultClass(const framework::Objects& objects) {
  const api::StorageClass* chosen = nullptr;
  for (const auto& [key, candidate] : objects.storage_classes) {
    const std::string* mark = plugins::FindAnnotation(candidate->metadata, kDefaultClassAnnotation);
    if (!mark || *mark != "true") continue;
    if (!chosen || candidate->metadata.creation_timestamp > chosen->metadata.creation_timestamp)
      chosen = candidate.get();
  }
  return chosen;
}

// Not yet seen by the controller, which will make it available.
bool IsUnseen(const api::PersistentVolume& volume) {
  const bool taken = volume.spec.claim_ref && !volume.spec.claim_ref->uid.empty();
  return !taken && (volume.status.phase.empty() || volume.status.phase == "Pending");
}

std::string DriverOf(const api::StorageClass& storage_class) {
  const plugins::CsiMigration* migration = plugins::MigrationOfPlugin(storage_class.provisioner);
  return migration ? std::string(migration->driver) : storage_class.provisioner;
}

// The labels that tie a new volume to where it was made: those the class names, and those the node's driver reports.
std::set<Symbol> TopologyKeys(const api::StorageClass& storage_class, const api::CSINode* csi_node) {
  std::set<Symbol> keys;
  for (const api::TopologySelectorTerm& term : storage_class.allowed_topologies) {
    for (const api::TopologySelectorLabelRequirement& label : term.match_label_expressions) keys.insert(label.key);
  }
  if (!csi_node) return keys;
  for (const api::CSINodeDriver& driver : csi_node->spec.drivers) {
    if (driver.name != DriverOf(storage_class)) continue;
    for (const std::string& key : driver.topology_keys) keys.insert(Symbol(key));
  }
  return keys;
}

std::optional<api::VolumeNodeAffinity> AffinityTo(const framework::NodeInfo& node, const std::set<Symbol>& keys) {
  api::NodeSelectorTerm term;
  for (const Symbol& key : keys) {
    if (const Symbol* value = node.labels().Find(key)) term.match_expressions.push_back({key, "In", {*value}});
  }
  if (term.match_expressions.empty()) return std::nullopt;
  return api::VolumeNodeAffinity{api::NodeSelector{{std::move(term)}}};
}

}  // namespace

void VolumeController::CreateEphemeralClaims(const api::Pod& pod) {
  for (const api::Volume& volume : pod.spec.volumes) {
    const auto& ephemeral = volume.from().ephemeral;
    if (!ephemeral || !ephemeral->volume_claim_template) continue;
    const std::string name = plugins::ClaimOf(pod, volume)->name;
    if (cluster_.objects().persistent_volume_claims.Find(pod.metadata.namespace_.str(), name)) continue;
    api::PersistentVolumeClaim claim;
    claim.metadata = ephemeral->volume_claim_template->metadata;
    claim.metadata.name = name;
    claim.metadata.namespace_ = pod.metadata.namespace_;
    claim.metadata.uid = api::KeyOf(claim.metadata);
    claim.metadata.owner_references = {{"v1", "Pod", pod.metadata.name, pod.metadata.uid, true}};
    claim.spec = ephemeral->volume_claim_template->spec;
    claim.status.phase = "Pending";
    Store(std::make_shared<const api::PersistentVolumeClaim>(std::move(claim)));
  }
}

void VolumeController::Reconcile() {
  // Copies, because the map is modified meanwhile.
  std::vector<VolumePtr> unseen;
  for (const auto& [key, volume] : cluster_.objects().persistent_volumes) {
    if (IsUnseen(*volume)) unseen.push_back(volume);
  }
  for (const VolumePtr& volume : unseen) {
    auto available = std::make_shared<api::PersistentVolume>(*volume);
    available->status.phase = "Available";
    Store(std::move(available));
  }
  std::vector<ClaimPtr> claims;
  for (const auto& [key, claim] : cluster_.objects().persistent_volume_claims) claims.push_back(claim);
  for (ClaimPtr& claim : claims) BindIfPossible(std::move(claim));
}

void VolumeController::BindIfPossible(ClaimPtr claim) {
  if (plugins::IsFullyBound(*claim) || claim->status.phase == "Lost" || claim->metadata.deletion_timestamp) return;
  claim = WithDefaultClass(std::move(claim));
  if (const VolumePtr promised = FindPromised(*claim)) return Bind(*promised, *claim);
  if (!claim->spec.volume_name.empty()) return;  // it accepts only that volume

  const std::string class_name(plugins::StorageClassOf(*claim));
  const api::StorageClass* storage_class = cluster_.objects().storage_classes.Find(class_name);
  const bool provisions = storage_class && storage_class->provisioner != kNoProvisioner;
  const bool waits = storage_class && storage_class->volume_binding_mode == std::string(plugins::kWaitForFirstConsumer);
  if (waits) {
    const std::string* selected = plugins::FindAnnotation(claim->metadata, plugins::kSelectedNodeAnnotation);
    const framework::NodeInfo* node = selected ? cluster_.Find(*selected) : nullptr;
    if (node && provisions) Bind(*Provision(*claim, *storage_class, node), *claim);
    return;
  }
  if (const VolumePtr match = FindMatch(*claim)) return Bind(*match, *claim);
  // In a real cluster the provisioner has had its chance: what keeps it from making the volume is not known here.
  const bool left_unbound = claim->metadata.creation_timestamp.has_value();
  if (provisions && !left_unbound) Bind(*Provision(*claim, *storage_class, nullptr), *claim);
}

VolumeController::ClaimPtr VolumeController::WithDefaultClass(ClaimPtr claim) {
  if (claim->spec.storage_class_name || !plugins::StorageClassOf(*claim).empty()) return claim;
  const api::StorageClass* storage_class = DefaultClass(cluster_.objects());
  if (!storage_class) return claim;
  auto completed = std::make_shared<api::PersistentVolumeClaim>(*claim);
  completed->spec.storage_class_name = storage_class->metadata.name;
  Store(completed);
  return completed;
}

VolumeController::VolumePtr VolumeController::FindPromised(const api::PersistentVolumeClaim& claim) const {
  const auto& volumes = cluster_.objects().persistent_volumes;
  if (!claim.spec.volume_name.empty()) {
    const VolumePtr* named = volumes.FindShared("", claim.spec.volume_name);
    const bool free = named && (!(*named)->spec.claim_ref || plugins::IsBoundTo(**named, claim));
    return free ? *named : nullptr;
  }
  for (const auto& [key, volume] : volumes) {
    if (plugins::IsBoundTo(*volume, claim)) return volume;
  }
  return nullptr;
}

VolumeController::VolumePtr VolumeController::FindMatch(const api::PersistentVolumeClaim& claim) const {
  const auto& volumes = cluster_.objects().persistent_volumes;
  std::vector<VolumePtr> anywhere;
  for (const auto& [key, volume] : volumes) {
    if (plugins::StorageClassOf(*volume) != plugins::StorageClassOf(claim)) continue;
    anywhere.push_back(volume);
    if (!volume->spec.node_affinity || volume->spec.claim_ref) continue;
    // Chosen before any pod is considered, so where the volume can be used does not matter yet.
    auto copy = std::make_shared<api::PersistentVolume>(*volume);
    copy->spec.node_affinity.reset();
    anywhere.back() = std::move(copy);
  }
  const VolumePtr match = plugins::ClaimCandidates(claim, anywhere).FindOn({}, {});
  return match ? *volumes.FindShared("", match->metadata.name) : nullptr;
}

VolumeController::VolumePtr VolumeController::Provision(const api::PersistentVolumeClaim& claim,
                                                        const api::StorageClass& storage_class,
                                                        const framework::NodeInfo* node) {
  auto volume = std::make_shared<api::PersistentVolume>();
  volume->metadata.name = "pvc-" + claim.metadata.uid;
  // A generated UID is namespace/name; no namespace contains a dot, so the name stays unique.
  std::replace(volume->metadata.name.begin(), volume->metadata.name.end(), '/', '.');
  volume->metadata.uid = volume->metadata.name;
  volume->spec.capacity = claim.spec.resources.requests;
  volume->spec.access_modes = claim.spec.access_modes;
  volume->spec.volume_mode = claim.spec.volume_mode;
  volume->spec.storage_class_name = plugins::StorageClassOf(claim);
  volume->spec.persistent_volume_reclaim_policy = storage_class.reclaim_policy.value_or("Delete");
  volume->spec.source.csi = api::CSIPersistentVolumeSource{DriverOf(storage_class), volume->metadata.name, false, {}};
  if (node) {
    const api::CSINode* csi_node = cluster_.objects().csi_nodes.Find(node->name());
    volume->spec.node_affinity = AffinityTo(*node, TopologyKeys(storage_class, csi_node));
  }
  return volume;
}

void VolumeController::Bind(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  auto bound_volume = std::make_shared<api::PersistentVolume>(volume);
  api::ObjectReference& reference = bound_volume->spec.claim_ref.emplace();
  reference.kind = "PersistentVolumeClaim";
  reference.api_version = "v1";
  reference.namespace_ = claim.metadata.namespace_;
  reference.name = claim.metadata.name;
  reference.uid = claim.metadata.uid;
  bound_volume->status.phase = "Bound";
  Store(std::move(bound_volume));

  auto bound_claim = std::make_shared<api::PersistentVolumeClaim>(claim);
  bound_claim->spec.volume_name = volume.metadata.name;
  bound_claim->status.phase = "Bound";
  bound_claim->status.capacity = volume.spec.capacity;
  bound_claim->metadata.annotations.Set(std::string(plugins::kBindCompletedAnnotation), "yes");
  Store(std::move(bound_claim));
}

void VolumeController::Write(VolumePtr volume) {
  Store(volume);
  if (!volume->spec.claim_ref) return;
  const api::ObjectReference& claim = *volume->spec.claim_ref;
  const ClaimPtr* claimed = cluster_.objects().persistent_volume_claims.FindShared(claim.namespace_.str(), claim.name);
  if (claimed) BindIfPossible(*claimed);
}

void VolumeController::Write(ClaimPtr claim) {
  Store(claim);
  BindIfPossible(std::move(claim));
}

// A changed object must not look like the input's version; an empty one always differs.
void VolumeController::Store(VolumePtr volume) {
  api::PersistentVolume changed = *volume;
  changed.metadata.resource_version.clear();
  driver_.Put(api::MakeObject(std::move(changed)));
}

void VolumeController::Store(ClaimPtr claim) {
  api::PersistentVolumeClaim changed = *claim;
  changed.metadata.resource_version.clear();
  driver_.Put(api::MakeObject(std::move(changed)));
}

}  // namespace berth::controllers
