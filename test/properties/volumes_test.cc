// Pods with claims share results that are kept while claims, volumes, classes, capacities, CSINodes and attachments are
// created, changed and deleted. Over a random history of these, each decision equals the one made from scratch: a
// difference aborts the program. What is reserved for the chosen node is what a separate cycle would reserve.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "engine/evaluator.h"
#include "plugins/registry.h"
#include "plugins/volume/claims.h"
#include "plugins/volume/csi_migration.h"
#include "testing/builders.h"

namespace berth::properties {
namespace {

using testing::MakeCsiNode;
using testing::MakeNode;
using testing::MakePod;
using testing::MakePv;
using testing::MakePvc;
using testing::MakeStorageClass;

constexpr uint64_t kVolumeNodes = 7;
constexpr uint64_t kVolumes = 9;
constexpr uint64_t kClaims = 10;
constexpr int kVolumeSteps = 300;
constexpr char kDiskDriver[] = "disk.example.com";
constexpr char kZoneLabel[] = "topology.kubernetes.io/zone";
constexpr char kHostnameLabel[] = "kubernetes.io/hostname";

// Records which storage objects it was told to change, and how.
class StorageApi final : public framework::SimpleApiWriter {
 public:
  framework::Status Bind(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return {}; }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) override {
    writes.push_back(fmt::format("{} for {}", volume->metadata.name, volume->spec.claim_ref->name));
    return {};
  }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) override {
    const std::string* node = plugins::FindAnnotation(claim->metadata, plugins::kSelectedNodeAnnotation);
    writes.push_back(fmt::format("{} on {}", claim->metadata.name, node ? *node : "no node"));
    return {};
  }

  std::vector<std::string> writes;
};

struct Setting {
  const char* name;
  const char* gates = "";
  const char* without = "";  // a plugin that hides what others miss
};

class VolumeHistory {
 public:
  VolumeHistory(uint64_t seed, const Setting& setting) : random_(seed) {
    EXPECT_TRUE(gates_.Parse(setting.gates).ok());
    cluster_ = std::make_unique<cluster::Cluster>(gates_);
    const engine::Environment environment{*cluster_, gates_, clock_, random_, api_, waiting_pods_, posted_};
    config::Profile config = config::DefaultConfiguration(gates_).profiles.front();
    std::erase_if(config.plugins.multi_point.enabled,
                  [&](const config::Plugin& plugin) { return plugin.name == setting.without; });
    auto profile = engine::Profile::Create(config, plugins::InTreeRegistry(), environment);
    EXPECT_TRUE(profile.ok());
    profile_ = std::move(*profile);
    for (uint64_t i = 0; i < kVolumeNodes; ++i) PutNode(i);
    PutClasses();
    for (uint64_t i = 0; i < kVolumes; ++i) PutVolume(i);
    for (uint64_t i = 0; i < kClaims; ++i) PutClaim(i);
    for (uint64_t i = 0; i < kClaims; ++i) pods_.push_back(PodWith(fmt::format("p{}", i), i, i % 4 == 3 ? i - 1 : i));
    pods_.push_back(EphemeralPod());
    pods_.push_back(MakePod("plain").Info());
  }

  struct Counts {
    size_t decisions = 0;
    size_t kept = 0;
    size_t chosen = 0;
    size_t written = 0;
  };
  Counts Run() {
    engine::Evaluator evaluator(*profile_, *cluster_, {.verify = true});
    Counts counts;
    for (int step = 0; step < kVolumeSteps; ++step) {
      for (uint64_t i = 0, changes = random_.Below(3); i < changes; ++i) Change();
      for (const framework::PodInfoPtr& pod : pods_) {
        const auto decision = evaluator.Decide(*pod, random_);
        ++counts.decisions;
        if (decision.kind != engine::Evaluator::Decision::Kind::kAskEvaluate) ++counts.kept;
        if (decision.kind != engine::Evaluator::Decision::Kind::kChosen) continue;
        ++counts.chosen;
        counts.written += CheckReservation(*decision.state, *pod, decision.choice.node->name());
      }
    }
    while (!held_.empty()) Release();
    return counts;
  }

 private:
  struct HeldReservation {
    framework::CycleState state;
    framework::PodInfoPtr pod;
    std::string node;
  };

  bool OneIn(uint64_t count) { return random_.Below(count) == 0; }
  std::string NodeName(uint64_t i) { return fmt::format("n{}", i); }
  std::string AnyNode() { return NodeName(random_.Below(kVolumeNodes)); }
  std::string AnyZone() { return OneIn(2) ? "a" : "b"; }
  std::string AnySize() { return OneIn(3) ? "5Gi" : OneIn(2) ? "2Gi" : "1Gi"; }
  framework::Objects& objects() { return cluster_->objects(); }
  template <class T>
  static void Put(framework::ObjectStore<T>& store, T object) {
    store.Upsert(std::make_shared<const T>(std::move(object)));
  }

  // What the pod's reservation would write.
  std::vector<std::string> Reserve(framework::CycleState& state, const framework::PodInfo& pod,
                                   const std::string& node) {
    EXPECT_TRUE(profile_->RunReserve(state, pod, node).ok()) << pod.Key();
    framework::CycleState copy = state.Clone();
    api_.writes.clear();
    EXPECT_TRUE(profile_->RunPreBind(copy, pod, node).ok()) << pod.Key();
    return api_.writes;
  }

  size_t CheckReservation(framework::CycleState& state, const framework::PodInfo& pod, const std::string& node) {
    const std::vector<std::string> kept = Reserve(state, pod, node);
    profile_->RunUnreserve(state, pod, node);
    framework::CycleState alone = profile_->NewCycleState();
    EXPECT_TRUE(profile_->RunPreFilter(alone, pod).status.ok());
    EXPECT_EQ(kept, Reserve(alone, pod, node)) << pod.Key() << " on " << node;
    profile_->RunUnreserve(alone, pod, node);
    // Sometimes it stays, and later pods see it.
    if (held_.size() < 3 && OneIn(8)) {
      EXPECT_TRUE(profile_->RunReserve(state, pod, node).ok());
      held_.push_back({state.Clone(), cluster_->MakePodInfo(pod.shared_pod()), node});
    }
    return kept.size();
  }

  void Release() {
    HeldReservation& held = held_[random_.Below(held_.size())];
    profile_->RunUnreserve(held.state, *held.pod, held.node);
    std::swap(held, held_.back());
    held_.pop_back();
  }

  void PutNode(uint64_t i) {
    auto node = MakeNode(NodeName(i));
    node.Label(kHostnameLabel, OneIn(5) ? "other" : NodeName(i)).Capacity("pods", OneIn(4) ? "2" : "110");
    if (!OneIn(4)) node.Label(kZoneLabel, AnyZone());
    if (OneIn(2)) node.Label("topology.ebs.csi.aws.com/zone", AnyZone());
    cluster_->UpsertNode(node.Shared());
  }

  void PutClasses() {
    Put(objects().storage_classes, MakeStorageClass("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"));
    Put(objects().storage_classes, MakeStorageClass("ebs", "WaitForFirstConsumer", "kubernetes.io/aws-ebs"));
    Put(objects().storage_classes, MakeStorageClass("immediate"));
    api::StorageClass made = MakeStorageClass("made", "WaitForFirstConsumer", kDiskDriver);
    if (OneIn(3)) made.allowed_topologies = {{{{Symbol(kZoneLabel), {Symbol(AnyZone())}}}}};
    Put(objects().storage_classes, std::move(made));
  }

  void PutDriver() {
    api::CSIDriver driver;
    driver.metadata.name = kDiskDriver;
    driver.spec.storage_capacity = OneIn(2);
    Put(objects().csi_drivers, std::move(driver));
  }

  void PutCapacity() {
    api::CSIStorageCapacity capacity;
    capacity.metadata.name = fmt::format("capacity-{}", random_.Below(3));
    capacity.storage_class_name = "made";
    if (!OneIn(5)) {
      capacity.node_topology = OneIn(3)   ? testing::SelectorOf({})
                               : OneIn(2) ? testing::SelectorOf({{kZoneLabel, AnyZone()}})
                                          : testing::SelectorOf({{kHostnameLabel, AnyNode()}});
    }
    capacity.capacity = testing::Amount(AnySize());
    if (OneIn(4)) capacity.maximum_volume_size = testing::Amount(AnySize());
    Put(objects().csi_storage_capacities, std::move(capacity));
  }

  void PutCsiNode(const std::string& node) {
    std::optional<int32_t> limit;
    if (!OneIn(4)) limit = static_cast<int32_t>(1 + random_.Below(3));
    api::CSINode csi_node = MakeCsiNode(node, OneIn(4) ? "ebs.csi.aws.com" : kDiskDriver, limit);
    if (OneIn(2)) {
      csi_node.metadata.annotations.Set(std::string(plugins::kMigratedPluginsAnnotation), "kubernetes.io/aws-ebs");
    }
    Put(objects().csi_nodes, std::move(csi_node));
  }

  void PutVolume(uint64_t i) {
    testing::PvOptions options;
    options.storage_class = OneIn(5) ? "made" : "local";
    options.capacity = AnySize();
    switch (random_.Below(4)) {
      case 0:
        options.node_label = kHostnameLabel;
        options.node_label_values = {AnyNode()};
        break;
      case 1:
        options.node_label = kZoneLabel;
        options.node_label_values = {AnyZone()};
        break;
      case 2:
        options.node_label = kHostnameLabel;
        options.node_label_values = {AnyNode(), AnyNode(), "other"};
        break;
      default:
        break;
    }
    if (OneIn(2)) options.csi_driver = kDiskDriver;
    api::PersistentVolume volume = MakePv(fmt::format("v{}", i), options);
    if (volume.spec.source.csi && OneIn(3)) volume.spec.source.csi->volume_handle = "shared";
    if (!volume.spec.source.csi && OneIn(2)) {
      volume.spec.source.aws_elastic_block_store.emplace().volume_id =
          OneIn(6) ? "aws://x/odd" : fmt::format("vol-{}", i);
    }
    if (OneIn(5)) volume.metadata.labels.Set(Symbol(kZoneLabel), Symbol(OneIn(3) ? "a__b" : AnyZone()));
    if (OneIn(3)) volume.metadata.labels.Set(Symbol("tier"), Symbol("gold"));
    if (OneIn(8)) volume.status.phase = "Released";
    if (OneIn(10)) volume.spec.volume_mode = "Block";
    if (OneIn(10)) volume.metadata.deletion_timestamp = testing::At("2026-01-01T00:00:00Z");
    if (OneIn(8)) {
      api::ObjectReference& reference = volume.spec.claim_ref.emplace();
      reference.namespace_ = Symbol("default");
      reference.name = fmt::format("c{}", random_.Below(kClaims));
    }
    Put(objects().persistent_volumes, std::move(volume));
  }

  void PutClaim(uint64_t i) {
    testing::PvcOptions options;
    options.storage_class = OneIn(3) ? "local" : OneIn(4) ? "ebs" : OneIn(10) ? "immediate" : "made";
    options.request = AnySize();
    if (OneIn(6)) options.access_modes = {OneIn(2) ? "ReadWriteOncePod" : "ReadOnlyMany"};
    if (OneIn(3)) options.volume_name = fmt::format("v{}", random_.Below(kVolumes + 1));
    api::PersistentVolumeClaim claim = MakePvc(fmt::format("c{}", i), options);
    if (OneIn(8)) claim.spec.selector = testing::SelectorOf({{"tier", "gold"}});
    if (OneIn(12)) claim.metadata.annotations.Set(std::string(plugins::kSelectedNodeAnnotation), AnyNode());
    if (OneIn(12)) claim.spec.resources.requests = {};
    Put(objects().persistent_volume_claims, std::move(claim));
  }

  void PutAttachment() {
    api::VolumeAttachment attachment;
    attachment.metadata.name = fmt::format("attachment-{}", random_.Below(4));
    attachment.spec.attacher = kDiskDriver;
    attachment.spec.node_name = AnyNode();
    attachment.spec.source.persistent_volume_name = fmt::format("v{}", random_.Below(kVolumes));
    Put(objects().volume_attachments, std::move(attachment));
  }

  static api::VolumeSource Using(std::string claim) {
    api::VolumeSource source;
    source.persistent_volume_claim.emplace().claim_name = std::move(claim);
    return source;
  }

  framework::PodInfoPtr PodWith(const std::string& name, uint64_t first, uint64_t second) {
    auto pod = MakePod(name);
    pod.Volume("first", Using(fmt::format("c{}", first)));
    if (second != first) pod.Volume("second", Using(fmt::format("c{}", second)));
    return pod.Info();
  }

  framework::PodInfoPtr EphemeralPod() {
    auto pod = MakePod("ephemeral");
    api::VolumeSource source;
    source.ephemeral.emplace();
    pod.Volume("data", std::move(source));
    api::PersistentVolumeClaim claim = MakePvc("ephemeral-data", {.storage_class = "made"});
    claim.metadata.owner_references = {{"v1", "Pod", "ephemeral", pod.Info()->uid(), true}};
    Put(objects().persistent_volume_claims, std::move(claim));
    return pod.Info();
  }

  // A running pod, with claims that others may use.
  void BindPod() {
    const std::string name = fmt::format("q{}", random_.Below(8));
    const uint64_t claim = random_.Below(kClaims + 1);
    api::Pod pod = *PodWith(name, claim, OneIn(3) ? random_.Below(kClaims) : claim)->shared_pod();
    if (OneIn(6)) {
      auto disk = std::make_shared<api::VolumeSource>();
      disk->cinder.emplace().volume_id = "disk";
      pod.spec.volumes.push_back({"inline", std::move(disk)});
    }
    pod.spec.node_name = OneIn(10) ? "elsewhere" : AnyNode();
    cluster_->UpsertPod(std::make_shared<const api::Pod>(std::move(pod)));
  }

  void Nominate() {
    api::Pod pod = *PodWith("nominated", random_.Below(kClaims), 0)->shared_pod();
    pod.spec.priority = 10;
    cluster_->nominator().Nominate(cluster_->MakePodInfo(std::make_shared<const api::Pod>(std::move(pod))), AnyNode());
  }

  void Change() {
    const uint64_t one = random_.Below(20);
    switch (one) {
      case 0:
        return PutNode(random_.Below(kVolumeNodes));
      case 1:
        if (OneIn(3)) cluster_->RemoveNode(AnyNode());
        return;
      case 2:
        if (OneIn(3)) PutClasses();
        return;
      case 3:
        if (OneIn(3)) PutDriver();
        return;
      case 4:
        if (OneIn(2)) PutCapacity();
        return;
      case 5:
        return PutCsiNode(AnyNode());
      case 6:
        objects().csi_nodes.Erase("", AnyNode());
        return;
      case 7:
        return PutAttachment();
      case 8:
        objects().volume_attachments.Erase("", fmt::format("attachment-{}", random_.Below(4)));
        return;
      case 9:
        objects().persistent_volumes.Erase("", fmt::format("v{}", random_.Below(kVolumes)));
        return;
      case 10:
        if (OneIn(2)) objects().persistent_volume_claims.Erase("default", fmt::format("c{}", random_.Below(kClaims)));
        return;
      case 11:
        cluster_->RemovePod(MakePod(fmt::format("q{}", random_.Below(8))).Info()->uid());
        return;
      case 12:
        if (!held_.empty()) Release();
        return;
      case 13:
        return OneIn(2) ? Nominate() : cluster_->nominator().Remove(MakePod("nominated").Info()->uid());
      case 14:
      case 15:
        return BindPod();
      case 16:
      case 17:
        return PutVolume(random_.Below(kVolumes));
      default:
        return PutClaim(random_.Below(kClaims));
    }
  }

  base::Random random_;
  config::FeatureGates gates_;
  base::FakeClock clock_{base::Time(std::chrono::hours(1000))};
  StorageApi api_;
  framework::WaitingPods waiting_pods_;
  framework::PostedWork posted_;
  std::unique_ptr<cluster::Cluster> cluster_;
  std::unique_ptr<engine::Profile> profile_;
  std::vector<framework::PodInfoPtr> pods_;
  std::vector<HeldReservation> held_;
};

class KeptVolumeAnswers : public ::testing::TestWithParam<Setting> {};

TEST_P(KeptVolumeAnswers, AreThoseFromScratch) {
  VolumeHistory::Counts sum;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const VolumeHistory::Counts counts = VolumeHistory(seed, GetParam()).Run();
    sum.decisions += counts.decisions;
    sum.kept += counts.kept;
    sum.chosen += counts.chosen;
    sum.written += counts.written;
  }
  // Many claims here are missing, lost, half bound or in use: such pods are rejected before any node is evaluated.
  EXPECT_GT(sum.kept, sum.decisions / 3);
  EXPECT_GT(sum.chosen, sum.decisions / 10);
  EXPECT_GT(sum.written, sum.chosen / 10);
}

INSTANTIATE_TEST_SUITE_P(Settings, KeptVolumeAnswers,
                         ::testing::Values(Setting{"Default"}, Setting{"CapacityScores", "StorageCapacityScoring=true"},
                                           Setting{"NoLimits", "", "NodeVolumeLimits"}),
                         [](const auto& setting) { return std::string(setting.param.name); });

}  // namespace
}  // namespace berth::properties
