#include "plugins/volume_binding/volume_binding.h"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "framework/resource.h"
#include "plugins/args.h"
#include "plugins/volume/claim_explainer.h"
#include "plugins/volume/claims.h"

namespace berth::plugins {
namespace {

using framework::CycleState;
using framework::PodInfo;
using framework::Status;

// Upstream's message when the plugin's PreFilter is disabled but a later point is not.
constexpr char kNoBindingState[] = "not found";

std::vector<StorageUse> UseByClass(const NodeVolumes& volumes) {
  std::map<std::string_view, StorageUse> by_class;
  for (const StaticBinding& binding : volumes.bindings) {
    StorageUse& use = by_class[binding.volume->spec.storage_class_name];
    use.requested = framework::WrappingAdd(use.requested, RequestedStorage(*binding.claim).Value());
    use.capacity = framework::WrappingAdd(use.capacity, StorageCapacity(*binding.volume).Value());
  }
  if (volumes.bindings.empty()) {
    for (const DynamicProvision& provision : volumes.provisions) {
      if (!provision.capacity) continue;
      StorageUse& use = by_class[StorageClassOf(*provision.claim)];
      // All volumes of a class are provisioned from the same pool: its capacity counts once.
      use.requested = framework::WrappingAdd(use.requested, RequestedStorage(*provision.claim).Value());
      use.capacity = *provision.capacity;
    }
  }
  std::vector<StorageUse> uses;
  for (const auto& [name, use] : by_class) uses.push_back(use);
  return uses;
}

}  // namespace

VolumeBinding::VolumeBinding(const config::VolumeBindingArgs& args, framework::Handle& handle)
    : handle_(handle),
      state_key_(handle.NewStateKey<State>()),
      bind_timeout_(std::chrono::seconds(args.bind_timeout_seconds)),
      capacity_score_(handle.gates().Enabled("StorageCapacityScoring")
                          ? std::optional<CapacityScore>(CapacityScore(args.shape))
                          : std::nullopt),
      objects_(handle.objects()) {}

Result<std::unique_ptr<framework::Plugin>> VolumeBinding::Create(const config::PluginArgs& args,
                                                                 framework::Handle& handle) {
  const Result<config::VolumeBindingArgs> read = ReadArgs<config::VolumeBindingArgs>(args, kName);
  if (!read) return read.error();
  return std::unique_ptr<framework::Plugin>(new VolumeBinding(*read, handle));
}

Status VolumeBinding::CheckClaims(const api::Pod& pod, bool& has_claims) const {
  const auto reject = [](std::string why) { return Status::UnschedulableAndUnresolvable(std::move(why)); };
  for (const api::Volume& volume : pod.spec.volumes) {
    const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
    if (!reference) continue;
    has_claims = true;
    const auto* claim = handle_.objects().persistent_volume_claims.Find(pod.metadata.namespace_.str(), reference->name);
    if (claim == nullptr) {
      if (!reference->ephemeral) return reject(ClaimNotFound(reference->name));
      // Normal right after the pod was created.
      return reject(fmt::format("waiting for ephemeral volume controller to create the persistentvolumeclaim \"{}\"",
                                reference->name));
    }
    if (claim->status.phase == "Lost") {
      return reject(fmt::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
                                reference->name, claim->spec.volume_name));
    }
    if (claim->metadata.deletion_timestamp) {
      return reject(fmt::format("persistentvolumeclaim \"{}\" is being deleted", reference->name));
    }
    if (reference->ephemeral) {
      if (std::optional<std::string> problem = OwnershipProblem(pod, *claim)) return reject(*std::move(problem));
    }
  }
  return Status::Success();
}

framework::PreFilterResult VolumeBinding::PreFilter(CycleState& state, const PodInfo& pod) const {
  bool has_claims = false;
  if (Status status = CheckClaims(pod.pod(), has_claims); !status.ok()) return status;
  auto found = std::make_unique<State>();
  // Answers outlive the cycle when the state does.
  if (const State* before = state.Find(state_key_)) found->kept = before->kept;
  if (has_claims) {
    if (found->kept) free_volumes_.CatchUp(handle_.objects(), assumed_.volumes);
    VolumePlan::Outcome outcome =
        VolumePlan::Make(pod.pod(), handle_.objects(), assumed_, found->kept ? &free_volumes_ : nullptr);
    if (!outcome.status.ok()) return outcome.status;
    found->plan = std::move(outcome.plan);
  }
  // Later points read the state even for pods without claims.
  state.Put(state_key_, std::move(found));
  return has_claims ? Status::Success() : Status::Skip();
}

Status VolumeBinding::Filter(const CycleState& state, const PodInfo&, const framework::NodeInfo& node) const {
  const State* found = state.Find(state_key_);
  if (found == nullptr) return Status::Error(kNoBindingState);
  return found->plan ? found->plan->On(node, handle_.objects()).status : Status::Success();
}

Status VolumeBinding::PreScore(CycleState& state, const PodInfo&, std::span<const framework::NodeInfo* const>) const {
  if (!capacity_score_) return Status::Skip();
  return state.Find(state_key_) ? Status::Success() : Status::Error(kNoBindingState);
}

framework::ScoreResult VolumeBinding::Score(const CycleState& state, const PodInfo&,
                                            const framework::NodeInfo& node) const {
  if (!capacity_score_) return 0;
  const State* found = state.Find(state_key_);
  if (found == nullptr) return Status::Error(kNoBindingState);
  if (!found->plan) return 0;
  return capacity_score_->Of(UseByClass(found->plan->On(node, handle_.objects())));
}

Status VolumeBinding::Reserve(CycleState& state, const PodInfo&, const std::string& node_name) {
  State* found = state.FindMutable(state_key_);
  if (found == nullptr) return Status::Error(kNoBindingState);
  found->all_bound = !found->plan || found->plan->all_bound();
  if (found->all_bound) return Status::Success();
  const framework::NodeInfo* node = handle_.cluster().Find(node_name);
  if (node == nullptr) return Status::Error(fmt::format("node \"{}\" not found", node_name));
  const NodeVolumes volumes = found->plan->On(*node, handle_.objects());
  if (!volumes.status.ok()) return volumes.status;
  found->reservation = VolumeReservation::Assume(volumes, node_name, handle_.objects(), assumed_);
  return Status::Success();
}

void VolumeBinding::Unreserve(CycleState& state, const PodInfo&, const std::string&) {
  const State* found = state.Find(state_key_);
  if (found != nullptr && found->reservation) found->reservation->Release(assumed_);
}

framework::PreBindPreFlightResult VolumeBinding::PreBindPreFlight(const CycleState& state, const PodInfo&,
                                                                  const std::string& node_name) {
  const State* found = state.Find(state_key_);
  if (found == nullptr) return {Status::Error(kNoBindingState)};
  if (found->all_bound) return {Status::Skip()};
  if (!found->reservation) return {Status::Error(fmt::format("no pod volume found for node \"{}\"", node_name))};
  return {Status::Success()};
}

Status VolumeBinding::PreBind(framework::BindingHandle& handle, CycleState& state, const PodInfo&,
                              const std::string& node_name) {
  State* found = state.FindMutable(state_key_);
  if (found == nullptr) return Status::Error(kNoBindingState);
  if (found->all_bound) return Status::Success();
  if (!found->reservation) return Status::Error(fmt::format("no pod volume found for node \"{}\"", node_name));
  if (Status status = found->reservation->Write(handle.api()); !status.ok()) return status;
  const auto check = [this, node_name, reservation = *found->reservation,
                      pod = state.in_pre_bind]() -> std::optional<Status> {
    if (pod) {
      if (std::optional<Status> cancelled = pod->Cancelled()) return cancelled;
    }
    return reservation.Check(handle_.objects(), handle_.cluster().Find(node_name));
  };
  return handle.api().Await(check, bind_timeout_);
}

std::unique_ptr<framework::RejectionExplainer> VolumeBinding::ExplainRejections(const framework::PodInfo& pod) const {
  return std::make_unique<ClaimExplainer>(handle_, pod);
}

}  // namespace berth::plugins
