#include "sim/comparison.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace berth::sim {

namespace {

bool HasNode(const PodReport& pod) { return pod.outcome == PodOutcome::kScheduled; }

// For whom it made room, or why it waits.
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
  // Where a preempted pod was is no place that it has.
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
    }
  }
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

bool Comparison::lost_a_place() const {
  return std::any_of(differences.begin(), differences.end(), [](const PodDifference& difference) {
    return difference.change != PodChange::kRemoved && !difference.node_before.empty() && difference.node_after.empty();
  });
}

Comparison Compare(const RunOutcome& before, std::string before_name, const RunOutcome& after, std::string after_name) {
  Comparison comparison;
  comparison.before = SideOf(before, std::move(before_name));
  comparison.after = SideOf(after, std::move(after_name));
  // Both are sorted by name: one walk over the two.
  auto left = before.pods.begin();
  auto right = after.pods.begin();
  while (left != before.pods.end() || right != after.pods.end()) {
    const bool take_left = left != before.pods.end() && (right == after.pods.end() || left->first <= right->first);
    const bool take_right = right != after.pods.end() && (left == before.pods.end() || right->first <= left->first);
    const std::string& key = take_left ? left->first : right->first;
    const PodReport* old_pod = take_left ? &left->second : nullptr;
    const PodReport* new_pod = take_right ? &right->second : nullptr;
    if (auto difference = DifferenceOf(key, old_pod, new_pod)) comparison.differences.push_back(*std::move(difference));
    ++comparison.compared;
    if (take_left) ++left;
    if (take_right) ++right;
  }
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
