#include "properties/random_cluster.h"

#include <cstdlib>
#include <ostream>

#include "config/load.h"
#include "plugins/registry.h"

namespace berth::properties {
namespace {

constexpr uint32_t kNodes = 16;
constexpr uint32_t kPods = 16;

// A debug build should finish in seconds, and every run be the same; RC_PARAMS from outside asks for more.
const int kFewerRuns = setenv("RC_PARAMS", "max_success=50 seed=1", /*overwrite=*/0);

// Splits a variety into digits.
class Digits {
 public:
  explicit Digits(uint32_t variety) : rest_(variety * 2654435761u ^ variety >> 7) {}
  uint32_t Below(uint32_t bound) {
    rest_ = rest_ * 1664525u + 1013904223u;
    return (rest_ >> 11) % bound;
  }
  bool OneIn(uint32_t bound) { return Below(bound) == 0; }
  const char* Of(std::initializer_list<const char*> choices) {
    return choices.begin()[Below(static_cast<uint32_t>(choices.size()))];
  }

 private:
  uint32_t rest_;
};

void AddAffinity(testing::PodBuilder& pod, Digits& digits) {
  const char* key = digits.Of({"zone", "kubernetes.io/hostname", "disk"});
  const char* app = digits.Of({"web", "db"});
  switch (digits.Below(8)) {
    case 0:
      pod.PodAffinity(key, {{"app", app}});
      break;
    case 1:
      pod.PodAntiAffinity(key, {{"app", app}});
      break;
    case 2:
      pod.PreferredPodAffinity(10, key, {{"app", app}});
      break;
    case 3:
      pod.PreferredPodAntiAffinity(40, key, {{"app", app}});
      break;
    case 4:
      pod.PodAffinity(key, {{"app", app}}).PreferredPodAntiAffinity(5, "disk", {{"app", "db"}});
      break;
    default:
      break;
  }
}

void AddNodeAffinity(testing::PodBuilder& pod, Digits& digits) {
  switch (digits.Below(8)) {
    case 0:
      pod.NodeSelector("disk", digits.Of({"ssd", "hdd"}));
      break;
    case 1:
      pod.NodeAffinityIn("zone", {"a", "b"});
      break;
    case 2:
      pod.NodeAffinityNotIn("zone", {"a"}).OrNodeAffinity().NodeAffinityExists("disk");
      break;
    case 3:
      pod.PreferredNodeAffinity(20, "disk", {"ssd"}).PreferredNodeAffinity(3, "zone", {"a", "c"});
      break;
    case 4:
      pod.NodeNameIn({"n1", "n2"});
      break;
    default:
      break;
  }
}

void AddSpread(testing::PodBuilder& pod, Digits& digits) {
  const char* key = digits.Of({"zone", "kubernetes.io/hostname"});
  const auto last = [&]() -> api::TopologySpreadConstraint& {
    return pod.raw().spec.topology_spread_constraints.back();
  };
  switch (digits.Below(10)) {
    case 0:
      pod.SpreadConstraint(1, key, "DoNotSchedule", {{"app", "web"}});
      break;
    case 1:
      pod.SpreadConstraint(1, key, "ScheduleAnyway", {{"app", "web"}});
      break;
    case 2:
      pod.SpreadConstraint(2, "zone", "DoNotSchedule", {{"app", "db"}})
          .SpreadConstraint(1, "kubernetes.io/hostname", "ScheduleAnyway", {{"app", "db"}});
      break;
    case 3:
      pod.SpreadConstraint(1, key, "DoNotSchedule", {{"app", "web"}});
      last().min_domains = static_cast<int32_t>(2 + digits.Below(3));
      last().node_taints_policy = digits.Of({"Honor", "Ignore"});
      break;
    case 4:
      pod.SpreadConstraint(1, key, digits.Of({"DoNotSchedule", "ScheduleAnyway"}), {});
      last().match_label_keys = {Symbol("app")};
      last().node_affinity_policy = digits.Of({"Honor", "Ignore"});
      break;
    case 5:
      pod.SpreadConstraint(1, "zone", "ScheduleAnyway", {{"app", "web"}})
          .SpreadConstraint(2, "disk", "ScheduleAnyway", {{"app", "db"}})
          .SpreadConstraint(1, "kubernetes.io/hostname", "DoNotSchedule", {{"app", "db"}});
      break;
    default:
      break;
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Change& change) {
  static constexpr const char* kNames[] = {"upsert node", "remove node", "bind pod",
                                           "delete pod",  "nominate",    "withdraw"};
  return out << kNames[static_cast<int>(change.kind)] << " n" << change.node << " p" << change.pod << " #"
             << change.variety;
}

rc::Gen<uint32_t> AnyVariety() { return rc::gen::inRange<uint32_t>(0, 100000); }

rc::Gen<Change> AnyChange() {
  using enum ChangeKind;
  return rc::gen::build<Change>(
      rc::gen::set(
          &Change::kind,
          rc::gen::weightedElement<ChangeKind>(
              {{4, kUpsertNode}, {2, kRemoveNode}, {9, kBindPod}, {4, kDeletePod}, {2, kNominate}, {1, kWithdraw}})),
      rc::gen::set(&Change::node, rc::gen::inRange<uint32_t>(0, kNodes)),
      rc::gen::set(&Change::pod, rc::gen::inRange<uint32_t>(0, kPods)), rc::gen::set(&Change::variety, AnyVariety()));
}

rc::Gen<std::vector<Change>> AnyHistory(size_t longest) {
  return rc::gen::resize(static_cast<int>(longest), rc::gen::container<std::vector<Change>>(AnyChange()));
}

std::shared_ptr<const api::Node> NodeOf(uint32_t number, uint32_t variety) {
  Digits digits(variety);
  const std::string name = "n" + std::to_string(number);
  testing::NodeBuilder node = testing::MakeNode(name);
  node.Label("kubernetes.io/hostname", name);
  if (!digits.OneIn(5)) node.Label("zone", digits.Of({"a", "b", "c"}));
  if (!digits.OneIn(3)) node.Label("disk", digits.Of({"ssd", "hdd"}));
  node.Capacity("cpu", digits.Of({"500m", "1", "2", "4"})).Capacity("memory", digits.Of({"1Gi", "2Gi", "8Gi"}));
  node.Capacity("pods", digits.Of({"2", "4", "110"}));
  if (digits.OneIn(3)) node.Capacity("example.com/gpu", digits.Of({"1", "2"}));
  if (digits.OneIn(4))
    node.Taint("pool", digits.Of({"gpu", "batch"}), digits.Of({"NoSchedule", "NoExecute", "PreferNoSchedule"}));
  if (digits.OneIn(6)) node.Taint("slow", "", "PreferNoSchedule");
  if (digits.OneIn(8)) node.Taint("old", "", "PreferNoSchedule").Taint("loud", "", "PreferNoSchedule");
  if (digits.OneIn(3)) node.Image("docker.io/library/web:1", 300'000'000 + digits.Below(3) * 100'000'000);
  node.Unschedulable(digits.OneIn(12));
  if (!digits.OneIn(4)) node.Label("topology.kubernetes.io/zone", digits.Of({"a", "b"}));
  // Some hosts share a label, and some have none.
  if (digits.OneIn(20)) node.Label("kubernetes.io/hostname", "n1");
  if (digits.OneIn(20)) node.raw().metadata.labels.Erase(Symbol("kubernetes.io/hostname"));
  return node.Shared();
}

testing::PodBuilder PodOf(const std::string& name, uint32_t variety) {
  Digits digits(variety);
  testing::PodBuilder pod = testing::MakePod(name);
  pod.Label("app", digits.Of({"web", "db"})).Priority(static_cast<int32_t>(digits.Below(3)));
  if (digits.OneIn(5)) pod.InitContainer().Request("cpu", digits.Of({"300m", "1500m"}));
  pod.Container(digits.Of({"docker.io/library/web:1", "docker.io/library/db:2"}));
  if (!digits.OneIn(4)) pod.Request("cpu", digits.Of({"100m", "250m", "1"}));
  if (!digits.OneIn(3)) pod.Request("memory", digits.Of({"64Mi", "1Gi"}));
  if (digits.OneIn(6)) pod.Request("example.com/gpu", "1");
  if (digits.OneIn(5))
    pod.HostPort(digits.OneIn(2) ? 80 : 81, digits.Of({"TCP", "UDP"}), digits.Of({"", "127.0.0.1", "10.0.0.1"}));
  AddAffinity(pod, digits);
  AddNodeAffinity(pod, digits);
  AddSpread(pod, digits);
  if (digits.OneIn(3)) pod.Tolerate("pool");
  if (digits.OneIn(5)) pod.Tolerate("slow", "", "PreferNoSchedule");
  if (digits.OneIn(8)) pod.NominatedNode("n" + std::to_string(digits.Below(kNodes)));
  return pod;
}

RandomCluster::RandomCluster() {
  const config::KubeSchedulerConfiguration config = config::DefaultConfiguration(world_.gates);
  profile_ = world_.MakeProfile(config.profiles.at(0), plugins::InTreeRegistry());
  // Then pods without their own constraints have the default ones.
  world_.cluster.objects().services.Upsert(
      std::make_shared<const api::Service>(testing::MakeService("web", {{"app", "web"}})));
}

void RandomCluster::Apply(const Change& change) {
  const std::string node = "n" + std::to_string(change.node);
  const std::string pod = "p" + std::to_string(change.pod);
  const std::string uid = "default/" + pod;
  switch (change.kind) {
    case ChangeKind::kUpsertNode:
      nodes_[node] = NodeOf(change.node, change.variety);
      world_.cluster.UpsertNode(nodes_[node]);
      break;
    case ChangeKind::kRemoveNode:
      nodes_.erase(node);
      world_.cluster.RemoveNode(node);
      break;
    case ChangeKind::kBindPod:
      bound_pods_[uid] = WithoutTakenPorts(PodOf(pod, change.variety).Node(node));
      world_.cluster.UpsertPod(bound_pods_[uid]);
      break;
    case ChangeKind::kDeletePod:
      bound_pods_.erase(uid);
      world_.cluster.RemovePod(uid);
      break;
    case ChangeKind::kNominate:
      world_.cluster.nominator().Nominate(PodOf("nominee" + std::to_string(change.pod), change.variety).Info(), node);
      break;
    case ChangeKind::kWithdraw:
      world_.cluster.nominator().Remove("default/nominee" + std::to_string(change.pod));
      break;
  }
}

// No scheduler puts two pods on one port of a node, and what would happen then is not specified.
std::shared_ptr<const api::Pod> RandomCluster::WithoutTakenPorts(testing::PodBuilder pod) const {
  const auto taken = [&](const api::ContainerPort& port) {
    for (const auto& [uid, other] : bound_pods_) {
      if (other->spec.node_name != pod.raw().spec.node_name || uid == pod.Obj().metadata.uid) continue;
      for (const api::Container& container : other->spec.containers) {
        for (const api::ContainerPort& used : container.ports) {
          if (used.host_port == port.host_port) return true;
        }
      }
    }
    return false;
  };
  for (api::Container& container : pod.raw().spec.containers) std::erase_if(container.ports, taken);
  return pod.Shared();
}

void RandomCluster::AddFirstNodes(const std::vector<uint32_t>& varieties) {
  for (uint32_t i = 0; i < varieties.size(); ++i) Apply({ChangeKind::kUpsertNode, i, 0, varieties[i]});
}

}  // namespace berth::properties
