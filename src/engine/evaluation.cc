#include "engine/evaluation.h"

#include <fmt/format.h>

namespace berth::engine {

namespace {

std::string Describe(const framework::Status& status) {
  return fmt::format("{} by {} ({})", framework::NameOf(status.code()), status.plugin(), status.Message());
}

}  // namespace

RunnerUp SecondTo(const framework::NodeInfo& chosen, const Evaluation& evaluation) {
  RunnerUp second;
  for (size_t i = 0; i < evaluation.totals.size(); ++i) {
    const framework::NodeInfo& node = *evaluation.feasible[i];
    if (&node != &chosen) second.Consider(node, evaluation.totals[i]);
  }
  return second;
}

std::string FirstDifference(const framework::Diagnosis& a, const framework::Diagnosis& b,
                            std::span<const framework::NodeInfo* const> nodes) {
  for (const framework::NodeInfo* node : nodes) {
    const framework::NodeIndex index = node->index();
    if (a.node_to_status.IsExplicit(index) != b.node_to_status.IsExplicit(index))
      return fmt::format("node {}: rejected by one only", node->name());
    const framework::Status& x = a.node_to_status.Get(index);
    const framework::Status& y = b.node_to_status.Get(index);
    if (!(x == y)) return fmt::format("node {}: {} against {}", node->name(), Describe(x), Describe(y));
  }
  if (!(a.node_to_status.absent() == b.node_to_status.absent())) return "status of absent nodes";
  if (a.unschedulable_plugins != b.unschedulable_plugins) return "unschedulable plugins";
  if (a.pending_plugins != b.pending_plugins) return "pending plugins";
  if (FitErrorMessage(a, nodes.size()) != FitErrorMessage(b, nodes.size())) return "message";
  return {};
}

}  // namespace berth::engine
