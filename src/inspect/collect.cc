#include "inspect/collect.h"

#include <algorithm>

#include "engine/profile.h"
#include "explain/cluster_fork.h"
#include "explain/explain.h"

namespace berth::inspect {

using framework::PodInfo;
using framework::PodInfoPtr;
using queue::PodState;
using queue::WaitingPod;

namespace {

std::vector<std::string> NamesOf(const queue::PluginNames& names) { return {names.begin(), names.end()}; }

PodPlace PlaceOf(const WaitingPod& pod, const scheduler::Driver& driver) {
  switch (pod.state) {
    case PodState::kActive:
      return PodPlace::kActive;
    case PodState::kBackoff:
    case PodState::kErrorBackoff:
      return PodPlace::kBackoff;
    case PodState::kUnschedulable:
      return pod.gated() ? PodPlace::kGated : PodPlace::kUnschedulable;
    case PodState::kInFlight:
      return driver.scheduler().waiting_pods().IsWaiting(pod.pod->uid()) ? PodPlace::kWaiting : PodPlace::kScheduling;
    case PodState::kBinding:
      return PodPlace::kBinding;
  }
  return PodPlace::kActive;
}

PendingPod Describe(const WaitingPod& pod, const scheduler::Driver& driver, base::Time now) {
  PendingPod told{.pod = pod.pod->Key(), .uid = pod.pod->uid(), .scheduler_name = pod.pod->pod().spec.scheduler_name};
  told.priority = pod.pod->priority();
  told.place = PlaceOf(pod, driver);
  told.attempts = pod.attempts;
  told.since = pod.timestamp;
  if (const std::optional<base::Time> due = driver.queue().DueAt(pod)) {
    told.left = std::max(*due - now, base::Duration::zero());
  }
  told.plugins = NamesOf(pod.unschedulable_plugins);
  told.pending_plugins = NamesOf(pod.pending_plugins);
  told.gating_plugin = pod.gating_plugin;
  told.nominated_node = driver.cluster().nominator().NodeOf(pod.pod->uid());
  return told;
}

// Sorts the pods of the queue into the lanes that are shown.
class LaneCollector {
 public:
  LaneCollector(const scheduler::Driver& driver, base::Time now, size_t limit, const std::string& name_space)
      : driver_(driver), now_(now), limit_(limit), name_space_(name_space) {
    for (const PodPlace place : {PodPlace::kActive, PodPlace::kBackoff, PodPlace::kUnschedulable, PodPlace::kGated,
                                 PodPlace::kScheduling, PodPlace::kWaiting, PodPlace::kBinding}) {
      lanes_.push_back({place, 0, {}});
    }
  }

  void Add(const WaitingPod& pod) {
    const PodPlace place = PlaceOf(pod, driver_);
    const auto lane =
        std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& other) { return other.place == place; });
    const size_t position = ++lane->total;
    if (lane->pods.size() >= limit_) return;
    if (!name_space_.empty() && pod.pod->namespace_().str() != name_space_) return;
    lane->pods.push_back(Describe(pod, driver_, now_));
    lane->pods.back().position = position;
  }

  std::vector<QueueView::Lane> Take() { return std::move(lanes_); }

 private:
  const scheduler::Driver& driver_;
  const base::Time now_;
  const size_t limit_;
  const std::string& name_space_;
  std::vector<QueueView::Lane> lanes_;
};

bool HasName(const PodInfo& pod, const PodQuestion& question) {
  return pod.name() == question.name && pod.namespace_().str() == question.name_space;
}

const WaitingPod* FindPending(const scheduler::Driver& driver, const PodQuestion& question) {
  const WaitingPod* found = nullptr;
  driver.queue().ForEachWaiting([&](const WaitingPod& pod) {
    if (HasName(*pod.pod, question)) found = &pod;
  });
  return found;
}

PodInfoPtr FindPlaced(const scheduler::Driver& driver, const PodQuestion& question) {
  PodInfoPtr found;
  driver.cluster().ForEachPod([&](const PodInfoPtr& pod) {
    if (HasName(*pod, question)) found = pod;
  });
  return found;
}

// The events of a registration by name. All kinds of updates together are shown as one: most resources have no others.
std::vector<std::string> LabelsOf(const framework::ClusterEvent& registered) {
  using enum framework::ActionType;
  const framework::ActionType updates = registered.action & kUpdate;
  std::vector<framework::ClusterEvent> events = framework::EventsOf(
      registered.resource, updates == kUpdate ? registered.action & (kAdd | kDelete) : registered.action);
  if (registered.action == kAll) events.clear();
  if (updates == kUpdate) events.push_back({registered.resource, registered.action == kAll ? kAll : kUpdate});
  std::vector<std::string> labels;
  for (const framework::ClusterEvent& event : events) labels.push_back(event.Label());
  return labels;
}

std::vector<std::string> RejectingPlugins(const PendingPod& pending) {
  std::vector<std::string> plugins = pending.plugins;
  plugins.insert(plugins.end(), pending.pending_plugins.begin(), pending.pending_plugins.end());
  if (!pending.gating_plugin.empty()) plugins = {pending.gating_plugin};
  return plugins;
}

// The plugins that were the first to reject some node.
std::vector<std::string> RejectingPlugins(const explain::Explanation& told) {
  std::vector<std::string> plugins;
  for (const explain::NodeVerdict& verdict : told.nodes) {
    if (verdict.feasible()) return {};
    plugins.push_back(verdict.rejections.front().plugin);
  }
  return plugins;
}

std::vector<WakeUp> WakeUpsOf(const engine::Profile& profile, std::vector<std::string> plugins) {
  std::sort(plugins.begin(), plugins.end());
  plugins.erase(std::unique(plugins.begin(), plugins.end()), plugins.end());
  const auto registered = profile.EventsToRegister();
  std::vector<WakeUp> wake_ups;
  for (const std::string& plugin : plugins) {
    WakeUp& wake_up = wake_ups.emplace_back(WakeUp{plugin, {}});
    const auto found = registered.find(plugin);
    if (found == registered.end()) continue;
    for (const framework::ClusterEventWithHint& event : found->second) {
      for (std::string& label : LabelsOf(event.event)) wake_up.events.push_back(std::move(label));
    }
  }
  return wake_ups;
}

// Plugin calls for an explanation are not scheduling attempts, and must not be counted as such.
class Unobserved {
 public:
  explicit Unobserved(engine::Profile& profile) : profile_(profile), observer_(profile.observer()) {
    profile_.set_observer(nullptr);
  }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;
  ~Unobserved() { profile_.set_observer(observer_); }

 private:
  engine::Profile& profile_;
  engine::PluginObserver* const observer_;
};

// The pod as it was before it had a node.
PodInfoPtr Unplaced(const PodInfo& pod, const cluster::Cluster& cluster) {
  auto changed = std::make_shared<api::Pod>(*pod.shared_pod());
  changed->spec.node_name.clear();
  changed->status = {};
  return cluster.MakePodInfo(std::move(changed));
}

explain::Explanation ExplainPlaced(engine::Profile& profile, const scheduler::Driver& driver, const PodInfo& pod,
                                   const std::string& node, const explain::Limits& limits) {
  explain::ClusterFork fork(driver.cluster());
  if (fork.Find(node) != nullptr) fork.RemovePod(node, pod);
  const PodInfoPtr unplaced = Unplaced(pod, driver.cluster());
  const engine::OtherPicture seen(profile, fork, profile.objects());
  explain::Explanation told = explain::Explain(profile, *unplaced, limits);
  told.node = node;
  return told;
}

// The best node other than the one it is on; ties by name, which is the order of the nodes.
std::string RunnerUpOf(const explain::Explanation& told) {
  const explain::NodeVerdict* second = nullptr;
  for (const explain::NodeVerdict& verdict : told.nodes) {
    if (verdict.points.empty() || verdict.node == told.node) continue;
    if (second == nullptr || verdict.total > second->total) second = &verdict;
  }
  return second == nullptr ? "" : second->node;
}

}  // namespace

std::string_view NameOf(PodPlace place) {
  switch (place) {
    case PodPlace::kActive:
      return "Active";
    case PodPlace::kBackoff:
      return "Backoff";
    case PodPlace::kUnschedulable:
      return "Unschedulable";
    case PodPlace::kGated:
      return "Gated";
    case PodPlace::kScheduling:
      return "Scheduling";
    case PodPlace::kWaiting:
      return "WaitingForPermit";
    case PodPlace::kBinding:
      return "Binding";
    case PodPlace::kPlaced:
      return "Placed";
    case PodPlace::kGone:
      return "Gone";
  }
  return "";
}

std::string_view NameOf(scheduler::Ending ending) {
  switch (ending) {
    case scheduler::Ending::kBound:
      return "Bound";
    case scheduler::Ending::kUnschedulable:
      return "Unschedulable";
    case scheduler::Ending::kError:
      return "Error";
    case scheduler::Ending::kStale:
      return "Stale";
  }
  return "";
}

QueueView CollectQueue(const scheduler::Driver& driver, base::Time now, size_t limit, const std::string& name_space) {
  LaneCollector collector(driver, now, limit, name_space);
  const auto add = [&](const WaitingPod& pod) { collector.Add(pod); };
  for (const PodState state :
       {PodState::kActive, PodState::kBackoff, PodState::kErrorBackoff, PodState::kUnschedulable}) {
    driver.queue().ForEachInLine(state, add);
  }
  if (driver.queue().counts().in_flight > 0 || driver.binding() > 0) {
    driver.queue().ForEachWaiting([&](const WaitingPod& pod) {
      if (pod.state == PodState::kInFlight || pod.state == PodState::kBinding) add(pod);
    });
  }
  return {.at = now, .lanes = collector.Take()};
}

DecisionsView CollectDecisions(const scheduler::AttemptJournal* journal, base::Time now,
                               const scheduler::AttemptJournal::Filter& filter) {
  DecisionsView view{.at = now};
  if (journal == nullptr) return view;
  view.attempts = journal->Find(filter);
  view.kept = journal->size();
  return view;
}

NodesView CollectNodes(const scheduler::Driver& driver, base::Time now, size_t limit, const std::string& name) {
  NodesView view{.at = now};
  view.total = driver.cluster().nodes().size();
  std::vector<const framework::NodeInfo*> nodes;
  if (name.empty()) {
    nodes.assign(driver.cluster().nodes().begin(), driver.cluster().nodes().end());
    std::sort(nodes.begin(), nodes.end(), [](const auto* a, const auto* b) { return a->name() < b->name(); });
    nodes.resize(std::min(nodes.size(), limit));
  } else if (const framework::NodeInfo* found = driver.cluster().Find(name)) {
    nodes.push_back(found);
  }
  for (const framework::NodeInfo* node : nodes) {
    view.nodes.push_back({node->shared_node(), node->allocatable(), node->requested(), node->pods().size(), {}});
    if (!name.empty()) view.nodes.back().on_it = node->pods();
  }
  return view;
}

EventsView CollectEvents(const scheduler::Driver& driver, const scheduler::AttemptJournal* journal, base::Time now,
                         uint64_t after, size_t limit) {
  const queue::SchedulingQueue::Counts counts = driver.queue().counts();
  EventsView view{.at = now,
                  .lanes = {{PodPlace::kActive, counts.active},
                            {PodPlace::kBackoff, counts.backoff},
                            {PodPlace::kUnschedulable, counts.unschedulable},
                            {PodPlace::kGated, counts.gated},
                            {PodPlace::kBinding, driver.binding()}},
                  .about = {},
                  .nodes = driver.cluster().nodes().size(),
                  .placed = driver.cluster().pod_count()};
  if (journal == nullptr) return view;
  view.sequence = journal->last_sequence();
  // A number from before this scheduler was started is ignored.
  const uint64_t fresh = after > view.sequence ? view.sequence : view.sequence - after;
  scheduler::AttemptJournal::Filter filter;
  filter.limit = std::min<uint64_t>(fresh, limit);
  if (filter.limit > 0) view.attempts = journal->Find(filter, filter.limit);
  return view;
}

std::optional<PodView> CollectPod(const scheduler::Driver& driver, const scheduler::AttemptJournal* journal,
                                  base::Time now, const PodQuestion& question) {
  PodView view;
  view.at = now;
  view.pod = question.name_space + "/" + question.name;
  if (journal != nullptr) view.attempts = journal->OfPod(question.name_space, question.name, question.attempts);
  const WaitingPod* pending = FindPending(driver, question);
  const PodInfoPtr pod = question.pod ? question.pod : pending != nullptr ? pending->pod : FindPlaced(driver, question);
  if (pod == nullptr) {
    if (view.attempts.empty()) return std::nullopt;
    view.uid = view.attempts.front().uid;
    view.scheduler_name = view.profile = view.attempts.front().scheduler_name;
    view.priority = view.attempts.front().priority;
    return view;
  }
  view.uid = pod->uid();
  view.scheduler_name = pod->shared_pod()->spec.scheduler_name;
  view.priority = pod->priority();
  view.node = driver.cluster().NodeOf(pod->uid());
  view.nominated_node = driver.cluster().nominator().NodeOf(pod->uid());
  view.place = PodPlace::kPlaced;
  if (pending != nullptr) {
    view.pending = Describe(*pending, driver, now);
    view.place = view.pending->place;
  }
  engine::Profile* profile = driver.scheduler().FindProfile(view.scheduler_name);
  // Placed by another scheduler: our profile's view is still worth showing.
  if (profile == nullptr) profile = driver.scheduler().FindProfile(driver.scheduler().first_profile().scheduler_name());
  view.profile = profile->scheduler_name();
  if (view.pending) view.wake_ups = WakeUpsOf(*profile, RejectingPlugins(*view.pending));
  const explain::Limits limits{.out_of_time = question.out_of_time};
  const Unobserved unobserved(*profile);
  view.now = view.node.empty() ? explain::Explain(*profile, *pod, limits)
                               : ExplainPlaced(*profile, driver, *pod, view.node, limits);
  view.now->runner_up = RunnerUpOf(*view.now);
  if (question.wake_ups_by_verdict && view.node.empty()) {
    view.wake_ups = WakeUpsOf(*profile, RejectingPlugins(*view.now));
  }
  if (view.node.empty() && !view.attempts.empty()) view.now->message = view.attempts.front().message;
  return view;
}

}  // namespace berth::inspect
