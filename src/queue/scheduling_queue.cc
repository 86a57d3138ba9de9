#include "queue/scheduling_queue.h"

#include <algorithm>

#include "base/check.h"

namespace berth::queue {

using framework::ActionType;
using framework::ClusterEvent;
using framework::EventResource;
using framework::PodInfoPtr;
using framework::QueueingHint;

bool SchedulingQueue::BackoffOrder::operator()(const Entry* a, const Entry* b) const {
  const base::Time ends_a = queue->backoff_rule_.EndOf(*const_cast<Entry*>(a));
  const base::Time ends_b = queue->backoff_rule_.EndOf(*const_cast<Entry*>(b));
  if (ends_a != ends_b) return ends_a < ends_b;
  return windows_by_priority ? queue->ActiveLess(*a, *b) : a->sequence < b->sequence;
}

SchedulingQueue::SchedulingQueue(const base::Clock& clock, const framework::QueueSortPlugin& sort,
                                 std::map<std::string, ProfileHooks> profiles, Options options)
    : clock_(clock),
      sort_(sort),
      profiles_(std::move(profiles)),
      options_(options),
      backoff_rule_(clock, options.initial_backoff, options.max_backoff),
      active_(ActiveOrder{this}),
      backoff_(BackoffOrder{this, true}),
      error_backoff_(BackoffOrder{this, false}) {}

SchedulingQueue::~SchedulingQueue() = default;

bool SchedulingQueue::ActiveLess(const Entry& a, const Entry& b) const {
  const framework::QueuedPodView view_a{*a.pod, a.timestamp}, view_b{*b.pod, b.timestamp};
  if (sort_.Less(view_a, view_b)) return true;
  if (sort_.Less(view_b, view_a)) return false;
  return a.sequence < b.sequence;
}

const ProfileHooks& SchedulingQueue::HooksOf(const QueuedPod& pod) const {
  const std::string& name = pod.pod->pod().spec.scheduler_name;
  const auto it = profiles_.find(name.empty() ? "default-scheduler" : name);
  CHECK_WHY(it != profiles_.end(), "pods of other schedulers must not be queued");
  return it->second;
}

void SchedulingQueue::Leave(Entry& entry) {
  switch (entry.place) {
    case Place::kActive:
      active_.erase(&entry);
      break;
    case Place::kBackoff:
      backoff_.erase(&entry);
      break;
    case Place::kErrorBackoff:
      error_backoff_.erase(&entry);
      break;
    case Place::kUnschedulable:
      unschedulable_.erase(entry.SleepKey());
      break;
    case Place::kInFlight:
      in_flight_.End(entry.pod->uid());
      break;
  }
}

void SchedulingQueue::Enter(Entry& entry, Place place) {
  entry.place = place;
  switch (place) {
    case Place::kActive:
      active_.insert(&entry);
      break;
    case Place::kBackoff:
      backoff_.insert(&entry);
      break;
    case Place::kErrorBackoff:
      error_backoff_.insert(&entry);
      break;
    case Place::kUnschedulable:
      unschedulable_.insert(entry.SleepKey());
      break;
    case Place::kInFlight:
      in_flight_.Begin(entry.pod->uid());
      break;
  }
}

// Gates are asked on the way into a place from which pods are popped; a pod taken early from backoff passed them then.
void SchedulingQueue::EnterActive(Entry& entry) {
  if (!PassesGates(entry)) return Enter(entry, Place::kUnschedulable);
  if (!entry.first_attempt) entry.first_attempt = clock_.Now();
  Enter(entry, Place::kActive);
}

void SchedulingQueue::EnterBackoff(Entry& entry) {
  if (!PassesGates(entry)) return Enter(entry, Place::kUnschedulable);
  const bool error = entry.unschedulable_plugins.empty() && entry.pending_plugins.empty();
  Enter(entry, error ? Place::kErrorBackoff : Place::kBackoff);
}

bool SchedulingQueue::PassesGates(Entry& entry) const {
  const framework::Status status = HooksOf(entry).pre_enqueue(*entry.pod);
  entry.gating_plugin = status.ok() ? std::string() : std::string(status.plugin());
  if (!status.ok()) entry.unschedulable_plugins.insert(entry.gating_plugin);
  return status.ok();
}

void SchedulingQueue::Add(PodInfoPtr pod) {
  const std::string uid = pod->uid();
  Delete(uid);
  auto owned = std::make_unique<Entry>();
  Entry& entry = *owned;
  entry.pod = std::move(pod);
  entry.timestamp = clock_.Now();
  entry.sequence = next_sequence_++;
  entries_[uid] = std::move(owned);
  EnterActive(entry);
}

void SchedulingQueue::Update(PodInfoPtr pod) {
  const auto it = entries_.find(pod->uid());
  if (it == entries_.end()) return Add(std::move(pod));
  Entry& entry = *it->second;
  const std::shared_ptr<const api::Pod> before = entry.pod->shared_pod(), after = pod->shared_pod();
  const std::vector<ClusterEvent> events =
      framework::EventsOf(EventResource::kUnschedulablePod, framework::PodUpdateActions(*before, *after));
  const auto happened = [&](const ClusterEvent& event) {
    return HappenedEvent{event, framework::EventObject(before.get()), framework::EventObject(after.get()), before,
                         after};
  };
  if (entry.place == Place::kInFlight) {
    entry.pod = std::move(pod);
    for (const ClusterEvent& event : events) in_flight_.Record(happened(event));
    return;
  }
  Leave(entry);
  entry.pod = std::move(pod);
  if (entry.place != Place::kUnschedulable) return Enter(entry, entry.place);
  Strategy strategy = Strategy::kSkip;
  for (const ClusterEvent& event : events) strategy = std::max(strategy, WorthRequeuing(entry, happened(event)));
  Requeue(entry, strategy);
}

void SchedulingQueue::Delete(const std::string& uid) {
  const auto it = entries_.find(uid);
  if (it == entries_.end()) return;
  Leave(*it->second);
  entries_.erase(it);
}

const QueuedPod* SchedulingQueue::Pop() {
  Flush();
  auto take = [this](auto& set) -> Entry* { return set.empty() ? nullptr : *set.begin(); };
  Entry* entry = take(active_);
  if (!entry) entry = take(backoff_);
  if (!entry) return nullptr;
  Leave(*entry);
  ++entry->attempts;
  entry->unschedulable_plugins.clear();
  entry->pending_plugins.clear();
  entry->gating_plugin.clear();
  if (!entry->first_attempt) entry->first_attempt = clock_.Now();
  Enter(*entry, Place::kInFlight);
  return entry;
}

void SchedulingQueue::Done(const std::string& uid) { Delete(uid); }

void SchedulingQueue::Requeue(const std::string& uid, PluginNames unschedulable_plugins, PluginNames pending_plugins) {
  const auto it = entries_.find(uid);
  if (it == entries_.end()) return;  // deleted meanwhile
  Entry& entry = *it->second;
  CHECK(entry.place == Place::kInFlight);
  entry.unschedulable_plugins = std::move(unschedulable_plugins);
  entry.pending_plugins = std::move(pending_plugins);
  if (entry.unschedulable_plugins.empty() && entry.pending_plugins.empty()) {
    ++entry.consecutive_errors;
  } else {
    ++entry.unschedulable_count;
    entry.consecutive_errors = 0;
  }
  entry.timestamp = clock_.Now();
  entry.backoff_ends.reset();
  const Strategy strategy = WorthRequeuingAfterFlight(entry);
  Leave(entry);
  Requeue(entry, strategy);
}

void SchedulingQueue::Requeue(Entry& entry, Strategy strategy) {
  if (strategy == Strategy::kSkip) return Enter(entry, Place::kUnschedulable);
  if (strategy == Strategy::kAfterBackoff && backoff_rule_.IsBackingOff(entry)) return EnterBackoff(entry);
  EnterActive(entry);
}

SchedulingQueue::Strategy SchedulingQueue::WorthRequeuingAfterFlight(const QueuedPod& pod) const {
  if (pod.unschedulable_plugins.empty() && pod.pending_plugins.empty()) return Strategy::kAfterBackoff;
  Strategy strategy = Strategy::kSkip;
  in_flight_.ForEachSince(pod.pod->uid(), [&](const HappenedEvent& happened) {
    strategy = std::max(strategy, WorthRequeuing(pod, happened));
    // Once it is worth it, only a plugin that waits for the outside can make it more urgent.
    return strategy == Strategy::kSkip || (strategy == Strategy::kAfterBackoff && !pod.pending_plugins.empty());
  });
  return strategy;
}

SchedulingQueue::Strategy SchedulingQueue::WorthRequeuing(const QueuedPod& pod, const HappenedEvent& happened) const {
  if (pod.unschedulable_plugins.empty() && pod.pending_plugins.empty()) return Strategy::kAfterBackoff;
  if (happened.event.IsWildCard()) {
    const api::Pod* about = happened.after.As<api::Pod>();
    if (!happened.after.empty() && (!about || about->metadata.uid != pod.pod->uid())) return Strategy::kSkip;
    return Strategy::kAfterBackoff;
  }
  Strategy strategy = Strategy::kSkip;
  const auto& events = HooksOf(pod).events;
  const auto ask = [&](const std::string& plugin, Strategy if_so) {
    const auto registered = events.find(plugin);
    if (registered == events.end()) return;
    for (const framework::ClusterEventWithHint& entry : registered->second) {
      if (!entry.event.Covers(happened.event)) continue;
      if (!entry.hint || entry.hint(*pod.pod, happened.before, happened.after) == QueueingHint::kQueue) {
        strategy = std::max(strategy, if_so);
      }
    }
  };
  for (const std::string& plugin : pod.pending_plugins) ask(plugin, Strategy::kImmediately);
  for (const std::string& plugin : pod.unschedulable_plugins) {
    if (strategy != Strategy::kSkip) break;
    ask(plugin, Strategy::kAfterBackoff);
  }
  return strategy;
}

bool SchedulingQueue::ConcernsGate(const QueuedPod& pod, const ClusterEvent& event) const {
  const auto& events = HooksOf(pod).events;
  const auto registered = events.find(pod.gating_plugin);
  return registered != events.end() &&
         std::any_of(registered->second.begin(), registered->second.end(),
                     [&](const framework::ClusterEventWithHint& entry) { return entry.event.Covers(event); });
}

void SchedulingQueue::OnEvent(HappenedEvent happened) {
  for (const std::string& uid : Sleepers()) {
    Entry& entry = *entries_.at(uid);
    if (entry.gated() && !happened.event.IsWildCard() && !ConcernsGate(entry, happened.event)) continue;
    const Strategy strategy = WorthRequeuing(entry, happened);
    if (strategy == Strategy::kSkip) continue;
    Leave(entry);
    Requeue(entry, strategy);
  }
  in_flight_.Record(std::move(happened));
}

void SchedulingQueue::Activate(const std::string& uid) {
  const auto it = entries_.find(uid);
  if (it == entries_.end()) return;
  Entry& entry = *it->second;
  if (entry.place == Place::kActive) return;
  if (entry.place == Place::kInFlight) {
    // Remembered for when it comes back: a wildcard about this pod alone.
    const std::shared_ptr<const api::Pod> about = entry.pod->shared_pod();
    in_flight_.Record({ClusterEvent{}, {}, framework::EventObject(about.get()), nullptr, about});
    return;
  }
  Leave(entry);
  EnterActive(entry);
}

void SchedulingQueue::Flush() {
  for (auto* set : {&backoff_, &error_backoff_}) {
    while (!set->empty() && !backoff_rule_.IsBackingOff(**set->begin())) {
      Entry& entry = **set->begin();
      Leave(entry);
      Enter(entry, Place::kActive);
    }
  }
  std::vector<Entry*> overslept;
  for (const auto& [since, uid] : unschedulable_) {
    if (clock_.Now() - since <= options_.max_unschedulable) break;
    overslept.push_back(entries_.at(uid).get());
  }
  for (Entry* entry : overslept) {
    Leave(*entry);
    entry->flushed = clock_.Now();
    Requeue(*entry, Strategy::kAfterBackoff);
  }
}

std::vector<std::string> SchedulingQueue::Sleepers() const {
  std::vector<std::string> uids;
  uids.reserve(unschedulable_.size());
  for (const auto& [since, uid] : unschedulable_) uids.push_back(uid);
  return uids;
}

std::optional<base::Time> SchedulingQueue::NextFlush() {
  std::optional<base::Time> next;
  const auto consider = [&](base::Time time) { next = next ? std::min(*next, time) : time; };
  for (auto* set : {&backoff_, &error_backoff_}) {
    if (!set->empty()) consider(Backoff::OverAt(backoff_rule_.EndOf(**set->begin())));
  }
  if (!unschedulable_.empty()) consider(unschedulable_.begin()->first + options_.max_unschedulable + base::Duration(1));
  return next;
}

SchedulingQueue::Counts SchedulingQueue::counts() const {
  Counts counts;
  counts.active = active_.size();
  counts.backoff = backoff_.size() + error_backoff_.size();
  for (const auto& [since, uid] : unschedulable_) ++(entries_.at(uid)->gated() ? counts.gated : counts.unschedulable);
  counts.in_flight = entries_.size() - counts.active - counts.backoff - counts.unschedulable - counts.gated;
  return counts;
}

const QueuedPod* SchedulingQueue::Find(const std::string& uid) const {
  const auto it = entries_.find(uid);
  return it == entries_.end() ? nullptr : it->second.get();
}

}  // namespace berth::queue
