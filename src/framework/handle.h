// What the profile offers a plugin; lives as long as the plugin. There are two handles, by thread:
//   BindingHandle   any thread: for PreBind, Bind and PostBind, which run off the scheduling thread
//   Handle          the scheduling thread only: adds what this thread owns
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/custom_object.h"
#include "api/pod.h"
#include "api/storage.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "base/ticket.h"
#include "config/feature_gates.h"
#include "framework/cluster_view.h"
#include "framework/custom_objects.h"
#include "framework/cycle_state.h"
#include "framework/nominator.h"
#include "framework/objects.h"
#include "framework/plugin.h"
#include "framework/waiting_pods.h"

namespace berth::dra {
class Inventory;
}

namespace berth::framework {

class PreemptionExtender;

// One request about an object of any kind, as JSON (ApiWriter::Call).
struct ObjectCall {
  enum class Verb { kGet, kList, kCreate, kUpdate, kPatch, kDelete };
  Verb verb = Verb::kGet;
  api::GroupVersionResource resource;
  std::string name_space{};   // "" for cluster-scoped objects; kList: all namespaces
  std::string name{};         // unused by kList and kCreate
  std::string subresource{};  // "status"
  std::string body{};         // kCreate, kUpdate: the object; kPatch: the patch
  // kPatch: a JSON merge patch, a strategic merge patch (of built-in kinds), or a JSON patch.
  enum class PatchType { kMerge, kStrategicMerge, kJson };
  PatchType patch_type = PatchType::kMerge;
  std::string label_selector{};  // kList
};

// An event about any object, as kubectl shows it.
struct EventReport {
  api::ObjectReference regarding;
  std::optional<api::ObjectReference> related{};
  bool is_warning = false;
  std::string reason;  // in CamelCase: "LicenceGranted"
  std::string action;  // what was being done: "Binding"
  std::string note;
};

// API writes made by plugins; answered by the live client or by a simulation. There are two interfaces, by thread, as
// there are two handles.
//
// Every function is pure, so that a class between plugins and the API, such as a recording, cannot miss one: a function
// added here does not compile until each such class handles it. SimpleApiWriter has defaults for classes that need only
// a few.

// Any thread, but not the scheduling thread where a function waits for an answer: what PreBind, Bind and PostBind need.
class BindingWriter {
 public:
  virtual ~BindingWriter() = default;
  virtual Status Bind(const PodInfo& pod, const std::string& node_name) = 0;
  // VolumeBinding's PreBind: replaces the object; a conflict is an Error status.
  virtual Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) = 0;
  virtual Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) = 0;
  // Blocks until `check`, run on the scheduling thread whenever storage objects have changed, gives its answer, or
  // `timeout` passes (an Error status). Without a control plane behind the writer no answer would ever come: Success at
  // once.
  virtual Status Await(const std::function<std::optional<Status>()>& check, base::Duration timeout) = 0;

  // For DynamicResources' PreBind. Each returns the claim as the API server stored it; kConflict means that the claim
  // has changed since `claim` was read.
  using ClaimResult = Result<std::shared_ptr<const api::ResourceClaim>>;
  virtual ClaimResult GetResourceClaim(const std::string& name_space, const std::string& name) = 0;
  // The server completes the name (generateName).
  virtual ClaimResult CreateResourceClaim(const api::ResourceClaim& claim) = 0;
  // Writes the finalizers.
  virtual ClaimResult UpdateResourceClaim(const api::ResourceClaim& claim) = 0;
  // Writes allocation and reservations.
  virtual ClaimResult UpdateResourceClaimStatus(const api::ResourceClaim& claim) = 0;
  virtual Result<void> SetExtendedResourceClaimStatus(const PodInfo& pod,
                                                      const api::PodExtendedResourceClaimStatus& status) = 0;
  virtual Result<void> SetNodeAllocatableResourceClaimStatuses(
      const PodInfo& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) = 0;
  // Reads and writes of any object, for plugins. Blocks until the answer arrives, so calling it on the scheduling
  // thread is an error. Returns the body of the response. Writes are fenced by the lease, like all others; kNotFound,
  // kConflict and kAlreadyExists are the server's 404 and 409. A simulation answers for the custom resources that
  // plugins watch, and does not support patches.
  virtual Result<std::string> Call(const ObjectCall& call) = 0;
  // `reporter` is the name of the profile.
  virtual void Record(const std::string& reporter, const EventReport& event) = 0;

  // Records a normal event about the pod.
  virtual void Announce(const PodInfo& pod, const std::string& reason, const std::string& action,
                        const std::string& note) = 0;

  // PreBind has waited for a claim's devices to become ready: "success", "failure", "timeout" or "error".
  virtual void NoteDeviceWait(const PodInfo& pod, const api::ResourceClaim& claim, std::string_view outcome,
                              base::Duration took) = 0;
};

// Adds what only the scheduling thread may call. None of it waits for an answer.
class ApiWriter : public BindingWriter {
 public:
  // Deletes a pod to make room for `preemptor`.
  virtual Status Evict(const PodInfo& victim, const PodInfo& preemptor) = 0;
  // The same for all victims of one preemption.
  virtual void EvictAll(std::span<const PodInfoPtr> victims, const PodInfo& preemptor) = 0;
  // Whether such deletions are still under way, so that it is too early to retry the preemptor. Always false where the
  // deletion is complete when Evict returns.
  virtual bool IsEvictingFor(const PodInfo& preemptor) const = 0;
  // status.nominatedNodeName; "" clears it.
  virtual Status SetNominatedNode(const PodInfo& pod, const std::string& node_name) = 0;

  // For DynamicResources' PostFilter and Unreserve. Their outcome shows when the API server reports the claim. If a
  // claim could not be deallocated or deleted, there is nothing to report: `pod`, for which that was done, is tried
  // again after its backoff.
  // Removes the pod from the claim's reservations.
  virtual Status UnreserveResourceClaim(const api::ResourceClaim& claim, const PodInfo& pod) = 0;
  // Releases the claim's devices: clears allocation, reservations and device status.
  virtual Status DeallocateResourceClaim(const api::ResourceClaim& claim, const PodInfo& pod) = 0;
  // Removes the finalizer and deletes the claim.
  virtual Status DeleteResourceClaim(const api::ResourceClaim& claim, const PodInfo& pod) = 0;
  // Clears what SetNodeAllocatableResourceClaimStatuses wrote.
  virtual Status ClearNodeAllocatableResourceClaimStatuses(const PodInfo& pod) = 0;
};

// An ApiWriter without an API server: claims and objects cannot be read or written; everything else succeeds at once.
class SimpleApiWriter : public ApiWriter {
 public:
  void EvictAll(std::span<const PodInfoPtr> victims, const PodInfo& preemptor) override {
    for (const PodInfoPtr& victim : victims) (void)Evict(*victim, preemptor);
  }
  bool IsEvictingFor(const PodInfo& /*preemptor*/) const override { return false; }
  Status Await(const std::function<std::optional<Status>()>& /*check*/, base::Duration /*timeout*/) override {
    return Status::Success();
  }
  ClaimResult GetResourceClaim(const std::string& /*name_space*/, const std::string& /*name*/) override {
    return Error::Unsupported("resource claims cannot be read here");
  }
  ClaimResult CreateResourceClaim(const api::ResourceClaim& /*claim*/) override { return NoClaims(); }
  ClaimResult UpdateResourceClaim(const api::ResourceClaim& /*claim*/) override { return NoClaims(); }
  ClaimResult UpdateResourceClaimStatus(const api::ResourceClaim& /*claim*/) override { return NoClaims(); }
  Result<void> SetExtendedResourceClaimStatus(const PodInfo& /*pod*/,
                                              const api::PodExtendedResourceClaimStatus& /*status*/) override {
    return Error::Unsupported("the status of pods cannot be written here");
  }
  Result<void> SetNodeAllocatableResourceClaimStatuses(
      const PodInfo& /*pod*/, const std::vector<api::NodeAllocatableResourceClaimStatus>& /*statuses*/) override {
    return Error::Unsupported("the status of pods cannot be written here");
  }
  Result<std::string> Call(const ObjectCall& /*call*/) override {
    return Error::Unsupported("objects cannot be read or written here");
  }
  void Record(const std::string& /*reporter*/, const EventReport& /*event*/) override {}
  void Announce(const PodInfo& /*pod*/, const std::string& /*reason*/, const std::string& /*action*/,
                const std::string& /*note*/) override {}
  void NoteDeviceWait(const PodInfo& /*pod*/, const api::ResourceClaim& /*claim*/, std::string_view /*outcome*/,
                      base::Duration /*took*/) override {}
  Status UnreserveResourceClaim(const api::ResourceClaim& /*claim*/, const PodInfo& /*pod*/) override {
    return Status::Success();
  }
  Status DeallocateResourceClaim(const api::ResourceClaim& /*claim*/, const PodInfo& /*pod*/) override {
    return Status::Success();
  }
  Status DeleteResourceClaim(const api::ResourceClaim& /*claim*/, const PodInfo& /*pod*/) override {
    return Status::Success();
  }
  Status ClearNodeAllocatableResourceClaimStatuses(const PodInfo& /*pod*/) override { return Status::Success(); }

 private:
  static Error NoClaims() { return Error::Unsupported("resource claims cannot be written here"); }
};

// Thread-safe.
class BindingHandle {
 public:
  virtual ~BindingHandle() = default;

  virtual const config::FeatureGates& gates() const = 0;
  virtual const base::Clock& clock() const = 0;
  virtual BindingWriter& api() = 0;

  // Runs `work` on the scheduling thread, between cycles, where it may use the plugin's Handle. In the order posted.
  // Work that has not run when the scheduler ends is dropped.
  virtual void Post(std::function<void()> work) = 0;
  // Answers for `plugin` about a pod that waits in Permit; no-op if the pod does not wait (any more). `attempt` is
  // CycleState::attempt as Permit saw it: an answer that comes late does not decide a later attempt of the same pod.
  virtual void Allow(const std::string& uid, const std::string& plugin, base::Ticket attempt) = 0;
  virtual void Reject(const std::string& uid, const std::string& plugin, const std::string& message,
                      base::Ticket attempt) = 0;
  // The same for whichever attempt waits when the answer is handled.
  void Allow(const std::string& uid, const std::string& plugin) { Allow(uid, plugin, base::Ticket::kNone); }
  void Reject(const std::string& uid, const std::string& plugin, const std::string& message) {
    Reject(uid, plugin, message, base::Ticket::kNone);
  }
  // Has pods that are unschedulable or backing off tried again at once: siblings of the current pod, for instance.
  // Takes effect between cycles; active pods are left alone. Upstream's PodsToActivate.
  virtual void Activate(const std::vector<std::string>& uids) = 0;
  // Records an event in the profile's name; returns at once. Equal events are merged into one with a count.
  virtual void RecordEvent(const EventReport& /*event*/) {}
};

// The pod as the object of an event.
api::ObjectReference ReferenceTo(const PodInfo& pod);

class Handle : public BindingHandle {
 public:
  ApiWriter& api() override = 0;
  virtual const ClusterView& cluster() const = 0;
  virtual const Objects& objects() const = 0;
  virtual const Nominator& nominator() const = 0;
  // To be called when the plugin is made: from then on the objects of this resource are listed and watched, for
  // custom_objects(), and their events can be registered for with the EventResource returned. No pod is scheduled
  // before they have been listed; a resource that the server does not have counts as one without objects. With
  // `keep_json` objects are kept whole, otherwise only their metadata.
  virtual Result<EventResource> WatchResource(const api::GroupVersionResource& resource, bool /*keep_json*/) {
    return EventResourceOf(resource);
  }
  // Objects of the resources that plugins watch. Answers based on them depend on anything (DependsOn::kAnything).
  virtual const CustomObjects& custom_objects() const {
    static const CustomObjects kNone;
    return kNone;
  }
  // The time that decisions use: that of the current input, constant while it is handled, so that replaying the same
  // inputs gives the same decisions. clock() is for measuring and for time limits.
  virtual base::Time now() const { return clock().Now(); }
  // Devices and claims as dynamic resource allocation sees them; shared by all profiles.
  virtual dra::Inventory& inventory() const = 0;
  virtual base::Random& random() = 0;
  // Pods that a Permit plugin asked to hold, for the plugin to allow or reject later.
  virtual WaitingPods& waiting_pods() = 0;
  // In the order in which they are asked.
  virtual std::span<PreemptionExtender* const> preemption_extenders() const { return {}; }

  template <class T>
  StateKey<T> NewStateKey() {
    return StateKey<T>(NewStateSlot());
  }

  // For what-if checks (preemption). Runs the profile's filters in order, with nominated pods counted in two passes;
  // returns the first rejection, attributed to its plugin.
  virtual Status RunFilterWithNominatedPods(CycleState& state, const PodInfo& pod, const NodeInfo& node) const = 0;
  virtual Status RunAddPod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) const = 0;
  virtual Status RunRemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                              const NodeInfo& node) const = 0;
  // True: every filter that takes part in this cycle judges a signed pod by the NodeInfo it is given and by nothing
  // else. A verdict then holds until the NodeInfo changes, and AddPod and RemovePod are not needed.
  virtual bool FiltersJudgeNodesAlone(const CycleState& /*state*/) const { return false; }
  // Filters that read the Node object but not its pods, as bits in CycleState::skip_filter: once such a filter has
  // accepted a node, it accepts it whichever pods come and go there.
  virtual uint64_t filters_of_nodes_alone() const { return 0; }
  // Equal signatures: Filter and Score read the same from both pods. Unset when some plugin cannot sign the pod.
  virtual std::optional<std::string> Sign(const PodInfo& /*pod*/) const { return std::nullopt; }

 protected:
  virtual uint32_t NewStateSlot() = 0;
};

}  // namespace berth::framework
