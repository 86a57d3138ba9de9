// Churn: a driver with a cluster in which everything changes at random: nodes, pods of many kinds, bindings that fail,
// preemption, permission, an extender, other configurations. All of it from one seed, for recordings to be made of.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "config/load.h"
#include "engine/extender.h"
#include "engine/testing/scripted_plugins.h"
#include "framework/handle.h"
#include "framework/registry.h"
#include "plugins/registry.h"
#include "replay/testing/permit_plugin.h"
#include "scheduler/driver.h"
#include "testing/builders.h"

namespace berth::replay::testing {

// Likes and dislikes nodes at random, and sometimes does not answer.
class FickleExtender final : public engine::Extender {
 public:
  explicit FickleExtender(uint64_t seed) : random_(seed) {}

  std::string_view name() const override { return "http://extender"; }
  bool IsInterested(const framework::PodInfo&) const override { return true; }
  bool IsIgnorable() const override { return false; }
  bool SupportsPreemption() const override { return true; }
  bool IsFilter() const override { return true; }
  bool IsPrioritizer() const override { return true; }
  bool IsBinder() const override { return false; }
  int64_t weight() const override { return 3; }
  Result<engine::ExtenderVerdicts> Filter(const framework::PodInfo& pod, engine::Nodes nodes) override;
  std::future<Result<std::vector<engine::HostPriority>>> Prioritize(const framework::PodInfo& pod,
                                                                    engine::Nodes nodes) override;
  Result<std::vector<framework::PreemptionCandidate>> ProcessPreemption(
      const framework::PodInfo& pod, std::span<const framework::PreemptionCandidate> candidates,
      const framework::ClusterView& cluster) override;
  Result<void> SendBind(const framework::PodInfo&, const std::string&) override { return {}; }

 private:
  base::Random random_;
};

class Churn final : private framework::SimpleApiWriter, private scheduler::DriverObserver {
 public:
  struct Options {
    uint64_t seed = 1;
    bool extender = false;
    size_t threads = 1;
    int32_t percentage = 0;  // of nodes to score; 0: all
    bool custom = false;     // some pods need a permit, which is a custom resource
    bool secret = false;     // and some of them want to know a Secret when they are bound
  };
  explicit Churn(Options options);
  ~Churn() override;

  // The driver is made now, to be listened to by this.
  void Start(scheduler::Tap* tap);
  void Run(size_t actions);

  const config::KubeSchedulerConfiguration& configuration() const { return configuration_; }
  const config::FeatureGates& gates() const { return gates_; }
  static const framework::Registry& registry();
  std::vector<engine::Extender*> extenders();
  scheduler::Driver& driver() { return *driver_; }
  size_t bound() const { return bound_; }
  size_t evicted() const { return evicted_; }
  size_t failed() const { return failed_; }

 private:
  void Act();
  void PutNode();
  void RemoveNode();
  void PutPod();
  void ChangePod();
  void RemovePod();
  void FinishOne();
  void ConfirmOne();
  void EndEviction();
  void AnswerWaiting();
  void Reconfigure();
  void ChangePermit();
  api::Object Versioned(api::Pod pod);
  bool Chance(uint64_t one_in) { return random_.Below(one_in) == 0; }

  // framework::ApiWriter
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) override;
  bool IsEvictingFor(const framework::PodInfo& preemptor) const override { return evicting_.contains(preemptor.uid()); }
  framework::Status SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) override;
  Result<std::string> Call(const framework::ObjectCall& call) override;
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return {}; }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return {};
  }

  // scheduler::DriverObserver
  void OnBound(const scheduler::Attempt&) override { ++bound_; }
  void OnFailed(const scheduler::Attempt&, const framework::PodInfo&) override { ++failed_; }

  const Options options_;
  base::Random random_;
  FickleExtender extender_;
  base::FakeClock clock_{base::Time(std::chrono::hours(480000))};
  config::FeatureGates gates_;
  config::KubeSchedulerConfiguration configuration_;
  std::unique_ptr<scheduler::Driver> driver_;
  std::vector<std::unique_ptr<scheduler::BindingCycle>> binding_;
  std::map<std::string, api::Pod> pods_;                         // in the API, by UID
  std::map<std::string, api::Node> nodes_;                       // by name
  std::deque<std::pair<std::string, std::string>> unconfirmed_;  // UIDs of bound pods, and their nodes
  std::map<std::string, std::string> evicting_;                  // preemptor to victim, by UID
  std::map<std::string, std::string> permits_;                   // name to JSON
  uint64_t next_pod_ = 0;
  uint64_t version_ = 0;
  size_t bound_ = 0, evicted_ = 0, failed_ = 0;
};

inline const framework::Registry& Churn::registry() {
  static const framework::Registry made = [] {
    framework::Registry all = plugins::InTreeRegistry();
    engine::testing::Add<engine::testing::Permitter>(
        all, "Gang", framework::PermitResult{framework::Status::Wait(), std::chrono::seconds(20)});
    NeedsPermit::Register(all);
    return all;
  }();
  return made;
}

inline Churn::Churn(Options options) : options_(options), random_(options.seed), extender_(options.seed + 1) {
  configuration_ = config::DefaultConfiguration(gates_);
  configuration_.profiles.push_back(configuration_.profiles[0]);
  configuration_.profiles[1].scheduler_name = "gang";
  configuration_.profiles[1].plugins.multi_point.enabled.push_back({"Gang", 0});
  if (options_.custom) configuration_.profiles[0].plugins.multi_point.enabled.push_back({"NeedsPermit", 0});
  if (options_.percentage > 0) configuration_.percentage_of_nodes_to_score = options_.percentage;
}

inline Churn::~Churn() { binding_.clear(); }

inline std::vector<engine::Extender*> Churn::extenders() {
  if (!options_.extender) return {};
  return {&extender_};
}

inline void Churn::Start(scheduler::Tap* tap) {
  scheduler::Driver::Options options;
  options.scheduler.seed = options_.seed;
  options.scheduler.threads = options_.threads;
  options.scheduler.extenders = extenders();
  options.scheduler.take_binding = [this](std::unique_ptr<scheduler::BindingCycle> cycle) {
    binding_.push_back(std::move(cycle));
  };
  options.max_binding = 8;
  options.tap = tap;
  auto made = scheduler::Driver::Create(configuration_, registry(), gates_, clock_, *this, *this, std::move(options));
  CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
  driver_ = *std::move(made);
}

inline void Churn::Run(size_t actions) {
  for (int i = 0; i < 12; ++i) PutNode();
  for (size_t i = 0; i < actions; ++i) Act();
}

inline void Churn::Act() {
  clock_.Advance(std::chrono::milliseconds(random_.Below(400)));
  if (options_.custom && Chance(8)) return ChangePermit();
  switch (random_.Below(20)) {
    case 0:
      return Chance(3) ? RemoveNode() : PutNode();
    case 1:
    case 2:
    case 3:
    case 4:
      return PutPod();
    case 5:
      return RemovePod();
    case 6:
      return ChangePod();
    case 7:
    case 8:
    case 9:
      return FinishOne();
    case 10:
    case 11:
      return ConfirmOne();
    case 12:
      return EndEviction();
    case 13:
      return AnswerWaiting();
    case 14:
      if (Chance(60)) return Reconfigure();
      if (Chance(20)) clock_.Advance(std::chrono::minutes(6));
      return;
    default:
      (void)driver_->Step();
  }
}

inline void Churn::PutNode() {
  const std::string name = "n" + std::to_string(random_.Below(20));
  auto builder = berth::testing::MakeNode(name);
  builder.Capacity("cpu", std::to_string(2 + random_.Below(3)))
      .Capacity("memory", "8Gi")
      .Capacity("pods", "8")
      .Label("kubernetes.io/hostname", name)
      .Label("topology.kubernetes.io/zone", std::string(1, static_cast<char>('a' + random_.Below(3))))
      .Label("disk", Chance(2) ? "ssd" : "hdd");
  if (Chance(5)) builder.Taint("maintenance", "", Chance(2) ? "NoSchedule" : "PreferNoSchedule");
  if (Chance(8)) builder.Unschedulable();
  builder.raw().metadata.resource_version = std::to_string(++version_);
  nodes_[name] = builder.Obj();
  driver_->Put(api::Object(builder.Shared()));
}

inline void Churn::RemoveNode() {
  if (nodes_.size() < 4) return;
  auto it = nodes_.begin();
  std::advance(it, static_cast<ptrdiff_t>(random_.Below(nodes_.size())));
  const api::Node node = it->second;
  nodes_.erase(it);
  driver_->Remove(api::MakeObject(node));
}

inline api::Object Churn::Versioned(api::Pod pod) {
  pod.metadata.resource_version = std::to_string(++version_);
  pods_[pod.metadata.uid] = pod;
  return api::MakeObject(std::move(pod));
}

inline void Churn::PutPod() {
  const std::string app = "app" + std::to_string(random_.Below(3));
  auto builder = berth::testing::MakePod("p" + std::to_string(next_pod_++));
  builder.Label("app", app).Request("cpu", std::to_string(200 + 200 * random_.Below(5)) + "m");
  builder.Priority(static_cast<int32_t>(random_.Below(4) * 10));
  switch (random_.Below(9)) {
    case 0:
      builder.PodAntiAffinity("kubernetes.io/hostname", {{"app", app}});
      break;
    case 1:
      builder.PreferredPodAffinity(10, "topology.kubernetes.io/zone", {{"app", app}});
      break;
    case 2:
      builder.SpreadConstraint(1, "topology.kubernetes.io/zone", "DoNotSchedule", {{"app", app}});
      break;
    case 3:
      builder.NodeAffinityIn("disk", {"ssd"});
      break;
    case 4:
      builder.Tolerate("maintenance");
      break;
    case 5:
      builder.SchedulerName("gang");
      break;
    default:
      break;
  }
  if (options_.custom && Chance(2)) builder.Label("permit", "permit" + std::to_string(random_.Below(4)));
  if (options_.secret && Chance(2)) builder.Label("secret", "yes");
  driver_->Put(Versioned(builder.Obj()));
}

inline void Churn::ChangePermit() {
  const std::string name = "permit" + std::to_string(random_.Below(4));
  const framework::EventResource permits = *framework::EventResourceOf(kPermits);
  if (Chance(5)) {
    if (permits_.erase(name) > 0) driver_->RemoveCustom(permits, MakePermit(name, "")->metadata);
    return;
  }
  const std::string door = Chance(3) ? "shut" : "open";
  permits_[name] = PermitJson(name, door);
  driver_->PutCustom(permits, MakePermit(name, door));
}

inline Result<std::string> Churn::Call(const framework::ObjectCall& call) {
  if (call.resource == kSecrets) return std::string(R"({"kind":"Secret","data":{"word":"sesame-secret"}})");
  const auto found = permits_.find(call.name);
  if (found == permits_.end()) return Error::NotFound("permits \"" + call.name + "\" not found");
  return found->second;
}

inline void Churn::ChangePod() {
  if (pods_.empty()) return;
  auto it = pods_.begin();
  std::advance(it, static_cast<ptrdiff_t>(random_.Below(pods_.size())));
  api::Pod pod = it->second;
  pod.metadata.labels.Set(Symbol("touched"), Symbol(std::to_string(random_.Below(5))));
  if (Chance(6)) pod.metadata.deletion_timestamp = clock_.Now();
  driver_->Put(Versioned(std::move(pod)));
}

inline void Churn::RemovePod() {
  if (pods_.empty()) return;
  auto it = pods_.begin();
  std::advance(it, static_cast<ptrdiff_t>(random_.Below(pods_.size())));
  const api::Pod pod = it->second;
  pods_.erase(it);
  driver_->Remove(api::MakeObject(pod));
}

inline void Churn::FinishOne() {
  if (binding_.empty()) return;
  const size_t index = random_.Below(binding_.size());
  std::unique_ptr<scheduler::BindingCycle> cycle = std::move(binding_[index]);
  binding_.erase(binding_.begin() + static_cast<ptrdiff_t>(index));
  cycle->Run();
  driver_->Finish(std::move(cycle));
}

inline void Churn::ConfirmOne() {
  if (unconfirmed_.empty()) return;
  const auto [uid, node] = unconfirmed_.front();
  unconfirmed_.pop_front();
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  api::Pod pod = found->second;
  pod.spec.node_name = node;
  pod.status.start_time = clock_.Now();
  driver_->Put(Versioned(std::move(pod)));
}

inline void Churn::EndEviction() {
  if (evicting_.empty()) return;
  const auto [preemptor, victim] = *evicting_.begin();
  evicting_.erase(evicting_.begin());
  if (const auto found = pods_.find(victim); found != pods_.end()) {
    const api::Pod pod = found->second;
    pods_.erase(found);
    driver_->Remove(api::MakeObject(pod));
  }
  if (Chance(2)) driver_->Activate(preemptor);
}

// As a plugin does from another thread.
inline void Churn::AnswerWaiting() {
  const std::vector<framework::PodInfoPtr> waiting = driver_->scheduler().waiting_pods().pods();
  if (waiting.empty()) return;
  const std::string uid = waiting[random_.Below(waiting.size())]->uid();
  engine::Profile& profile = *driver_->scheduler().FindProfile("gang");
  if (Chance(4)) {
    profile.Reject(uid, "Gang", "no");
  } else {
    profile.Allow(uid, "Gang");
  }
  if (Chance(3) && !pods_.empty()) profile.Activate({pods_.begin()->first});
}

inline void Churn::Reconfigure() {
  configuration_.pod_max_backoff_seconds = static_cast<int64_t>(5 + random_.Below(10));
  const Result<void> done = driver_->Reconfigure(configuration_, registry());
  CHECK_WHY(done.ok(), done.ok() ? "" : done.error().message.c_str());
}

inline framework::Status Churn::Bind(const framework::PodInfo& pod, const std::string& node_name) {
  if (Chance(8)) return framework::Status::Error("the API server is not well");
  if (!pods_.contains(pod.uid())) return framework::Status::Error("pods \"" + pod.name() + "\" not found");
  unconfirmed_.emplace_back(pod.uid(), node_name);
  return {};
}

inline framework::Status Churn::Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) {
  ++evicted_;
  evicting_[preemptor.uid()] = victim.uid();
  return {};
}

inline framework::Status Churn::SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) {
  if (const auto found = pods_.find(pod.uid()); found != pods_.end()) {
    found->second.status.nominated_node_name = node_name;
  }
  return {};
}

inline Result<engine::ExtenderVerdicts> FickleExtender::Filter(const framework::PodInfo&, engine::Nodes nodes) {
  if (random_.Below(10) == 0) return Error::Unavailable("timed out");
  engine::ExtenderVerdicts verdicts;
  for (const framework::NodeInfo* node : nodes) {
    switch (random_.Below(6)) {
      case 0:
        verdicts.failed.Set(node->name(), "no");
        break;
      case 1:
        verdicts.failed_and_unresolvable.Set(node->name(), "never");
        break;
      default:
        verdicts.feasible.push_back(node);
    }
  }
  return verdicts;
}

inline std::future<Result<std::vector<engine::HostPriority>>> FickleExtender::Prioritize(const framework::PodInfo&,
                                                                                         engine::Nodes nodes) {
  std::promise<Result<std::vector<engine::HostPriority>>> answer;
  std::vector<engine::HostPriority> priorities;
  for (const framework::NodeInfo* node : nodes) {
    priorities.push_back({node->name(), static_cast<int64_t>(random_.Below(11))});
  }
  answer.set_value(std::move(priorities));
  return answer.get_future();
}

inline Result<std::vector<framework::PreemptionCandidate>> FickleExtender::ProcessPreemption(
    const framework::PodInfo&, std::span<const framework::PreemptionCandidate> candidates,
    const framework::ClusterView&) {
  std::vector<framework::PreemptionCandidate> left;
  for (const framework::PreemptionCandidate& candidate : candidates) {
    if (random_.Below(3) != 0) left.push_back(candidate);
  }
  return left;
}

}  // namespace berth::replay::testing
