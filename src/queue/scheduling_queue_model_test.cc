// Compares the queue with a slow reference that keeps a plain list of pods and scans all of it on every change, on
// random histories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "queue/scheduling_queue.h"
#include "testing/builders.h"
#include "testing/by_priority_then_time.h"

namespace berth::queue {
namespace {

using framework::ActionType;
using framework::ClusterEvent;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::QueueingHint;
using framework::Status;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

using Profiles = std::map<std::string, ProfileHooks>;

struct ModelPod : QueuedPod {
  enum Where { kReady, kWaiting, kAsleep, kFlying } where = kAsleep;
  int arrival = 0;
  base::Time flushed = base::Time::min();
  std::vector<HappenedEvent> missed;  // while in flight

  bool failed_by_error() const { return unschedulable_plugins.empty() && pending_plugins.empty(); }
};

class ModelQueue {
 public:
  ModelQueue(const base::Clock& clock, Profiles profiles) : clock_(clock), profiles_(std::move(profiles)) {}

  void Add(const PodInfoPtr& pod) {
    Delete(pod->uid());
    ModelPod added;
    added.pod = pod;
    added.timestamp = clock_.Now();
    added.arrival = arrivals_++;
    ToReady(pods_.emplace_back(std::move(added)));
  }

  void Update(const PodInfoPtr& pod) {
    ModelPod* found = Get(pod->uid());
    if (!found) return Add(pod);
    const auto before = found->pod->shared_pod(), after = pod->shared_pod();
    found->pod = pod;
    if (found->where == ModelPod::kReady || found->where == ModelPod::kWaiting) return;
    for (const ClusterEvent& event :
         framework::EventsOf(EventResource::kUnschedulablePod, framework::PodUpdateActions(*before, *after))) {
      const HappenedEvent happened{event, EventObject(before.get()), EventObject(after.get()), before, after};
      if (found->where == ModelPod::kFlying) {
        for (ModelPod& other : pods_) {
          if (other.where == ModelPod::kFlying) other.missed.push_back(happened);
        }
        continue;
      }
      Move(*found, Worth(*found, happened));
      if (found->where != ModelPod::kAsleep) return;
    }
  }

  void Delete(const std::string& uid) {
    std::erase_if(pods_, [&](const ModelPod& pod) { return pod.pod->uid() == uid; });
  }

  const QueuedPod* Pop() {
    Flush();
    ModelPod* best = nullptr;
    for (ModelPod& pod : pods_) {
      if (pod.where == ModelPod::kReady && (!best || ReadyLess(pod, *best))) best = &pod;
    }
    if (!best) {
      for (ModelPod& pod : pods_) {
        if (pod.where != ModelPod::kWaiting || pod.failed_by_error()) continue;
        if (!best || EndOf(pod) < EndOf(*best) || (EndOf(pod) == EndOf(*best) && ReadyLess(pod, *best))) best = &pod;
      }
    }
    if (!best) return nullptr;
    best->where = ModelPod::kFlying;
    best->missed.clear();
    ++best->attempts;
    best->unschedulable_plugins.clear();
    best->pending_plugins.clear();
    return best;
  }

  void Requeue(const std::string& uid, const PluginNames& unschedulable, const PluginNames& pending) {
    ModelPod* pod = Get(uid);
    if (!pod) return;
    pod->unschedulable_plugins = unschedulable;
    pod->pending_plugins = pending;
    if (pod->failed_by_error()) {
      ++pod->consecutive_errors;
    } else {
      ++pod->unschedulable_count;
      pod->consecutive_errors = 0;
    }
    pod->timestamp = clock_.Now();
    Strategy strategy = pod->failed_by_error() ? Strategy::kAfterBackoff : Strategy::kSkip;
    for (const HappenedEvent& happened : pod->missed) strategy = std::max(strategy, Worth(*pod, happened));
    pod->where = ModelPod::kAsleep;
    Move(*pod, strategy);
  }

  void OnEvent(const HappenedEvent& happened) {
    for (ModelPod& pod : pods_) {
      if (pod.where == ModelPod::kFlying) pod.missed.push_back(happened);
      if (pod.where != ModelPod::kAsleep) continue;
      if (pod.gated() && !happened.event.IsWildCard() && !ConcernsGate(pod, happened.event)) continue;
      Move(pod, Worth(pod, happened));
    }
  }

  void Activate(const std::string& uid) {
    ModelPod* pod = Get(uid);
    if (!pod) return;
    if (pod->where == ModelPod::kWaiting) pod->where = ModelPod::kReady;
    if (pod->where == ModelPod::kAsleep) ToReady(*pod);
    if (pod->where != ModelPod::kFlying) return;
    const auto about = pod->pod->shared_pod();
    for (ModelPod& other : pods_) {
      if (other.where == ModelPod::kFlying) other.missed.push_back({{}, {}, EventObject(about.get()), nullptr, about});
    }
  }

  void Flush() {
    bool overslept = false;
    for (ModelPod& pod : pods_) {
      if (pod.where == ModelPod::kWaiting && !BackingOff(pod)) pod.where = ModelPod::kReady;
    }
    for (ModelPod& pod : pods_) {
      if (pod.where != ModelPod::kAsleep) continue;
      if (clock_.Now() - std::max(pod.timestamp, pod.flushed) <= minutes(5)) continue;
      overslept = true;
      pod.flushed = clock_.Now();
      Move(pod, Strategy::kAfterBackoff);
    }
    for (ModelPod& pod : pods_) {
      if (overslept && pod.where == ModelPod::kFlying) pod.missed.push_back({});
    }
  }

  SchedulingQueue::Counts counts() const {
    SchedulingQueue::Counts counts;
    for (const ModelPod& pod : pods_) {
      if (pod.where == ModelPod::kReady) ++counts.active;
      if (pod.where == ModelPod::kWaiting) ++counts.backoff;
      if (pod.where == ModelPod::kAsleep) ++(pod.gated() ? counts.gated : counts.unschedulable);
      if (pod.where == ModelPod::kFlying) ++counts.in_flight;
    }
    return counts;
  }

  std::optional<base::Time> NextFlush() const {
    std::optional<base::Time> next;
    for (const ModelPod& pod : pods_) {
      std::optional<base::Time> due;
      if (pod.where == ModelPod::kWaiting) due = EndOf(pod) + seconds(1);
      if (pod.where == ModelPod::kAsleep) due = std::max(pod.timestamp, pod.flushed) + minutes(5) + base::Duration(1);
      if (due && (!next || *due < *next)) next = due;
    }
    return next;
  }

  ModelPod* Get(const std::string& uid) {
    const auto it = std::find_if(pods_.begin(), pods_.end(), [&](auto& pod) { return pod.pod->uid() == uid; });
    return it == pods_.end() ? nullptr : &*it;
  }

 private:
  const ProfileHooks& HooksOf(const ModelPod& pod) const { return profiles_.at(pod.pod->pod().spec.scheduler_name); }

  bool Gated(ModelPod& pod) {
    const Status status = HooksOf(pod).pre_enqueue(*pod.pod);
    pod.gating_plugin = status.ok() ? "" : std::string(status.plugin());
    if (!status.ok()) pod.unschedulable_plugins.insert(pod.gating_plugin);
    return !status.ok();
  }
  void ToReady(ModelPod& pod) { pod.where = Gated(pod) ? ModelPod::kAsleep : ModelPod::kReady; }

  void Move(ModelPod& pod, Strategy strategy) {
    if (strategy == Strategy::kSkip) return;
    if (strategy == Strategy::kImmediately || !BackingOff(pod)) return ToReady(pod);
    pod.where = Gated(pod) ? ModelPod::kAsleep : ModelPod::kWaiting;
  }

  base::Time EndOf(const ModelPod& pod) const {
    const int failures = pod.consecutive_errors > 0 ? pod.consecutive_errors : pod.unschedulable_count;
    if (failures == 0) return base::Time::min();
    const int wait = failures > 4 ? 10 : std::min(10, 1 << (failures - 1));
    return std::chrono::floor<seconds>(pod.timestamp + seconds(wait));
  }
  bool BackingOff(const ModelPod& pod) const { return EndOf(pod) >= std::chrono::floor<seconds>(clock_.Now()); }

  static bool ReadyLess(const ModelPod& a, const ModelPod& b) {
    return std::make_tuple(-a.pod->priority(), a.timestamp, a.arrival) <
           std::make_tuple(-b.pod->priority(), b.timestamp, b.arrival);
  }

  bool ConcernsGate(const ModelPod& pod, const ClusterEvent& event) const {
    for (const auto& [name, hooks] : profiles_) {
      const auto registered = hooks.events.find(pod.gating_plugin);
      if (registered == hooks.events.end()) continue;
      for (const auto& entry : registered->second) {
        if (entry.event.Covers(event)) return true;
      }
    }
    return false;
  }

  Strategy Worth(const ModelPod& pod, const HappenedEvent& happened) const {
    if (pod.failed_by_error()) return Strategy::kAfterBackoff;
    if (happened.event.IsWildCard()) {
      const api::Pod* about = happened.after.As<api::Pod>();
      const bool mine = happened.after.empty() || (about && about->metadata.uid == pod.pod->uid());
      return mine ? Strategy::kAfterBackoff : Strategy::kSkip;
    }
    Strategy strategy = Strategy::kSkip;
    for (const auto& [plugin, events] : HooksOf(pod).events) {
      const bool pending = pod.pending_plugins.contains(plugin);
      if (!pending && !pod.unschedulable_plugins.contains(plugin)) continue;
      for (const auto& entry : events) {
        if (!entry.event.Covers(happened.event)) continue;
        if (entry.hint && entry.hint(*pod.pod, happened.before, happened.after) == QueueingHint::kSkip) continue;
        strategy = std::max(strategy, pending ? Strategy::kImmediately : Strategy::kAfterBackoff);
      }
    }
    return strategy;
  }

  const base::Clock& clock_;
  const Profiles profiles_;
  int arrivals_ = 0;
  std::vector<ModelPod> pods_;
};

// Plugins that register for different events, in two profiles that differ.
class RandomHistory : public ::testing::TestWithParam<uint32_t> {
 protected:
  RandomHistory() : random_(GetParam()), model_(clock_, MakeProfiles()) {
    queue_ = std::make_unique<SchedulingQueue>(clock_, sort_, MakeProfiles(), SchedulingQueue::Options{});
  }

  Profiles MakeProfiles() {
    const auto same_name = [](const PodInfo& pod, const EventObject& before, const EventObject& after) {
      const api::Pod* about = after.As<api::Pod>() ? after.As<api::Pod>() : before.As<api::Pod>();
      return about && about->metadata.name.back() == pod.name().back() ? QueueingHint::kQueue : QueueingHint::kSkip;
    };
    const auto never = [](const PodInfo&, const EventObject&, const EventObject&) { return QueueingHint::kSkip; };
    ProfileHooks one;
    one.pre_enqueue = [this](const PodInfo& pod) {
      if (shut_.contains("Gate:" + pod.name())) return Status::Unschedulable("shut").WithPlugin("Gate");
      if (shut_.contains("Door:" + pod.name())) return Status::Unschedulable("shut").WithPlugin("Door");
      return Status::Success();
    };
    one.events["Fit"] = {{{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeAllocatable}, nullptr},
                         {{EventResource::kPod, ActionType::kDelete}, same_name}};
    one.events["Picky"] = {{{EventResource::kPod, ActionType::kAdd | ActionType::kDelete}, same_name}};
    one.events["Stubborn"] = {{{EventResource::kNode, ActionType::kAll}, never}};
    one.events["Outside"] = {{{EventResource::kPersistentVolumeClaim, ActionType::kUpdate}, nullptr},
                             {{EventResource::kPod, ActionType::kUpdatePodToleration}, nullptr}};
    one.events["Labels"] = {{{EventResource::kPod, ActionType::kUpdatePodLabel}, nullptr}};
    one.events["Gate"] = {{{EventResource::kUnschedulablePod, ActionType::kUpdatePodLabel}, same_name},
                          {{EventResource::kNode, ActionType::kDelete}, nullptr}};
    ProfileHooks two = one;
    two.events["Any"] = {{{EventResource::kWildCard, ActionType::kAll}, same_name}};
    two.events["Door"] = {{{EventResource::kNode, ActionType::kAdd}, nullptr}};
    two.events.erase("Fit");
    return {{"one", one}, {"two", two}};
  }

  int Roll(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  std::string AName() { return "pod-" + std::to_string(Roll(24)); }

  PodInfoPtr APod(const std::string& name) {
    auto builder = testing::MakePod(name).Uid(name).Priority(Roll(3));
    if (Roll(2)) builder.Label("x", std::to_string(Roll(2)));
    if (Roll(3) == 0) builder.Tolerate("t");
    auto pod = builder.Obj();
    pod.spec.scheduler_name = name.back() % 2 ? "one" : "two";
    return PodInfo::Make(std::make_shared<const api::Pod>(std::move(pod)), {});
  }

  PluginNames SomePlugins(int at_most) {
    static const std::vector<std::string> kNames = {"Fit", "Picky", "Stubborn", "Outside", "Labels", "Any", "Unheard"};
    PluginNames names;
    for (int n = Roll(at_most + 1); n > 0; --n) names.insert(kNames[Roll(static_cast<int>(kNames.size()))]);
    return names;
  }

  HappenedEvent AnEvent() {
    static const std::vector<ClusterEvent> kEvents = {
        {},
        {EventResource::kNode, ActionType::kAdd},
        {EventResource::kNode, ActionType::kDelete},
        {EventResource::kNode, ActionType::kUpdateNodeTaint},
        {EventResource::kAssignedPod, ActionType::kAdd},
        {EventResource::kAssignedPod, ActionType::kDelete},
        {EventResource::kAssignedPod, ActionType::kUpdatePodLabel},
        {EventResource::kPersistentVolumeClaim, ActionType::kUpdate},
        {EventResource::kPersistentVolumeClaim, ActionType::kAdd},
        {EventResource::kStorageClass, ActionType::kAdd},
    };
    HappenedEvent happened;
    happened.event = kEvents[Roll(static_cast<int>(kEvents.size()))];
    if (happened.event.IsWildCard() && Roll(3)) return happened;
    const auto about = APod(AName())->shared_pod();
    happened.after = EventObject(about.get());
    happened.after_owner = about;
    return happened;
  }

  void PopBoth() {
    const QueuedPod* fast = queue_->Pop();
    const QueuedPod* slow = model_.Pop();
    ASSERT_EQ(fast ? fast->pod->name() : "none", slow ? slow->pod->name() : "none");
    if (fast) flying_.push_back(fast->pod->name());
  }
  std::optional<std::string> TakeFlying() {
    if (flying_.empty()) return std::nullopt;
    std::swap(flying_[Roll(static_cast<int>(flying_.size()))], flying_.back());
    std::string name = flying_.back();
    flying_.pop_back();
    return name;
  }
  void ForgetFlying(const std::string& name) { std::erase(flying_, name); }

  void Step() {
    const int roll = Roll(100);
    if (roll < 14) {
      const std::string name = AName();
      const PodInfoPtr pod = APod(name);
      ForgetFlying(name);
      queue_->Add(pod);
      model_.Add(pod);
    } else if (roll < 36) {
      PopBoth();
    } else if (roll < 56) {
      if (const auto name = TakeFlying()) {
        const PluginNames unschedulable = SomePlugins(2), pending = SomePlugins(Roll(2));
        queue_->Requeue(*name, queue_->Find(*name)->ticket, unschedulable, pending);
        model_.Requeue(*name, unschedulable, pending);
      }
    } else if (roll < 60) {
      if (const auto name = TakeFlying()) {
        queue_->Done(*name, queue_->Find(*name)->ticket);
        model_.Delete(*name);
      }
    } else if (roll < 76) {
      const HappenedEvent happened = AnEvent();
      queue_->OnEvent(happened);
      model_.OnEvent(happened);
    } else if (roll < 84) {
      const PodInfoPtr pod = APod(AName());
      queue_->Update(pod);
      model_.Update(pod);
    } else if (roll < 86) {
      const std::string name = AName();
      ForgetFlying(name);
      queue_->Delete(name);
      model_.Delete(name);
    } else if (roll < 89) {
      const std::string name = AName();
      queue_->Activate(name);
      model_.Activate(name);
    } else if (roll < 93) {
      const std::string gate = (Roll(2) ? "Gate:" : "Door:") + AName();
      if (!shut_.erase(gate)) shut_.insert(gate);
    } else if (roll < 95) {
      queue_->Flush();
      model_.Flush();
    } else {
      static const std::vector<base::Duration> kSteps = {milliseconds(1), milliseconds(700), seconds(1), seconds(4),
                                                         minutes(2)};
      clock_.Advance(kSteps[Roll(static_cast<int>(kSteps.size()))]);
    }
  }

  void Compare() {
    const SchedulingQueue::Counts fast = queue_->counts(), slow = model_.counts();
    ASSERT_EQ(fast.active, slow.active);
    ASSERT_EQ(fast.backoff, slow.backoff);
    ASSERT_EQ(fast.unschedulable, slow.unschedulable);
    ASSERT_EQ(fast.gated, slow.gated);
    ASSERT_EQ(fast.in_flight, slow.in_flight);
    ASSERT_EQ(queue_->NextFlush(), model_.NextFlush());
    for (int i = 0; i < 24; ++i) {
      const std::string uid = "pod-" + std::to_string(i);
      const QueuedPod* a = queue_->Find(uid);
      const QueuedPod* b = model_.Get(uid);
      ASSERT_EQ(a != nullptr, b != nullptr) << uid;
      if (!a) continue;
      ASSERT_EQ(a->pod, b->pod) << uid;
      ASSERT_EQ(a->timestamp, b->timestamp) << uid;
      ASSERT_EQ(a->attempts, b->attempts) << uid;
      ASSERT_EQ(a->gating_plugin, b->gating_plugin) << uid;
      ASSERT_EQ(a->unschedulable_plugins, b->unschedulable_plugins) << uid;
      ASSERT_EQ(a->pending_plugins, b->pending_plugins) << uid;
      ASSERT_EQ(a->consecutive_errors, b->consecutive_errors) << uid;
      ASSERT_EQ(a->unschedulable_count, b->unschedulable_count) << uid;
    }
  }

  std::mt19937 random_;
  base::FakeClock clock_{base::Time(seconds(1000))};
  testing::ByPriorityThenTime sort_;
  std::set<std::string> shut_;
  std::unique_ptr<SchedulingQueue> queue_;
  ModelQueue model_;
  std::vector<std::string> flying_;
};

TEST_P(RandomHistory, IsTheSameAsTheSlowTwins) {
  for (int step = 0; step < 3000; ++step) {
    ASSERT_NO_FATAL_FAILURE(Step()) << "step " << step;
    ASSERT_NO_FATAL_FAILURE(Compare()) << "step " << step;
  }
  while (queue_->counts().active + queue_->counts().backoff > 0) {
    clock_.Advance(seconds(20));
    ASSERT_NO_FATAL_FAILURE(PopBoth());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomHistory, ::testing::Range(1u, 21u));

}  // namespace
}  // namespace berth::queue
