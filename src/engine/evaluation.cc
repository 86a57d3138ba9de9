#include "engine/evaluation.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::engine {

namespace {

std::string Describe(const framework::Status& status) {
  return fmt::format("{} by {} ({})", framework::NameOf(status.code()), status.plugin(), status.Message());
}

std::string NamesOf(const std::vector<const framework::NodeInfo*>& nodes) {
  std::string names;
  for (const framework::NodeInfo* node : nodes) {
    if (!names.empty()) names += ' ';
    names += node->name();
  }
  return names;
}

std::string DifferentScores(const Evaluation& a, const Evaluation& b) {
  if (a.scores.size() != b.scores.size()) {
    return fmt::format("{} plugins scored against {}", a.scores.size(), b.scores.size());
  }
  for (size_t p = 0; p < a.scores.size(); ++p) {
    const PluginScores& x = a.scores[p];
    const PluginScores& y = b.scores[p];
    if (x.plugin != y.plugin) return fmt::format("score plugin {} against {}", x.plugin, y.plugin);
    for (size_t i = 0; i < x.raw.size(); ++i) {
      if (x.raw[i] == y.raw[i] && x.weighted[i] == y.weighted[i]) continue;
      return fmt::format("score of {} for node {}: raw {} weighted {} against raw {} weighted {}", x.plugin,
                         a.feasible[i]->name(), x.raw[i], x.weighted[i], y.raw[i], y.weighted[i]);
    }
  }
  if (a.totals != b.totals) return "totals";
  if (a.best != b.best) return "best nodes";
  return {};
}

}  // namespace

std::string FirstDifference(const Evaluation& a, const Evaluation& b) {
  if (!(a.error == b.error)) return fmt::format("error: {} against {}", Describe(a.error), Describe(b.error));
  if (!(a.pre_filter == b.pre_filter))
    return fmt::format("PreFilter: {} against {}", Describe(a.pre_filter), Describe(b.pre_filter));
  if (a.narrowed_to != b.narrowed_to) return "nodes PreFilter narrowed the search to";
  if (a.nominated != b.nominated) return "use of the nominated node";
  if (a.feasible != b.feasible)
    return fmt::format("feasible nodes [{}] against [{}]", NamesOf(a.feasible), NamesOf(b.feasible));

  const auto& x = a.diagnosis.node_to_status.explicit_nodes();
  const auto& y = b.diagnosis.node_to_status.explicit_nodes();
  for (const auto& [name, status] : x) {
    const auto other = y.find(name);
    if (other == y.end()) return fmt::format("node {} rejected against feasible", name);
    if (!(status == other->second))
      return fmt::format("node {}: {} against {}", name, Describe(status), Describe(other->second));
  }
  if (x.size() != y.size()) return "number of rejected nodes";
  if (!(a.diagnosis.node_to_status.absent() == b.diagnosis.node_to_status.absent())) return "status of absent nodes";
  if (a.diagnosis.unschedulable_plugins != b.diagnosis.unschedulable_plugins) return "unschedulable plugins";
  if (a.diagnosis.pending_plugins != b.diagnosis.pending_plugins) return "pending plugins";
  return DifferentScores(a, b);
}

}  // namespace berth::engine
