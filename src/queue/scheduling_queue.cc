#include "queue/scheduling_queue.h"

#include <algorithm>

#include "base/check.h"

namespace berth::queue {

using framework::ClusterEvent;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfoPtr;

namespace {

// Upstream's names for causes that are no cluster events.
constexpr std::string_view kPodAdded = "UnschedulablePodAdd";
constexpr std::string_view kAttemptFailed = "ScheduleAttemptFailure";
constexpr std::string_view kBackoffOver = "BackoffComplete";
constexpr std::string_view kPoppedFromBackoff = "PopFromBackoffQ";
constexpr std::string_view kForcedActive = "ForceActivate";
constexpr std::string_view kSleptTooLong = "UnschedulableTimeout";
// Not one of upstream's, which cannot change its configuration at run time.
constexpr std::string_view kReconfigured = "ConfigurationChanged";

}  // namespace

SchedulingQueue::SchedulingQueue(const base::Clock& clock, const framework::QueueSortPlugin& sort,
                                 std::map<std::string, ProfileHooks> profiles, Options options)
    : clock_(clock),
      options_(options),
      backoff_rule_(clock, options.initial_backoff, options.max_backoff),
      active_(LineOrder(PodState::kActive, sort, backoff_rule_)),
      backoff_(LineOrder(PodState::kBackoff, sort, backoff_rule_)),
      error_backoff_(LineOrder(PodState::kErrorBackoff, sort, backoff_rule_)),
      unschedulable_(LineOrder(PodState::kUnschedulable, sort, backoff_rule_)),
      rejections_(std::move(profiles)) {}

SchedulingQueue::~SchedulingQueue() = default;

const Line* SchedulingQueue::LineOf(PodState state) const {
  switch (state) {
    case PodState::kActive:
      return &active_;
    case PodState::kBackoff:
      return &backoff_;
    case PodState::kErrorBackoff:
      return &error_backoff_;
    case PodState::kUnschedulable:
      return &unschedulable_;
    case PodState::kInFlight:
    case PodState::kBinding:
      break;
  }
  return nullptr;
}

void SchedulingQueue::Leave(WaitingPod& pod) {
  if (Line* line = LineOf(pod.state)) LeaveLine(*line, pod);
  if (pod.state == PodState::kInFlight) in_flight_.End(pod.events_since);
  if (pod.state == PodState::kUnschedulable) rejections_.Remove(pod);
}

void SchedulingQueue::Enter(WaitingPod& pod, PodState state) {
  pod.state = state;
  if (Line* line = LineOf(state)) EnterLine(*line, pod);
  if (state == PodState::kInFlight) pod.events_since = in_flight_.Begin();
  if (state == PodState::kUnschedulable) rejections_.Add(pod);
}

void SchedulingQueue::Arrive(WaitingPod& pod, PodState state, std::string_view cause) {
  Enter(pod, state);
  if (observer_) observer_(state, cause);
}

// PreEnqueue runs on the way into a state from which pods are popped; a pod popped early from backoff passed it then.
void SchedulingQueue::EnterActive(WaitingPod& pod, std::string_view cause) {
  if (!PassesGates(pod)) {
    pod.slept_too_long = false;  // it will not be tried
    return Arrive(pod, PodState::kUnschedulable, cause);
  }
  if (!pod.first_attempt) pod.first_attempt = clock_.Now();
  Arrive(pod, PodState::kActive, cause);
}

void SchedulingQueue::EnterBackoff(WaitingPod& pod, std::string_view cause) {
  if (!PassesGates(pod)) {
    pod.slept_too_long = false;
    return Arrive(pod, PodState::kUnschedulable, cause);
  }
  const bool error = pod.unschedulable_plugins.empty() && pod.pending_plugins.empty();
  Arrive(pod, error ? PodState::kErrorBackoff : PodState::kBackoff, cause);
}

bool SchedulingQueue::PassesGates(WaitingPod& pod) const {
  const framework::Status status = rejections_.hooks(pod.profile).pre_enqueue(*pod.pod);
  if (status.ok()) {
    pod.gating_plugin.clear();
    return true;
  }
  pod.gating_plugin = status.plugin();
  pod.unschedulable_plugins.insert(pod.gating_plugin);
  return false;
}

void SchedulingQueue::Add(PodInfoPtr pod) {
  const auto [it, fresh] = pods_.try_emplace(pod->uid());
  if (!fresh) {
    Delete(pod->uid());
    return Add(std::move(pod));
  }
  WaitingPod& added = it->second;
  added.profile = rejections_.ProfileOf(*pod);
  added.pod = std::move(pod);
  added.timestamp = clock_.Now();
  added.sequence = next_sequence_++;
  EnterActive(added, kPodAdded);
}

void SchedulingQueue::Replace(Pods::iterator it, PodInfoPtr pod) {
  Pods::node_type node = pods_.extract(it);
  node.key() = pod->uid();
  node.mapped().profile = rejections_.ProfileOf(*pod);
  node.mapped().pod = std::move(pod);
  pods_.insert(std::move(node));
}

void SchedulingQueue::Update(PodInfoPtr pod) {
  const auto it = pods_.find(pod->uid());
  if (it == pods_.end()) return Add(std::move(pod));
  WaitingPod& updated = it->second;
  const std::shared_ptr<const api::Pod> before = updated.pod->shared_pod(), after = pod->shared_pod();
  const bool flying = updated.state == PodState::kInFlight;
  if (updated.state == PodState::kBinding) return Replace(it, std::move(pod));
  if (!flying) Leave(updated);
  Replace(it, std::move(pod));
  if (!flying) Enter(updated, updated.state);
  if (!flying && updated.state != PodState::kUnschedulable) return;

  for (const ClusterEvent& event :
       framework::EventsOf(EventResource::kUnschedulablePod, framework::PodUpdateActions(*before, *after))) {
    HappenedEvent happened{event, EventObject(before.get()), EventObject(after.get()), before, after};
    if (flying) {
      Record(std::move(happened));
      continue;
    }
    const Strategy strategy = rejections_.WorthRequeuing(updated, happened);
    if (strategy == Strategy::kSkip) continue;
    Leave(updated);
    Requeue(updated, strategy, LabelOf(event));
    if (updated.state != PodState::kUnschedulable) return;
  }
}

void SchedulingQueue::Delete(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  Leave(it->second);
  pods_.erase(it);
}

const QueuedPod* SchedulingQueue::Pop() {
  Flush();
  Line& line = active_.empty() ? backoff_ : active_;
  if (line.empty()) return nullptr;
  WaitingPod& pod = **line.begin();
  if (observer_ && pod.state == PodState::kBackoff) observer_(PodState::kActive, kPoppedFromBackoff);
  Leave(pod);
  ++pod.attempts;
  pod.unschedulable_plugins.clear();
  pod.pending_plugins.clear();
  pod.gating_plugin.clear();
  if (!pod.first_attempt) pod.first_attempt = clock_.Now();
  pod.ticket = base::Ticket{++last_ticket_};
  Enter(pod, PodState::kInFlight);
  return &pod;
}

// Null when the pod was deleted meanwhile, or came back and belongs to another attempt.
WaitingPod* SchedulingQueue::OfAttempt(const std::string& uid, base::Ticket ticket) {
  const auto it = pods_.find(uid);
  return it == pods_.end() || ticket == base::Ticket::kNone || it->second.ticket != ticket ? nullptr : &it->second;
}

const QueuedPod* SchedulingQueue::FindAttempt(const std::string& uid, base::Ticket ticket) const {
  return const_cast<SchedulingQueue*>(this)->OfAttempt(uid, ticket);
}

void SchedulingQueue::Bind(const std::string& uid, base::Ticket ticket) {
  WaitingPod* pod = OfAttempt(uid, ticket);
  if (pod == nullptr) return;
  CHECK(pod->state == PodState::kInFlight);
  Leave(*pod);
  Enter(*pod, PodState::kBinding);
}

void SchedulingQueue::Done(const std::string& uid, base::Ticket ticket) {
  if (OfAttempt(uid, ticket) != nullptr) Delete(uid);
}

void SchedulingQueue::Requeue(const std::string& uid, base::Ticket ticket, PluginNames unschedulable_plugins,
                              PluginNames pending_plugins) {
  WaitingPod* const found = OfAttempt(uid, ticket);
  if (found == nullptr) return;
  WaitingPod& pod = *found;
  pod.unschedulable_plugins = std::move(unschedulable_plugins);
  pod.pending_plugins = std::move(pending_plugins);
  if (pod.unschedulable_plugins.empty() && pod.pending_plugins.empty()) {
    ++pod.consecutive_errors;
  } else {
    ++pod.unschedulable_count;
    pod.consecutive_errors = 0;
  }
  pod.timestamp = clock_.Now();
  pod.backoff_ends.reset();
  pod.slept_too_long = false;
  const Strategy strategy = WorthRequeuingAfterFlight(pod);
  pod.ticket = base::Ticket::kNone;
  Leave(pod);
  Requeue(pod, strategy, kAttemptFailed);
}

void SchedulingQueue::Requeue(WaitingPod& pod, Strategy strategy, std::string_view cause) {
  if (strategy == Strategy::kSkip) return Arrive(pod, PodState::kUnschedulable, cause);
  if (strategy == Strategy::kAfterBackoff && backoff_rule_.IsBackingOff(pod)) return EnterBackoff(pod, cause);
  EnterActive(pod, cause);
}

Strategy SchedulingQueue::WorthRequeuingAfterFlight(const WaitingPod& pod) {
  const bool error = pod.unschedulable_plugins.empty() && pod.pending_plugins.empty();
  if (error || pod.state == PodState::kBinding) return Strategy::kAfterBackoff;
  Strategy strategy = Strategy::kSkip;
  in_flight_.ForEachSince(pod.events_since, [&](const HappenedEvent& happened) {
    strategy = std::max(strategy, rejections_.WorthRequeuing(pod, happened));
    // Once requeuing is worth it, only a plugin that waits for an external event can make it more urgent.
    return strategy == Strategy::kSkip || (strategy == Strategy::kAfterBackoff && !pod.pending_plugins.empty());
  });
  return strategy;
}

// An event that no plugin registered for helps no pod.
void SchedulingQueue::Record(HappenedEvent happened) {
  if (rejections_.Concerns(happened.event)) in_flight_.Record(std::move(happened));
}

void SchedulingQueue::OnEvent(HappenedEvent happened, std::string_view except) {
  if (!rejections_.Concerns(happened.event)) return;
  waking_.clear();
  rejections_.FindWorthRequeuing(happened, waking_);
  const std::string cause = waking_.empty() ? std::string() : LabelOf(happened.event);
  for (const auto& [pod, strategy] : waking_) {
    if (pod->pod->uid() == except) continue;
    Leave(*pod);
    Requeue(*pod, strategy, cause);
  }
  in_flight_.Record(std::move(happened));
}

void SchedulingQueue::Activate(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  WaitingPod& pod = it->second;
  switch (pod.state) {
    case PodState::kActive:
    case PodState::kBinding:
      return;
    case PodState::kInFlight: {
      // Remembered until the pod is requeued: a wildcard event about this pod alone.
      const std::shared_ptr<const api::Pod> about = pod.pod->shared_pod();
      return in_flight_.Record({ClusterEvent{}, {}, EventObject(about.get()), nullptr, about});
    }
    case PodState::kBackoff:
    case PodState::kErrorBackoff:  // it passed its gates when it entered this state
      Leave(pod);
      return Arrive(pod, PodState::kActive, kForcedActive);
    case PodState::kUnschedulable:
      Leave(pod);
      return EnterActive(pod, kForcedActive);
  }
}

void SchedulingQueue::Reconfigure(const framework::QueueSortPlugin& sort, std::map<std::string, ProfileHooks> profiles,
                                  Options options) {
  std::vector<WaitingPod*> waiting;
  for (auto& [uid, pod] : pods_) {
    if (LineOf(pod.state) == nullptr) continue;
    Leave(pod);
    pod.backoff_ends.reset();
    waiting.push_back(&pod);
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const WaitingPod* a, const WaitingPod* b) { return a->sequence < b->sequence; });
  options_ = options;
  backoff_rule_ = PodBackoff(clock_, options.initial_backoff, options.max_backoff);
  for (const PodState state :
       {PodState::kActive, PodState::kBackoff, PodState::kErrorBackoff, PodState::kUnschedulable}) {
    *LineOf(state) = Line(LineOrder(state, sort, backoff_rule_));
  }
  rejections_.Reset(std::move(profiles));
  for (auto& [uid, pod] : pods_) pod.profile = rejections_.ProfileOf(*pod.pod);
  for (WaitingPod* pod : waiting) {
    if (pod->state == PodState::kActive) {
      EnterActive(*pod, kReconfigured);
    } else {
      Requeue(*pod, Strategy::kAfterBackoff, kReconfigured);
    }
  }
  in_flight_.Record({});
}

void SchedulingQueue::Flush() {
  for (Line* line : {&backoff_, &error_backoff_}) {
    while (!line->empty() && !backoff_rule_.IsBackingOff(**line->begin())) {
      WaitingPod& pod = **line->begin();
      Leave(pod);
      Arrive(pod, PodState::kActive, kBackoffOver);
    }
  }
  if (unschedulable_.empty()) return;
  const base::Time now = clock_.Now();
  waking_.clear();
  for (WaitingPod* pod : unschedulable_) {
    if (now - pod->asleep_since() <= options_.max_unschedulable) break;
    waking_.emplace_back(pod, Strategy::kAfterBackoff);
  }
  if (waking_.empty()) return;
  for (const auto& [pod, strategy] : waking_) {
    Leave(*pod);
    pod->flushed = now;
    pod->slept_too_long = true;
    Requeue(*pod, strategy, kSleptTooLong);
  }
  // For pods in flight it is a wildcard event like any other.
  in_flight_.Record({});
}

std::optional<base::Time> SchedulingQueue::NextFlush() {
  std::optional<base::Time> next;
  const auto consider = [&](base::Time time) { next = next ? std::min(*next, time) : time; };
  for (const Line* line : {&backoff_, &error_backoff_}) {
    if (!line->empty()) consider(PodBackoff::OverAt(backoff_rule_.EndOf(**line->begin())));
  }
  if (!unschedulable_.empty()) {
    consider((*unschedulable_.begin())->asleep_since() + options_.max_unschedulable + base::Duration(1));
  }
  return next;
}

std::optional<base::Time> SchedulingQueue::DueAt(const WaitingPod& pod) const {
  if (pod.state == PodState::kBackoff || pod.state == PodState::kErrorBackoff) {
    return PodBackoff::OverAt(backoff_rule_.EndOf(static_cast<const QueuedPod&>(pod)));
  }
  if (pod.state != PodState::kUnschedulable || pod.gated()) return std::nullopt;
  return pod.asleep_since() + options_.max_unschedulable;
}

SchedulingQueue::Counts SchedulingQueue::counts() const {
  Counts counts;
  counts.active = active_.size();
  counts.backoff = backoff_.size() + error_backoff_.size();
  counts.gated = rejections_.gated();
  counts.unschedulable = unschedulable_.size() - counts.gated;
  counts.in_flight = in_flight_.in_flight();
  return counts;
}

SchedulingQueue::Saved SchedulingQueue::Save() const {
  Saved saved{{}, next_sequence_, last_ticket_};
  for (const auto& [uid, pod] : pods_) {
    CHECK_WHY(pod.state != PodState::kInFlight, "what happened since a pod was taken cannot be saved");
    saved.pods.push_back({pod, pod.state, pod.sequence, pod.flushed});
  }
  std::sort(saved.pods.begin(), saved.pods.end(),
            [](const Saved::Pod& a, const Saved::Pod& b) { return a.sequence < b.sequence; });
  return saved;
}

void SchedulingQueue::Restore(const Saved& saved) {
  CHECK(pods_.empty());
  for (const Saved::Pod& from : saved.pods) {
    const auto [it, fresh] = pods_.try_emplace(from.queued.pod->uid());
    if (!fresh) continue;
    WaitingPod& pod = it->second;
    static_cast<QueuedPod&>(pod) = from.queued;
    pod.profile = rejections_.ProfileOf(*pod.pod);
    pod.sequence = from.sequence;
    pod.flushed = from.flushed;
    Enter(pod, from.state);
  }
  next_sequence_ = saved.next_sequence;
  last_ticket_ = saved.last_ticket;
}

const QueuedPod* SchedulingQueue::Find(const std::string& uid) const {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : &it->second;
}

}  // namespace berth::queue
