#include "storm/evictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "storm/fit.h"
#include "storm/plan.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

// How far apart a decision's view and its write may be: writes are queued, and bindings are in flight.
constexpr base::Duration kLeeway = 30s;
// How far the watch of nodes may be behind the watch of pods.
constexpr base::Duration kBetweenWatches = 50ms;

bool WaitsForRoom(const api::Pod& pod) {
  return pod.spec.node_name.empty() && !api::IsTerminated(pod) && pod.spec.scheduling_gates.empty();
}

}  // namespace

Evictions::Evictions(const Timeline& timeline, const Store& store, ApiWrites& writes)
    : timeline_(timeline), store_(store) {
  writes.Observe([this](const Write& write) {
    if (write.write_class != WriteClass::kDelete || write.code != 0) return;  // recorded before it takes effect
    const api::Pod* pod = store_.Find<api::Pod>(write.key);
    // A pod that waits in Permit is assumed but has no node yet.
    if (pod == nullptr || pod->spec.node_name.empty()) return;
    evicted_.push_back({write.key, pod->spec.node_name, api::PodPriority(*pod), timeline_.Now()});
  });
}

// Whether a pod of higher priority that was pending around that time had no room anywhere, and would have had it on
// that node. Room for a nominated pod counts as taken.
bool Evictions::HelpsSomebody(const Eviction& eviction, const Store::Objects& waiting, const Store::Objects& pods,
                              const Store::Objects& nodes, const Nodes& bound_later) {
  const auto victims_node = nodes.find(eviction.node);
  if (victims_node == nodes.end()) return false;
  const Nodes nobody;
  // The pods on a node, those on their way to it, and those nominated to it; without `asking`, and without those it may
  // evict.
  const auto present = [&](const std::string& node, const api::Pod& asking, bool evicts, const Nodes& on_their_way) {
    std::vector<const api::Pod*> found;
    for (const auto& [key, object] : pods) {
      const api::Pod& pod = *object.As<api::Pod>();
      const auto later = on_their_way.find(pod.metadata.uid);
      const std::string& place = !pod.spec.node_name.empty()   ? pod.spec.node_name
                                 : later != on_their_way.end() ? later->second
                                                               : pod.status.nominated_node_name;
      if (place != node || api::IsTerminated(pod) || pod.metadata.uid == asking.metadata.uid) continue;
      if (evicts && api::PodPriority(pod) < api::PodPriority(asking)) continue;
      found.push_back(&pod);
    }
    return found;
  };
  // Pods that are held in Permit, or whose bindings are rejected, have room on a node that the API does not show.
  const bool somebody_is_meant_to_be_somewhere = std::any_of(pods.begin(), pods.end(), [](const auto& entry) {
    const api::Labels& labels = entry.second.metadata().labels;
    return WaitsForRoom(*entry.second.template As<api::Pod>()) &&
           (labels.Contains(Symbol(kHeld)) || labels.Contains(Symbol(kRefused)));
  });
  return std::any_of(waiting.begin(), waiting.end(), [&](const auto& entry) {
    const api::Pod& asking = *entry.second.template As<api::Pod>();
    if (api::PodPriority(asking) <= eviction.priority) return false;
    const auto has_room = [&](const Nodes& on_their_way) {
      return std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) {
        return Fits(asking, *node.second.template As<api::Node>(), present(node.first, asking, false, on_their_way));
      });
    };
    // Devices are not counted here: room without them does not suffice.
    const bool needs_devices = !asking.spec.resource_claims.empty();
    // Which of the pods that were bound later were already on their way is not known.
    return (needs_devices || somebody_is_meant_to_be_somewhere || !has_room(nobody) || !has_room(bound_later)) &&
           Fits(asking, *victims_node->second.As<api::Node>(), present(eviction.node, asking, true, nobody));
  });
}

// Checks the state at `first`, and after each change since.
bool Evictions::HelpsSomebodyWithin(const Eviction& eviction, uint64_t first, uint64_t last) const {
  Store::Objects pods = store_.ObjectsAt(api::Kind::kPod, first);
  Store::Objects nodes = store_.ObjectsAt(api::Kind::kNode, first);
  const std::vector<Change>& of_pods = store_.history(api::Kind::kPod);
  const std::vector<Change>& of_nodes = store_.history(api::Kind::kNode);
  const auto after_first = [&](const std::vector<Change>& history) {
    return std::find_if(history.begin(), history.end(), [&](const Change& change) { return change.revision > first; });
  };
  auto next_pod = after_first(of_pods), next_node = after_first(of_nodes);
  // A pod that was created and deleted while bindings were in flight was considered together with them, although the
  // API never showed them at the same time.
  Store::Objects waiting;
  for (const auto& [key, object] : pods) {
    if (WaitsForRoom(*object.As<api::Pod>())) waiting.insert_or_assign(key, object);
  }
  Nodes bound_later;
  for (auto change = next_pod; change != of_pods.end() && change->revision <= last; ++change) {
    const api::Pod& pod = *change->object.As<api::Pod>();
    if (!pod.spec.node_name.empty()) bound_later.insert_or_assign(pod.metadata.uid, pod.spec.node_name);
  }
  // What a decision has seen of nodes may be older than what it has seen of pods.
  Store::Objects late_nodes = nodes;
  auto next_late_node = next_node;
  const auto helps_somebody = [&](base::Duration now) {
    for (; next_late_node != next_node && next_late_node->time + kBetweenWatches < now; ++next_late_node) {
      Apply(*next_late_node, late_nodes);
    }
    return HelpsSomebody(eviction, waiting, pods, nodes, bound_later) ||
           (next_late_node != next_node && HelpsSomebody(eviction, waiting, pods, late_nodes, bound_later));
  };
  base::Duration now{};
  while (!helps_somebody(now)) {
    const bool is_pod =
        next_node == of_nodes.end() || (next_pod != of_pods.end() && next_pod->revision < next_node->revision);
    if (is_pod && next_pod == of_pods.end()) return false;
    const Change& change = is_pod ? *next_pod++ : *next_node++;
    if (change.revision > last) return false;
    now = change.time;
    Apply(change, is_pod ? pods : nodes);
    if (is_pod && WaitsForRoom(*change.object.As<api::Pod>()))
      waiting.insert_or_assign(api::KeyOf(change.object.metadata()), change.object);
  }
  return true;
}

std::optional<Violation> Evictions::FindNeedless() const {
  for (const Eviction& eviction : evicted_) {
    const uint64_t first = store_.RevisionAt(std::max(eviction.at - kLeeway, base::Duration::zero()));
    const uint64_t last = store_.RevisionAt(eviction.at + kLeeway);
    if (HelpsSomebodyWithin(eviction, first, last)) continue;
    return Violation{"nobody is evicted for nothing",
                     fmt::format("{} was evicted from {}, where no pod of a higher priority needed its room",
                                 eviction.key, eviction.node),
                     {eviction.key.substr(eviction.key.find('/') + 1), eviction.node}};
  }
  return std::nullopt;
}

}  // namespace berth::storm
