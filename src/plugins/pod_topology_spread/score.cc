// PodTopologySpread as a score: what each domain costs is worked out once per cycle, a node's score is the sum over its
// domains, and normalising turns few pods into many points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {

using framework::CycleState;
using framework::LabelColumn;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::NodeScore;
using framework::PodInfo;
using framework::ScoreResult;
using framework::Status;

namespace {

constexpr int64_t kNotACandidate = -1;

bool IsPerHost(const SpreadConstraint& constraint) {
  static const Symbol hostname("kubernetes.io/hostname");
  return constraint.topology_key == hostname;
}

// Where a node stands in the tables of constraint i. Every host is a domain of its own, whatever its hostname label
// says. Nodes without the label form one more domain, together with those where it is empty.
size_t PlaceOf(const SpreadPlan& plan, size_t i, NodeIndex node) {
  if (IsPerHost(plan.constraint(i))) return node;
  const int32_t domain = plan.DomainOf(i, node);
  const std::vector<Symbol>& values = plan.column(i).values;
  const bool empty = domain == LabelColumn::kAbsent || values[static_cast<size_t>(domain)].empty();
  return empty ? values.size() : static_cast<size_t>(domain);
}
size_t PlaceCount(const SpreadPlan& plan, size_t i) {
  return IsPerHost(plan.constraint(i)) ? plan.column(i).value_id.size() : plan.column(i).values.size() + 1;
}

// Matching pods of one constraint, for domains that have a feasible node.
struct CandidateCounts {
  std::vector<int64_t> pods;  // by place; kNotACandidate where no feasible node is
  int64_t domains = 0;
};

// The domains that can be chosen at all, with the pods on hosts: nothing elsewhere adds to those.
CandidateCounts FindCandidates(const SpreadPlan& plan, size_t i, std::span<const NodeInfo* const> feasible,
                               const std::vector<uint8_t>& ignored) {
  const SpreadConstraint& constraint = plan.constraint(i);
  CandidateCounts counts{.pods = std::vector<int64_t>(PlaceCount(plan, i), kNotACandidate)};
  for (const NodeInfo* node : feasible) {
    int64_t& pods = counts.pods[PlaceOf(plan, i, node->index())];
    if (ignored[node->index()] || pods != kNotACandidate) continue;
    pods = IsPerHost(constraint) ? CountSelectedPods(*node, constraint.selector, plan.name_space()) : 0;
    ++counts.domains;
  }
  return counts;
}

// Nodes that are not feasible themselves add to the domains of those that are.
void CountPods(const SpreadPlan& plan, size_t i, std::span<const NodeInfo* const> nodes, bool requires_every_key,
               CandidateCounts& counts) {
  if (IsPerHost(plan.constraint(i))) return;
  for (const NodeInfo* node : nodes) {
    int64_t& pods = counts.pods[PlaceOf(plan, i, node->index())];
    if (pods == kNotACandidate || (requires_every_key && !plan.HasEveryKey(node->index()))) continue;
    if (plan.Includes(i, *node)) pods += CountSelectedPods(*node, plan.constraint(i).selector, plan.name_space());
  }
}

// The weight keeps keys with few domains, and so with many pods in each, from drowning the others; maxSkew blurs small
// differences.
std::vector<double> CostsOf(const CandidateCounts& counts, int32_t max_skew) {
  const double weight = std::log(static_cast<double>(counts.domains + 2));
  std::vector<double> costs(counts.pods.size(), 0.0);
  for (size_t place = 0; place < costs.size(); ++place) {
    if (counts.pods[place] == kNotACandidate) continue;
    costs[place] = static_cast<double>(counts.pods[place]) * weight + static_cast<double>(max_skew - 1);
  }
  return costs;
}

}  // namespace

struct PodTopologySpread::ScoreState final : framework::CopyableState<ScoreState> {
  std::shared_ptr<const SpreadPlan> plan;
  std::vector<uint8_t> ignored;            // by node index; feasible nodes that lack a key
  std::vector<std::vector<double>> costs;  // by constraint, then by place

  int64_t ScoreOf(NodeIndex node) const;
};

Status PodTopologySpread::PreScore(CycleState& state, const PodInfo& pod,
                                   std::span<const NodeInfo* const> feasible) const {
  const framework::ClusterView& cluster = handle_.cluster();
  if (cluster.nodes().empty()) return Status::Skip();
  Result<std::vector<SpreadConstraint>> constraints = SoftConstraints(pod);
  if (!constraints) return Status::Error("calculating preScoreState: " + constraints.error().message);
  if (constraints->empty()) return Status::Skip();

  auto data = std::make_unique<ScoreState>();
  data->plan = std::make_shared<const SpreadPlan>(pod, *std::move(constraints), cluster, gates_);
  const SpreadPlan& plan = *data->plan;
  const bool requires_every_key = RequiresEveryKey(pod);
  data->ignored.assign(cluster.columns().size(), 0);
  for (const NodeInfo* node : feasible) {
    if (requires_every_key && !plan.HasEveryKey(node->index())) data->ignored[node->index()] = 1;
  }
  for (size_t i = 0; i < plan.size(); ++i) {
    CandidateCounts counts = FindCandidates(plan, i, feasible, data->ignored);
    CountPods(plan, i, cluster.nodes(), requires_every_key, counts);
    data->costs.push_back(CostsOf(counts, plan.constraint(i).max_skew));
  }
  state.Put(score_key_, std::move(data));
  return Status::Success();
}

int64_t PodTopologySpread::ScoreState::ScoreOf(NodeIndex node) const {
  if (ignored[node]) return 0;
  double cost = 0;
  for (size_t i = 0; i < plan->size(); ++i) {
    if (plan->DomainOf(i, node) != LabelColumn::kAbsent) cost += costs[i][PlaceOf(*plan, i, node)];
  }
  return static_cast<int64_t>(std::round(cost));
}

ScoreResult PodTopologySpread::Score(const CycleState& state, const PodInfo&, const NodeInfo& node) const {
  return state.Get(score_key_).ScoreOf(node.index());
}

bool PodTopologySpread::ScoreRange(const CycleState& state, const PodInfo&, const NodeColumns&, NodeIndex begin,
                                   std::span<int64_t> scores) const {
  const ScoreState& data = state.Get(score_key_);
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = data.ScoreOf(begin + static_cast<NodeIndex>(i));
  return true;
}

Status PodTopologySpread::NormalizeScore(const CycleState& state, const PodInfo&, std::span<NodeScore> scores) const {
  const ScoreState& data = state.Get(score_key_);
  const auto is_ignored = [&](const NodeScore& score) { return data.ignored[score.node->index()] != 0; };
  int64_t lowest = std::numeric_limits<int64_t>::max();
  int64_t highest = 0;
  for (const NodeScore& score : scores) {
    if (is_ignored(score)) continue;
    lowest = std::min(lowest, score.score);
    highest = std::max(highest, score.score);
  }
  for (NodeScore& score : scores) {
    if (is_ignored(score)) {
      score.score = framework::kMinNodeScore;
    } else if (highest == 0) {
      score.score = framework::kMaxNodeScore;
    } else {
      score.score = framework::kMaxNodeScore * (highest + lowest - score.score) / highest;
    }
  }
  return Status::Success();
}

}  // namespace berth::plugins
