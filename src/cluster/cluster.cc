#include "cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "dra/inventory.h"

namespace berth::cluster {

using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;

namespace {

framework::PodRequestOptions OccupyingPodOptions(const config::FeatureGates& gates) {
  framework::PodRequestOptions options = framework::RunningPodOptions(gates);
  options.use_node_allocatable_claims = gates.Enabled("DRANodeAllocatableResources");
  return options;
}

}  // namespace

AssumedPod::~AssumedPod() {
  if (cluster_ && cluster_->AssumedBy(uid_) == ticket_) cluster_->Forget(uid_);
}

Cluster::Cluster(const config::FeatureGates& gates)
    : request_options_(OccupyingPodOptions(gates)),
      inventory_(std::make_unique<dra::Inventory>(dra::Features::Of(gates))) {
  inventory_->FollowStores(objects_);
}

Cluster::~Cluster() = default;

void Cluster::UpsertNode(std::shared_ptr<const api::Node> node) {
  const std::string name = node->metadata.name;
  if (const NodeInfo* known = table_.Find(name)) images_.Remove(known->node());
  ImageTable::NodeImages images = images_.Add(*node);
  table_.Upsert(std::move(node));
  table_.SetImages(name, std::move(images));
  WelcomePods(name);
}

void Cluster::InsertNode(std::shared_ptr<const api::Node> node, framework::NodeIndex index) {
  const std::string name = node->metadata.name;
  ImageTable::NodeImages images = images_.Add(*node);
  table_.Insert(std::move(node), index);
  table_.SetImages(name, std::move(images));
  WelcomePods(name);
}

// Counts the pods that waited for this node.
void Cluster::WelcomePods(const std::string& node_name) {
  const auto waiting = waiting_for_node_.extract(node_name);
  if (waiting.empty()) return;
  const framework::NodeIndex node = table_.Find(node_name)->index();
  for (const PodInfoPtr& pod : waiting.mapped()) {
    CountClaims(pod, table_.name(node), +1);
    table_.AddPod(node, pod);
  }
}

void Cluster::TakeClaimsBetweenInputs() { inventory_->CatchUpBetweenInputs(); }

void Cluster::CatchUpWithClaims() { inventory_->posting().CatchUp(); }

void Cluster::set_on_claim_landed(ClaimLanded on_landed) {
  inventory_->posting().set_on_landed([on_landed = std::move(on_landed)](const dra::ClaimTracker::Landed& landed) {
    on_landed(landed.written, landed.ended_flight);
  });
}

void Cluster::IgnoreBindingOfClaims() { inventory_->posting().DropPosts(); }

void Cluster::LandClaim(const std::shared_ptr<const api::ResourceClaim>& written, const std::string& ended_flight) {
  inventory_->posting().Apply({written, ended_flight});
}

bool Cluster::ClaimsAreAtRest() const { return inventory_->posting().IsAtRest(); }
bool Cluster::HasAssumedClaims() const { return inventory_->posting().HasAssumed(); }

void Cluster::RemoveNode(std::string_view name) {
  const std::unique_ptr<NodeInfo> row = table_.Remove(name);
  if (!row) return;
  inventory_->ForgetNode(row->name());
  images_.Remove(row->node());
  const Symbol node_name(name);
  for (const PodInfoPtr& pod : row->pods()) CountClaims(pod, node_name, -1);
  if (!row->pods().empty()) waiting_for_node_[std::string(name)] = row->pods();
}

bool Cluster::TakeFreedDevices() { return inventory_->claims().TakeFreed(); }

void Cluster::UpsertPod(std::shared_ptr<const api::Pod> pod) {
  const HashedUid uid(pod->metadata.uid);
  DisplacePod(uid);
  if (api::IsTerminated(*pod)) return nominator_.Remove(pod->metadata.uid);
  if (pod->spec.node_name.empty()) return;
  nominator_.Remove(pod->metadata.uid);
  PlacePod(PodInfo::Pack(*pod, request_options_, shapes_), uid.hash, pod->spec.node_name, base::Ticket::kNone);
}

void Cluster::RemovePod(const std::string& uid) {
  DisplacePod(HashedUid(uid));
  nominator_.Remove(uid);
}

PodInfoPtr Cluster::FindPod(const std::string& uid) const {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : it->pod;
}

std::string Cluster::NodeOf(std::string_view uid) const {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? std::string() : std::string(it->node_name.str());
}

Result<AssumedPod> Cluster::Assume(PodInfoPtr pod, const std::string& node_name, base::Ticket ticket) {
  CHECK(ticket != base::Ticket::kNone);
  if (!table_.Find(node_name)) return Error::NotFound("node \"" + node_name + "\" is not known");
  const HashedUid hashed(pod->uid());
  if (pods_.contains(hashed)) {
    return Error::AlreadyExists("pod " + pod->Key() + " already occupies node \"" + NodeOf(pod->uid()) + "\"");
  }
  std::string uid = pod->uid();
  PlacePod(std::move(pod), hashed.hash, node_name, ticket);
  return AssumedPod(*this, std::move(uid), ticket);
}

void Cluster::AssumeAgain(PodInfoPtr pod, const std::string& node_name, base::Ticket ticket) {
  CHECK(ticket != base::Ticket::kNone);
  const size_t hash = HashedUid(pod->uid()).hash;
  PlacePod(std::move(pod), hash, node_name, ticket);
}

void Cluster::Forget(const std::string& uid) {
  if (IsAssumed(uid)) DisplacePod(HashedUid(uid));
}

base::Ticket Cluster::AssumedBy(const std::string& uid) const {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? base::Ticket::kNone : it->assumed_by;
}

bool Cluster::IsPlacedByAnother(const std::string& pod_uid, base::Ticket attempt) const {
  const auto it = pods_.find(pod_uid);
  return it != pods_.end() && (it->assumed_by == base::Ticket::kNone || it->assumed_by != attempt);
}

PodInfoPtr Cluster::MakePodInfo(std::shared_ptr<const api::Pod> pod) const {
  return PodInfo::Make(std::move(pod), request_options_);
}

int Cluster::PodsUsingClaim(std::string_view name_space, std::string_view claim) const {
  const auto it = claim_uses_.find(api::KeyOf(name_space, claim));
  return it == claim_uses_.end() ? 0 : it->second;
}

bool Cluster::ListChangedNodes(uint64_t since, std::vector<framework::NodeIndex>& nodes) const {
  const ChangeLog& log = table_.changes();
  if (!log.Knows(since)) return false;
  for (ChangeLog::Cursor cursor = since; cursor < log.end(); ++cursor) nodes.push_back(log.at(cursor).node);
  return true;
}

void Cluster::PlacePod(PodInfoPtr pod, size_t uid_hash, std::string_view node_name, base::Ticket assumed_by) {
  const NodeInfo* node = table_.Find(node_name);
  const Symbol node_symbol = node ? table_.name(node->index()) : Symbol(node_name);
  CHECK(pods_.insert({pod, node_symbol, assumed_by, uid_hash}).second);
  if (assumed_by != base::Ticket::kNone) ++assumed_count_;
  if (!node) {
    waiting_for_node_[std::string(node_name)].push_back(std::move(pod));
    return;
  }
  CountClaims(pod, node_symbol, +1);
  table_.AddPod(node->index(), std::move(pod));
}

void Cluster::DisplacePod(const HashedUid& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  const PlacedPod placed = *it;
  pods_.erase(it);
  if (placed.assumed_by != base::Ticket::kNone) --assumed_count_;
  const NodeInfo* node = table_.Find(placed.node_name.str());
  if (!node) {
    const auto waiting = waiting_for_node_.find(std::string(placed.node_name.str()));
    CHECK(waiting != waiting_for_node_.end());
    std::erase(waiting->second, placed.pod);
    if (waiting->second.empty()) waiting_for_node_.erase(waiting);
    return;
  }
  CountClaims(placed.pod, placed.node_name, -1);
  table_.RemovePod(node->index(), placed.pod);
}

void Cluster::CountClaims(const PodInfoPtr& pod, const Symbol& node_name, int sign) {
  bool has_volumes = false;
  for (const api::Volume& volume : pod->volumes()) {
    has_volumes = has_volumes || volume.source != nullptr;
    const auto& claim = volume.from().persistent_volume_claim;
    if (!claim) continue;
    const std::string key = api::KeyOf(pod->namespace_().str(), claim->claim_name);
    if ((claim_uses_[key] += sign) == 0) claim_uses_.erase(key);
  }
  if (has_volumes) volume_pods_.Append({node_name, pod, sign});
}

}  // namespace berth::cluster
