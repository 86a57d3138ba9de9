#include "storm/evictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "storm/fit.h"
#include "storm/plan.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

// How far what a decision saw may be from the moment of its write: the line of writes, and bindings on their way.
constexpr base::Duration kLeeway = 30s;

bool WaitsForRoom(const api::Pod& pod) {
  return pod.spec.node_name.empty() && !api::IsTerminated(pod) && pod.spec.scheduling_gates.empty();
}

}  // namespace

Evictions::Evictions(const Timeline& timeline, const Store& store, ApiWrites& writes)
    : timeline_(timeline), store_(store) {
  writes.Observe([this](const Write& write) {
    if (write.write_class != WriteClass::kDelete || write.code != 0) return;  // noted before it takes effect
    const api::Pod* pod = store_.Find<api::Pod>(write.key);
    // One that waits in Permit has no node yet; its room was only meant for it.
    if (pod == nullptr || pod->spec.node_name.empty()) return;
    evicted_.push_back({write.key, pod->spec.node_name, api::PodPriority(*pod), timeline_.Now()});
  });
}

// Whether some pod of higher priority, of those that were waiting around that time, found no room as it was, and would
// have found it there. Room that is promised to a nominated pod is taken.
bool Evictions::HelpsSomebody(const Eviction& eviction, const Store::Objects& waiting, const Store::Objects& pods,
                              const Store::Objects& nodes) {
  const auto victims_node = nodes.find(eviction.node);
  if (victims_node == nodes.end()) return false;
  // Those on a node, and those it is promised to; without the one who asks, and without those it may evict.
  const auto present = [&](const std::string& node, const api::Pod& asking, bool evicts) {
    std::vector<const api::Pod*> found;
    for (const auto& [key, object] : pods) {
      const api::Pod& pod = *object.As<api::Pod>();
      const std::string& place = pod.spec.node_name.empty() ? pod.status.nominated_node_name : pod.spec.node_name;
      if (place != node || api::IsTerminated(pod) || pod.metadata.uid == asking.metadata.uid) continue;
      if (evicts && api::PodPriority(pod) < api::PodPriority(asking)) continue;
      found.push_back(&pod);
    }
    return found;
  };
  // Those that are held in Permit, or whose bindings are refused, have room on a node that the API does not show.
  const bool somebody_is_meant_to_be_somewhere = std::any_of(pods.begin(), pods.end(), [](const auto& entry) {
    const api::Labels& labels = entry.second.metadata().labels;
    return labels.Contains(Symbol(kHeld)) || labels.Contains(Symbol(kRefused));
  });
  return std::any_of(waiting.begin(), waiting.end(), [&](const auto& entry) {
    const api::Pod& asking = *entry.second.template As<api::Pod>();
    if (api::PodPriority(asking) <= eviction.priority) return false;
    const bool has_room = std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) {
      return Fits(asking, *node.second.template As<api::Node>(), present(node.first, asking, false));
    });
    // Devices are not counted here: room without them is none.
    const bool needs_devices = !asking.spec.resource_claims.empty();
    return (!has_room || needs_devices || somebody_is_meant_to_be_somewhere) &&
           Fits(asking, *victims_node->second.As<api::Node>(), present(eviction.node, asking, true));
  });
}

// As it was at `first`, and after each change since.
bool Evictions::HelpsSomebodyWithin(const Eviction& eviction, uint64_t first, uint64_t last) const {
  Store::Objects pods = store_.ObjectsAt(api::Kind::kPod, first);
  Store::Objects nodes = store_.ObjectsAt(api::Kind::kNode, first);
  const std::vector<Change>& of_pods = store_.history(api::Kind::kPod);
  const std::vector<Change>& of_nodes = store_.history(api::Kind::kNode);
  const auto after_first = [&](const std::vector<Change>& history) {
    return std::find_if(history.begin(), history.end(), [&](const Change& change) { return change.revision > first; });
  };
  auto next_pod = after_first(of_pods), next_node = after_first(of_nodes);
  // A pod that came and went while bindings were on their way was judged together with them, although the API never
  // showed them at the same time.
  Store::Objects waiting;
  for (const auto& [key, object] : pods) {
    if (WaitsForRoom(*object.As<api::Pod>())) waiting.insert_or_assign(key, object);
  }
  while (!HelpsSomebody(eviction, waiting, pods, nodes)) {
    const bool is_pod =
        next_node == of_nodes.end() || (next_pod != of_pods.end() && next_pod->revision < next_node->revision);
    if (is_pod && next_pod == of_pods.end()) return false;
    const Change& change = is_pod ? *next_pod++ : *next_node++;
    if (change.revision > last) return false;
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
