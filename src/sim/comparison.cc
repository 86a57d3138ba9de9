#include "sim/comparison.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "input/owned_pods.h"

namespace berth::sim {

namespace {

bool HasNode(const PodReport& pod) { return pod.outcome == PodOutcome::kScheduled; }

// Which pod it was evicted for, or why it is pending.
std::string DetailOf(const PodReport& pod) {
  return pod.outcome == PodOutcome::kPreempted ? "made room for " + pod.preempted_by : pod.message;
}

PodChange ChangeInto(const PodReport& before, const PodReport& after) {
  switch (after.outcome) {
    case PodOutcome::kScheduled:
      return HasNode(before) ? PodChange::kMoved : PodChange::kPlaced;
    case PodOutcome::kPending:
      return before.outcome == PodOutcome::kPending ? PodChange::kReason : PodChange::kPending;
    case PodOutcome::kPreempted:
      return PodChange::kPreempted;
    case PodOutcome::kGated:
    case PodOutcome::kForeign:
      return before.outcome == after.outcome ? PodChange::kReason : PodChange::kHeld;
  }
  return PodChange::kMoved;
}

std::optional<PodDifference> DifferenceOf(const std::string& key, const PodReport* before, const PodReport* after) {
  PodDifference difference{.pod = key};
  difference.owner = after ? after->owner : before->owner;
  // The former node of a preempted pod does not count as its node.
  if (before && HasNode(*before)) difference.node_before = before->node;
  if (after && HasNode(*after)) difference.node_after = after->node;
  if (!before || !after) {
    difference.change = after ? PodChange::kAdded : PodChange::kRemoved;
    if (after) difference.detail = DetailOf(*after);
    return difference;
  }
  const bool same_place = before->outcome == after->outcome && difference.node_before == difference.node_after;
  if (same_place && (HasNode(*after) || DetailOf(*before) == DetailOf(*after))) return std::nullopt;
  difference.change = ChangeInto(*before, *after);
  difference.detail = DetailOf(*after);
  return difference;
}

void Note(std::optional<PodDifference> difference, Comparison& comparison) {
  ++comparison.compared;
  if (difference) comparison.differences.push_back(*std::move(difference));
}

// Pods that only one of the runs has under that name.
class AlonePods {
 public:
  void Add(const std::string& key, const PodReport* before, const PodReport* after) {
    const PodReport& pod = before ? *before : *after;
    // A pod without a workload has no counterpart under another name.
    Sides& sides = by_owner_[pod.owner.empty() ? "Pod " + key : pod.owner];
    (before ? sides.before : sides.after).push_back({&key, &pod});
  }

  // Pods of one workload are matched in order; first those on the same node, since nothing changed for them.
  void Match(Comparison& comparison) {
    for (auto& [owner, sides] : by_owner_) {
      std::map<std::string_view, std::vector<Alone*>> by_node;
      for (Alone& before : sides.before) {
        if (HasNode(*before.pod)) by_node[before.pod->node].push_back(&before);
      }
      for (Alone& after : sides.after) {
        const auto same = HasNode(*after.pod) ? by_node.find(after.pod->node) : by_node.end();
        if (same == by_node.end() || same->second.empty()) continue;
        Alone& before = *same->second.back();
        same->second.pop_back();
        Pair(before, after, comparison);
        before.pod = nullptr;
        after.pod = nullptr;
      }
      const auto is_matched = [](const Alone& alone) { return alone.pod == nullptr; };
      std::erase_if(sides.before, is_matched);
      std::erase_if(sides.after, is_matched);
      const size_t pairs = std::min(sides.before.size(), sides.after.size());
      for (size_t i = 0; i < pairs; ++i) Pair(sides.before[i], sides.after[i], comparison);
      for (size_t i = pairs; i < sides.before.size(); ++i) {
        Note(DifferenceOf(*sides.before[i].key, sides.before[i].pod, nullptr), comparison);
      }
      for (size_t i = pairs; i < sides.after.size(); ++i) {
        Note(DifferenceOf(*sides.after[i].key, nullptr, sides.after[i].pod), comparison);
      }
    }
  }

 private:
  struct Alone {
    const std::string* key;
    const PodReport* pod;
  };
  struct Sides {
    std::vector<Alone> before;
    std::vector<Alone> after;
  };

  static void Pair(const Alone& before, const Alone& after, Comparison& comparison) {
    std::optional<PodDifference> difference = DifferenceOf(*after.key, before.pod, after.pod);
    if (difference) difference->replaces = *before.key;
    Note(std::move(difference), comparison);
  }

  std::map<std::string, Sides> by_owner_;
};

Balance BalanceOf(const Utilisation& utilisation, size_t position) {
  const ResourceUse& use = utilisation.resources[position];
  Balance balance{use.resource, use.total.share(), use.lowest.share, use.median.share, use.highest.share, 0};
  double sum = 0, squares = 0;
  size_t count = 0;
  for (const NodeUse& node : utilisation.nodes) {
    if (node.amounts[position].allocatable <= 0) continue;
    const double share = node.amounts[position].share();
    sum += share;
    squares += share * share;
    ++count;
  }
  if (count > 0) {
    const double mean = sum / static_cast<double>(count);
    balance.deviation = std::sqrt(std::max(0.0, squares / static_cast<double>(count) - mean * mean));
  }
  return balance;
}

size_t ZoneSkew(const std::vector<ZoneUse>& zones) {
  size_t most = 0, fewest = SIZE_MAX;
  for (const ZoneUse& zone : zones) {
    if (zone.zone.empty()) continue;
    most = std::max(most, zone.pods);
    fewest = std::min(fewest, zone.pods);
  }
  return fewest == SIZE_MAX ? 0 : most - fewest;
}

ComparisonSide SideOf(const RunOutcome& outcome, std::string name) {
  ComparisonSide side{.name = std::move(name)};
  side.nodes = outcome.utilisation.nodes.size();
  for (const auto& [key, pod] : outcome.pods) {
    ++(HasNode(pod) ? side.placed : pod.outcome == PodOutcome::kPreempted ? side.preempted : side.pending);
  }
  for (size_t i = 0; i < outcome.utilisation.resources.size(); ++i) {
    side.balance.push_back(BalanceOf(outcome.utilisation, i));
  }
  side.zones = outcome.utilisation.zones;
  side.zone_skew = ZoneSkew(side.zones);
  return side;
}

}  // namespace

RunOutcome OutcomeOf(const Simulation& simulation, const SimulationReport& report) {
  RunOutcome outcome;
  for (const framework::NodeInfo* node : simulation.cluster().nodes()) {
    for (const framework::PodInfoPtr& pod : node->pods()) {
      PodReport& bound = outcome.pods[pod->Key()];
      bound.key = pod->Key();
      bound.outcome = PodOutcome::kScheduled;
      bound.node = node->name();
      bound.owner = input::WorkloadOf(*pod->shared_pod());
    }
  }
  for (const PodReport& pod : report.lost) outcome.pods[pod.key] = pod;
  for (const PodReport& pod : report.preempted) outcome.pods[pod.key] = pod;
  for (const PodReport& pod : report.pods) outcome.pods[pod.key] = pod;
  outcome.utilisation = MeasureUtilisation(simulation.cluster());
  return outcome;
}

size_t Comparison::Count(PodChange change) const {
  return static_cast<size_t>(
      std::count_if(differences.begin(), differences.end(),
                    [&](const PodDifference& difference) { return difference.change == change; }));
}

bool Comparison::leaves_unplaced() const {
  return std::any_of(differences.begin(), differences.end(), [](const PodDifference& difference) {
    const bool had_none = difference.node_before.empty() && difference.change != PodChange::kAdded;
    return difference.unplaced() && !had_none;
  });
}

Comparison Compare(const RunOutcome& before, std::string before_name, const RunOutcome& after, std::string after_name) {
  Comparison comparison;
  comparison.before = SideOf(before, std::move(before_name));
  comparison.after = SideOf(after, std::move(after_name));
  AlonePods alone;
  // Both are sorted by name, so one pass over the two is enough.
  auto left = before.pods.begin();
  auto right = after.pods.begin();
  while (left != before.pods.end() || right != after.pods.end()) {
    const bool take_left = left != before.pods.end() && (right == after.pods.end() || left->first <= right->first);
    const bool take_right = right != after.pods.end() && (left == before.pods.end() || right->first <= left->first);
    const std::string& key = take_left ? left->first : right->first;
    const PodReport* old_pod = take_left ? &left->second : nullptr;
    const PodReport* new_pod = take_right ? &right->second : nullptr;
    if (take_left && take_right) {
      Note(DifferenceOf(key, old_pod, new_pod), comparison);
    } else {
      alone.Add(key, old_pod, new_pod);
    }
    if (take_left) ++left;
    if (take_right) ++right;
  }
  alone.Match(comparison);
  std::sort(comparison.differences.begin(), comparison.differences.end(),
            [](const PodDifference& a, const PodDifference& b) { return a.pod < b.pod; });
  return comparison;
}

std::string_view NameOf(PodChange change) {
  switch (change) {
    case PodChange::kMoved:
      return "Moved";
    case PodChange::kPlaced:
      return "Placed";
    case PodChange::kPending:
      return "Pending";
    case PodChange::kPreempted:
      return "Preempted";
    case PodChange::kHeld:
      return "Held";
    case PodChange::kReason:
      return "Reason";
    case PodChange::kAdded:
      return "Added";
    case PodChange::kRemoved:
      return "Removed";
  }
  return "Unknown";
}

}  // namespace berth::sim
