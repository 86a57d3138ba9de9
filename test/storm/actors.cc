#include "storm/actors.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "api/resource_claim.h"
#include "testing/builders.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kZones[] = {"a", "b", "c"};
constexpr std::string_view kWaysToHold[] = {"in-vain", kHeldAllowed, kHeldAllowed, kHeldRejected};
constexpr uint64_t kCrowd = 30;
constexpr base::Duration kLongestPause = 1s;
constexpr base::Duration kSlowestKubelet = 2s;
constexpr base::Duration kSlowestEnd = 6s;
constexpr base::Duration kSlowestCollector = 15s;

bool IsPending(const api::Pod& pod) { return pod.spec.node_name.empty() && !api::IsTerminated(pod); }
bool IsRunning(const api::Pod& pod) {
  return !pod.spec.node_name.empty() && !api::IsTerminated(pod) && !pod.metadata.deletion_timestamp;
}

// What follows `before` in a path.
std::string NameIn(const std::string& path, std::string_view before) {
  const size_t found = path.find(before);
  if (found == std::string::npos) return {};
  const size_t from = found + before.size();
  return path.substr(from, path.find('/', from) - from);
}

}  // namespace

Actors::Actors(Timeline& timeline, Store& store, ApiWrites& writes, Claims& claims, Volumes& volumes, Trace& trace,
               uint64_t seed)
    : timeline_(timeline),
      store_(store),
      writes_(writes),
      claims_(claims),
      volumes_(volumes),
      trace_(trace),
      random_(seed) {
  store_.Observe([this](const Change& change) { React(change); });
  writes_.Observe([this](const Write& write) {
    if (write.write_class == WriteClass::kBind && write.code == kRefusedByAdmission) ChangeWhileRefused(write.key);
  });
}

base::Duration Actors::Soon(base::Duration longest) {
  return base::Duration(1 + random_.Below(static_cast<uint64_t>(longest.count())));
}

template <class Wanted>
const api::Pod* Actors::PickPod(base::Random& random, Wanted wanted) const {
  std::vector<const api::Pod*> found;
  for (const auto& [key, object] : store_.objects(api::Kind::kPod)) {
    const auto* pod = object.template As<api::Pod>();
    if (wanted(*pod)) found.push_back(pod);
  }
  return found.empty() ? nullptr : found[random.Below(found.size())];
}

// The one that was written last: most likely a scheduler is working on it.
const api::Pod* Actors::PickNewestPending() const {
  const std::vector<Change>& history = store_.history(api::Kind::kPod);
  for (auto change = history.rbegin(); change != history.rend(); ++change) {
    const api::Pod* pod = store_.Find<api::Pod>(api::KeyOf(change->object.metadata()));
    if (pod != nullptr && IsPending(*pod)) return pod;
  }
  return nullptr;
}

// Any pod, one that a scheduler is working on, or one that waits in Permit again and again: what happens to it there is
// not reported by any later write.
const api::Pod* Actors::PickPodToRelabel(base::Random& random) const {
  const auto is_held = [](const api::Pod& pod) {
    return IsPending(pod) && pod.metadata.labels.Contains(Symbol(kHeld));
  };
  const uint64_t which = random.Below(3);
  if (which == 0) return PickNewestPending();
  if (which == 1) {
    if (const api::Pod* pod = PickPod(random, is_held)) return pod;
  }
  return PickPod(random, [](const api::Pod& pod) { return !pod.metadata.deletion_timestamp; });
}

const api::Node* Actors::PickNode(base::Random& random) const {
  const Store::Objects& nodes = store_.objects(api::Kind::kNode);
  if (nodes.empty()) return nullptr;
  return std::next(nodes.begin(), static_cast<std::ptrdiff_t>(random.Below(nodes.size())))->second.As<api::Node>();
}

// Edits only the pod with this UID.
template <class Edit>
void Actors::EditPod(const std::string& key, const std::string& uid, Edit edit) {
  const api::Pod* found = store_.Find<api::Pod>(key);
  if (found == nullptr || found->metadata.uid != uid) return;
  api::Pod pod = *found;
  edit(pod);
  store_.Put(std::move(pod));
}

template <class Edit>
void Actors::EditNode(const std::string& name, Edit edit) {
  const api::Node* found = store_.Find<api::Node>(name);
  if (found == nullptr) return;
  api::Node node = *found;
  edit(node);
  store_.Put(std::move(node));
}

void Actors::MakeNodes(int count) {
  for (int i = 0; i < count; ++i) AddNode(fmt::format("node-{}", ++last_node_), random_);
}

void Actors::AddNode(const std::string& name, base::Random& random) {
  api::Node node = berth::testing::MakeNode(name)
                       .Label(kZone, kZones[random.Below(3)])
                       .Label("kubernetes.io/hostname", name)
                       .Capacity("cpu", std::to_string(1 + random.Below(3)))
                       .Capacity("memory", "8Gi")
                       .Capacity("pods", std::to_string(2 + random.Below(6)))
                       .Obj();
  node.metadata.uid.clear();
  store_.Put(std::move(node));
}

void Actors::Do(const Action& action) {
  trace_.Add("script", "{}", NameOf(action.kind));
  action.kind < ActionKind::kAddNode ? DoToPods(action) : DoToNodes(action);
}

void Actors::DoToPods(const Action& action) {
  const auto any = [](const api::Pod& pod) { return !pod.metadata.deletion_timestamp; };
  const auto key = [](const api::Pod& pod) { return api::KeyOf(pod.metadata); };
  base::Random random(action.seed);
  switch (action.kind) {
    case ActionKind::kUngatePod:
      if (const api::Pod* pod = PickPod(random, [](const api::Pod& p) { return !p.spec.scheduling_gates.empty(); })) {
        EditPod(key(*pod), pod->metadata.uid, [](api::Pod& p) {
          p.spec.scheduling_gates.clear();
          std::erase_if(p.status.conditions, [](const api::PodCondition& c) { return c.reason == "SchedulingGated"; });
        });
      }
      return;
    case ActionKind::kFinishPod:
    case ActionKind::kFailPod:
      if (const api::Pod* pod = PickPod(random, IsRunning)) {
        const bool failed = action.kind == ActionKind::kFailPod;
        EditPod(key(*pod), pod->metadata.uid, [&](api::Pod& p) { p.status.phase = failed ? "Failed" : "Succeeded"; });
      }
      return;
    case ActionKind::kFailAndReturn:
      if (const api::Pod* pod = PickNewestPending()) FailAndReturn(*pod, 3s);
      return;
    case ActionKind::kDeletePod:
      if (const api::Pod* pod = PickPod(random, any)) writes_.DeletePod(key(*pod), 30);
      return;
    case ActionKind::kRecreatePod:
      if (const api::Pod* pod = PickPod(random, any)) Recreate(*pod);
      return;
    case ActionKind::kRelabelPod:
      if (const api::Pod* pod = PickPodToRelabel(random)) {
        EditPod(key(*pod), pod->metadata.uid,
                [&](api::Pod& p) { p.metadata.labels.Set(Symbol("turn"), Symbol(std::to_string(random.Below(10)))); });
      }
      return;
    case ActionKind::kChangeClass:
      return ChangeClass(fmt::format("class-{}", random.Below(3)));
    case ActionKind::kAddCrowd:
      for (uint64_t i = 0; i < kCrowd; ++i) AddPod(action.kind, random);
      return;
    default:
      return AddPod(action.kind, random);
  }
}

void Actors::AddPod(ActionKind kind, base::Random& random) {
  berth::testing::PodBuilder pod = berth::testing::MakePod(fmt::format("pod-{}", ++last_pod_));
  pod.Label("app", random.Below(2) == 0 ? "even" : "odd").SchedulerName("default-scheduler");
  uint64_t milli = 100 + 100 * random.Below(10);
  switch (kind) {
    case ActionKind::kAddLargePod:
      milli = 3000 + 1000 * random.Below(4);
      break;
    case ActionKind::kAddCrowd:
      milli = 64'000;
      break;
    case ActionKind::kAddUrgentPod:
      milli = 500 + 500 * random.Below(4);
      pod.Priority(static_cast<int32_t>(100 * (1 + random.Below(3))));
      break;
    case ActionKind::kAddGatedPod:
      pod.Gate("example.com/wait").Condition("PodScheduled", "False", "SchedulingGated");
      break;
    case ActionKind::kAddPinnedPod:
      pod.NodeSelector(kZone, kZones[random.Below(3)]);
      break;
    case ActionKind::kAddHeldPod:
      milli = 500 + 500 * random.Below(4);
      pod.Label(kHeld, answers_held_ ? kWaysToHold[random.Below(std::size(kWaysToHold))] : kWaysToHold[0]);
      break;
    case ActionKind::kAddRefusedPod:
      milli = 500 + 500 * random.Below(4);
      pod.Label(kRefused, "true");
      break;
    case ActionKind::kAddClaimPod:
      if (claims_.used()) pod.ResourceClaim("device", claims_.ClaimFor(fmt::format("pod-{}", last_pod_), random));
      break;
    case ActionKind::kAddDirectPod:
      milli = 100;
      if (const api::Node* node = PickNode(random)) pod.Node(node->metadata.name);
      break;
    default:
      break;
  }
  const bool is_held_up = kind == ActionKind::kAddHeldPod || kind == ActionKind::kAddRefusedPod;
  if (volumes_.used() && (kind == ActionKind::kAddVolumePod || (is_held_up && random.Below(2) == 0))) {
    pod.Pvc(volumes_.ClaimFor(fmt::format("pod-{}", last_pod_), random));
  }
  pod.Request("cpu", fmt::format("{}m", milli)).Request("memory", fmt::format("{}Mi", 100 + 50 * random.Below(10)));
  Create(pod.Obj());
}

void Actors::ChangeClass(const std::string& name) {
  if (store_.Find<api::StorageClass>(name) != nullptr) {
    store_.Delete<api::StorageClass>(name);
    return;
  }
  api::StorageClass made = berth::testing::MakeStorageClass(name, "WaitForFirstConsumer", "csi.example.com");
  made.metadata.uid.clear();
  store_.Put(std::move(made));
}

void Actors::Create(api::Pod pod) {
  pod.metadata.uid.clear();
  pod.metadata.resource_version.clear();
  pod.metadata.creation_timestamp.reset();
  pod.metadata.deletion_timestamp.reset();
  pod.metadata.deletion_grace_period_seconds.reset();
  pod.spec.termination_grace_period_seconds = 30;
  if (!pod.spec.priority) pod.spec.priority = 0;
  pod.status.phase = "Pending";
  const bool is_refused = pod.metadata.labels.Contains(Symbol(kRefused));
  const std::string key = api::KeyOf(pod.metadata);
  store_.Put(std::move(pod));
  if (is_refused) GiveUpLater(key);
}

// The owner of a refused pod changes it, and eventually gives up. What happens to such a pod while it is being bound is
// not repeated by any later write: its condition stays as it is.
void Actors::GiveUpLater(const std::string& key) {
  const api::Pod* pod = store_.Find<api::Pod>(key);
  const std::string uid = pod->metadata.uid;
  const base::Duration end = 2s + Soon(kSlowestEnd);
  timeline_.After(Soon(end - 1500ms), [this, key, uid] {
    EditPod(key, uid, [](api::Pod& p) { p.metadata.labels.Set(Symbol("turn"), Symbol("changed")); });
  });
  timeline_.After(end, [this, key] {
    if (on_give_up_) on_give_up_(key);
    store_.Delete<api::Pod>(key);
  });
}

// Its scheduler has not heard of the refusal yet.
void Actors::ChangeWhileRefused(const std::string& key) {
  const api::Pod* pod = store_.Find<api::Pod>(key);
  if (pod == nullptr || !pod->metadata.labels.Contains(Symbol(kRefused)) || random_.Below(2) == 0) return;
  EditPod(key, pod->metadata.uid,
          [&](api::Pod& p) { p.metadata.labels.Set(Symbol("turn"), Symbol(std::to_string(random_.Below(1000)))); });
}

void Actors::FailAndReturn(const api::Pod& pod, base::Duration longest) {
  const std::string key = api::KeyOf(pod.metadata), uid = pod.metadata.uid;
  EditPod(key, uid, [](api::Pod& p) { p.status.phase = "Failed"; });
  timeline_.After(Soon(longest), [this, key, uid] {
    const api::Pod* now = store_.Find<api::Pod>(key);
    // A pod that was bound meanwhile stays Failed: no scheduler can have counted its resources.
    if (now == nullptr || !now->spec.node_name.empty()) return;
    EditPod(key, uid, [](api::Pod& p) { p.status.phase = "Pending"; });
  });
}

// Like a second scheduler that was configured by mistake: the room that was meant for the pod elsewhere is free again.
void Actors::BindByHand(const api::Pod& pod) {
  const api::Node* node = PickNode(random_);
  if (node == nullptr || !pod.spec.scheduling_gates.empty() || !pod.spec.resource_claims.empty()) return;
  EditPod(api::KeyOf(pod.metadata), pod.metadata.uid, [&](api::Pod& p) {
    p.spec.node_name = node->metadata.name;
    std::erase_if(p.status.conditions, [](const api::PodCondition& c) { return c.type == "PodScheduled"; });
    p.status.conditions.push_back({.type = "PodScheduled", .status = "True"});
  });
}

bool Actors::DoWhileBound(Fault fault, const http::Request& request) {
  if (fault == Fault::kPreemptionChanges) return DisturbPreemption(NameIn(request.path, "/pods/"));
  if (fault == Fault::kSlowVolume) return LoseOwnerOf(request);
  if (fault == Fault::kRecreated) return RecreateSoon(NameIn(request.path, "/pods/"));
  const bool is_claim = request.path.find("/resourceclaims/") != std::string::npos;
  const std::string name = NameIn(request.path, is_claim ? "/resourceclaims/" : "/pods/");
  const api::Pod* pod = PickPod(random_, [&](const api::Pod& p) {
    if (!IsPending(p) || p.metadata.deletion_timestamp) return false;
    return is_claim ? NamesClaim(p, name) : p.metadata.name == name;
  });
  if (pod == nullptr || pod->spec.resource_claims.empty() != (fault == Fault::kBoundElsewhere)) return false;
  trace_.Add("script", "{}: {}", NameOf(fault), pod->metadata.name);
  switch (fault) {
    case Fault::kBoundElsewhere:
      BindByHand(*pod);
      return true;
    case Fault::kReturnsWhileBound:
      // At once, or after its devices have been taken back.
      FailAndReturn(*pod, random_.Below(4) == 0 ? 100ms : 5s);
      if (!is_claim && random_.Below(4) == 0) CordonNodeOf(*pod, 40s);
      return true;
    case Fault::kFailsWithClaim:
      // When it is tried again, its devices may be out of reach, and a moment later they are not.
      if (random_.Below(2) == 0) CordonNodeOf(*pod, 6s);
      return true;
    default: {
      // The lease of who has crashed must expire before anybody tries the pod again.
      const uint64_t times = 2 + random_.Below(12);
      const base::Duration until_next_leader = random_.Below(3) == 0 ? base::Duration::zero() : 14s;
      timeline_.After(until_next_leader, [this, times] { CordonAll(times); });
      return true;
    }
  }
}

// The pod for which a volume, or its claim, is being written. A write that is only slow is a fault as well.
bool Actors::LoseOwnerOf(const http::Request& request) {
  const api::Pod* owner = PickPod(random_, [&](const api::Pod& p) {
    return IsPending(p) && std::any_of(p.spec.volumes.begin(), p.spec.volumes.end(), [&](const api::Volume& volume) {
             const auto& claim = volume.source->persistent_volume_claim;
             return claim && (request.path + request.body).find(claim->claim_name) != std::string::npos;
           });
  });
  if (owner == nullptr) return true;
  const std::string key = api::KeyOf(owner->metadata);
  switch (random_.Below(3)) {
    case 0:
      FailAndReturn(*owner, 3s);
      break;
    case 1:
      timeline_.After(Soon(kLongestPause), [this, key] { writes_.DeletePod(key, 0); });
      break;
    default:
      break;
  }
  return true;
}

bool Actors::RecreateSoon(const std::string& name) {
  const api::Pod* pod = PickPod(random_, [&](const api::Pod& p) { return p.metadata.name == name && IsPending(p); });
  if (pod == nullptr) return false;
  timeline_.After(Soon(kLongestPause), [this, key = api::KeyOf(pod->metadata), uid = pod->metadata.uid] {
    const api::Pod* now = store_.Find<api::Pod>(key);
    if (now != nullptr && now->metadata.uid == uid) Recreate(*now);
  });
  return true;
}

// The victims may end by themselves before anybody deletes them, or the preemptor may fail and return.
bool Actors::DisturbPreemption(const std::string& name) {
  if (random_.Below(2) == 0) {
    const api::Pod* preemptor =
        PickPod(random_, [](const api::Pod& p) { return IsPending(p) && api::PodPriority(p) > 0; });
    if (preemptor != nullptr) FailAndReturn(*preemptor, kLongestPause);
    return preemptor != nullptr;
  }
  const api::Pod* victim = PickPod(random_, [&](const api::Pod& p) { return p.metadata.name == name; });
  if (victim == nullptr || !IsRunning(*victim)) return false;
  timeline_.After(Soon(kLongestPause), [this, node = victim->spec.node_name, priority = api::PodPriority(*victim)] {
    std::vector<std::pair<std::string, std::string>> ending;
    for (const auto& [key, object] : store_.objects(api::Kind::kPod)) {
      const api::Pod& pod = *object.As<api::Pod>();
      const bool is_like_it = pod.spec.node_name == node && api::PodPriority(pod) <= priority;
      if (is_like_it && IsRunning(pod)) ending.emplace_back(key, pod.metadata.uid);
    }
    for (const auto& [key, uid] : ending) EditPod(key, uid, [](api::Pod& p) { p.status.phase = "Succeeded"; });
  });
  return true;
}

// Where its claim has devices: it needs others, on another node.
void Actors::CordonNodeOf(const api::Pod& pod, base::Duration longest) {
  for (const auto& [key, object] : store_.objects(api::Kind::kResourceClaim)) {
    const api::ResourceClaim& claim = *object.As<api::ResourceClaim>();
    if (!NamesClaim(pod, claim.metadata.name) || !claim.status.allocation) continue;
    const auto& results = claim.status.allocation->devices.results;
    if (results.empty()) continue;
    const std::string node = results.front().pool;
    EditNode(node, [](api::Node& n) { n.spec.unschedulable = true; });
    timeline_.After(Soon(longest),
                    [this, node] { EditNode(node, [](api::Node& n) { n.spec.unschedulable = false; }); });
    return;
  }
}

void Actors::AskForDevices() {
  for (int i = 0; i < 3; ++i) {
    timeline_.After(Soon(2s), [this] { AddPod(ActionKind::kAddClaimPod, random_); });
  }
}

void Actors::CompeteForDevices() {
  if (!claims_.used() || random_.Below(2) == 0) return;
  timeline_.After(Soon(2s), [this] {
    const std::string claim = FindHalfWritten(store_);
    if (claim.empty()) return;
    Create(berth::testing::MakePod(fmt::format("pod-{}", ++last_pod_))
               .SchedulerName("default-scheduler")
               .ResourceClaim("device", claim)
               .Request("cpu", "100m")
               .Obj());
    AddPod(ActionKind::kAddClaimPod, random_);
  });
}

void Actors::KeepBusy(base::Duration from, base::Duration to) {
  for (base::Duration when = from; when < to; when += Soon(kLongestPause)) {
    timeline_.After(when, [this] { AddPod(ActionKind::kAddPod, random_); });
  }
}

void Actors::Recreate(const api::Pod& pod) {
  api::Pod next = pod;
  next.spec.node_name.clear();
  next.status = {};
  if (!next.spec.scheduling_gates.empty()) {
    next.status.conditions = {{.type = "PodScheduled", .status = "False", .reason = "SchedulingGated"}};
  }
  store_.Delete<api::Pod>(api::KeyOf(pod.metadata));
  Create(std::move(next));
}

void Actors::DoToNodes(const Action& action) {
  base::Random random(action.seed);
  if (action.kind == ActionKind::kAddNode) return AddNode(fmt::format("node-{}", ++last_node_), random);
  const api::Node* found = PickNode(random);
  if (found == nullptr) return;
  const std::string name = found->metadata.name;
  switch (action.kind) {
    case ActionKind::kRemoveNode:
      // Without any node no reason is reported for a pod, and it is tried again forever, as upstream does.
      if (store_.objects(api::Kind::kNode).size() > 1) store_.Delete<api::Node>(name);
      return;
    case ActionKind::kReplaceNode:
      store_.Delete<api::Node>(name);
      return timeline_.After(Soon(5s), [this, name, random]() mutable {
        if (store_.Find<api::Node>(name) == nullptr) AddNode(name, random);
      });
    case ActionKind::kCordonNode:
      EditNode(name, [](api::Node& node) { node.spec.unschedulable = true; });
      // Sometimes for a moment only: what was decided meanwhile is still on its way.
      if (random.Below(2) == 0) return;
      return timeline_.After(
          Soon(2s), [this, name] { EditNode(name, [](api::Node& node) { node.spec.unschedulable = false; }); });
    case ActionKind::kUncordonNode:
      return EditNode(name, [](api::Node& node) {
        node.spec.unschedulable = false;
        node.spec.taints.clear();
      });
    case ActionKind::kTaintNode:
      return EditNode(name, [](api::Node& node) {
        node.spec.taints = {
            {.key = Symbol("example.com/busy"), .value = Symbol(""), .effect = Symbol("NoSchedule"), .time_added = {}}};
      });
    case ActionKind::kGrowNode:
      return EditNode(name, [](api::Node& node) {
        node.status.allocatable[Symbol("cpu")].Add(api::Quantity::FromInt(2));
        node.status.allocatable[Symbol("pods")].Add(api::Quantity::FromInt(4));
        node.status.capacity = node.status.allocatable;
      });
    case ActionKind::kRelabelNode:
      return EditNode(
          name, [&](api::Node& node) { node.metadata.labels.Set(Symbol(kZone), Symbol(kZones[random.Below(3)])); });
    default:
      return;
  }
}

void Actors::CordonAll(uint64_t times) {
  std::vector<std::string> names;
  for (const auto& [name, object] : store_.objects(api::Kind::kNode)) names.push_back(name);
  const auto cordon = [this, names](bool cordoned) {
    for (const std::string& name : names) EditNode(name, [&](api::Node& node) { node.spec.unschedulable = cordoned; });
  };
  base::Duration when{};
  for (uint64_t i = 0; i < times; ++i) {
    timeline_.After(when, [cordon] { cordon(true); });
    when += Soon(3s);
    timeline_.After(when, [cordon] { cordon(false); });
    when += Soon(3s);
  }
}

void Actors::React(const Change& change) {
  if (const api::Node* node = change.object.As<api::Node>()) {
    if (change.type != Change::Type::kDeleted) return;
    return timeline_.After(Soon(kSlowestCollector), [this, name = node->metadata.name] { CollectGarbage(name); });
  }
  const api::Pod* pod = change.object.As<api::Pod>();
  if (pod != nullptr && change.type != Change::Type::kDeleted) {
    ReactToPod(*pod, change.before ? change.before->As<api::Pod>() : nullptr);
  }
}

// Acts as the kubelet of the pod's node, if it has one.
void Actors::ReactToPod(const api::Pod& pod, const api::Pod* before) {
  const std::string key = api::KeyOf(pod.metadata), uid = pod.metadata.uid;
  const bool was_bound = before != nullptr && !before->spec.node_name.empty();
  if (!pod.spec.node_name.empty() && !was_bound) {
    timeline_.After(Soon(kSlowestKubelet), [this, key, uid] {
      const api::Pod* now = store_.Find<api::Pod>(key);
      if (now == nullptr || now->status.phase != "Pending" || now->metadata.deletion_timestamp) return;
      EditPod(key, uid, [](api::Pod& p) { p.status.phase = "Running"; });
    });
    if (store_.Find<api::Node>(pod.spec.node_name) == nullptr) {
      const std::string node = pod.spec.node_name;
      timeline_.After(Soon(kSlowestCollector), [this, node] { CollectGarbage(node); });
    }
  }
  const bool was_deleted = before != nullptr && before->metadata.deletion_timestamp.has_value();
  if (pod.metadata.deletion_timestamp && !was_deleted) {
    timeline_.After(Soon(kSlowestEnd), [this, key, uid] {
      const api::Pod* now = store_.Find<api::Pod>(key);
      if (now != nullptr && now->metadata.uid == uid) store_.Delete<api::Pod>(key);
    });
  }
}

void Actors::CollectGarbage(const std::string& node) {
  if (store_.Find<api::Node>(node) != nullptr) return;
  std::vector<std::string> orphans;
  for (const auto& [key, object] : store_.objects(api::Kind::kPod)) {
    if (object.As<api::Pod>()->spec.node_name == node) orphans.push_back(key);
  }
  for (const std::string& key : orphans) store_.Delete<api::Pod>(key);
}

}  // namespace berth::storm
