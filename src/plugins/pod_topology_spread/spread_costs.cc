#include "plugins/pod_topology_spread/spread_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/vectorize.h"
#include "plugins/score_columns.h"

namespace berth::plugins {

using framework::LabelColumn;
using framework::NodeIndex;
using framework::NodeInfo;

namespace {

bool IsPerHost(const SpreadConstraint& constraint) {
  static const Symbol hostname("kubernetes.io/hostname");
  return constraint.topology_key == hostname;
}

// std::round without a call or a branch, for numbers that an Int can hold: a remainder of at least one half becomes a
// whole when doubled and truncated.
template <class Int>
inline int64_t Rounded(double cost) {
  const auto whole = static_cast<Int>(cost);
  const double rest = cost - static_cast<double>(whole);
  return whole + static_cast<Int>(rest + rest);
}

// The loops over all nodes.
BERTH_VECTORIZE void RoundSmall(const double* __restrict costs, int64_t* __restrict scores, size_t count) {
  for (size_t k = 0; k < count; ++k) scores[k] = Rounded<int32_t>(costs[k]);
}
// A host without the label has no cost.
BERTH_VECTORIZE void AddCostsByHost(const int32_t* __restrict domains, const int32_t* __restrict pods, double weight,
                                    double extra, double* __restrict sums, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    const double cost = static_cast<double>(pods[k]) * weight + extra;
    sums[k] += domains[k] == LabelColumn::kAbsent ? 0.0 : cost;
  }
}
BERTH_VECTORIZE void AddCostsByDomain(const int32_t* __restrict domains, const double* __restrict costs,
                                      double* __restrict sums, size_t count) {
  for (size_t k = 0; k < count; ++k) sums[k] += costs[domains[k] + 1];
}

// Sums of costs below this are rounded as int32, which can be vectorized.
constexpr double kSmall = 1e9;

}  // namespace

SpreadCosts::SpreadCosts(std::shared_ptr<const SpreadPlan> plan, const framework::ClusterView& cluster,
                         bool requires_every_key)
    : plan_(std::move(plan)) {
  const framework::NodeColumns& columns = cluster.columns();
  for (NodeIndex node = 0; requires_every_key && node < columns.size(); ++node) {
    if (!columns.live[node] || plan_->HasEveryKey(node)) continue;
    if (!ignores_any_) ignored_.assign(columns.size(), 0);
    ignores_any_ = true;
    ignored_[node] = 1;
  }
  for (size_t i = 0; i < plan_->size(); ++i) AddTable(i, cluster);
  for (NodeIndex node = 0; node < columns.size(); ++node) {
    // Rows are far apart in memory; many need not be read.
    if (columns.pod_count[node] == 0) continue;
    for (size_t s = 0; s < selected_.size(); ++s) {
      const int64_t pods = CountSelectedPods(cluster.row(node), *selected_[s].selector, plan_->name_space());
      if (pods != 0) Shift(s, node, static_cast<int32_t>(pods));
    }
  }
}

void SpreadCosts::AddTable(size_t i, const framework::ClusterView& cluster) {
  const SpreadConstraint& constraint = plan_->constraint(i);
  const framework::NodeColumns& columns = cluster.columns();
  Table& table = tables_.emplace_back();
  table.selector = SelectorFor(constraint.selector, columns.size());
  table.per_host = IsPerHost(constraint);
  table.max_skew = constraint.max_skew;
  if (table.per_host) return;
  const std::vector<Symbol>& values = plan_->column(i).values;
  table.place.assign(values.size() + 1, 0);
  for (uint32_t value = 0; value < values.size(); ++value) {
    if (!values[value].empty()) table.place[value + 1] = value + 1;
  }
  table.pods.assign(values.size() + 1, 0);
  const bool includes_all = plan_->IncludesAll(i);
  if (includes_all && !ignores_any_) return;
  table.leaves_out.assign(columns.size(), 0);
  for (NodeIndex node = 0; node < columns.size(); ++node) {
    if (!columns.live[node]) continue;
    table.leaves_out[node] = Ignores(node) || (!includes_all && !plan_->Includes(i, cluster.row(node)));
  }
}

// Constraints often share their selector; pods are then matched once.
size_t SpreadCosts::SelectorFor(const api::Selector& selector, size_t slots) {
  for (size_t i = 0; i < selected_.size(); ++i) {
    if (*selected_[i].selector == selector) return i;
  }
  selected_.push_back({&selector, std::vector<int32_t>(slots, 0)});
  return selected_.size() - 1;
}

void SpreadCosts::Shift(size_t selector, NodeIndex node, int32_t delta) {
  Selected& selected = selected_[selector];
  selected.pods[node] += delta;
  selected.most = std::max(selected.most, selected.pods[node]);
  for (size_t i = 0; i < tables_.size(); ++i) {
    Table& table = tables_[i];
    if (table.selector != selector || table.per_host) continue;
    if (table.leaves_out.empty() || !table.leaves_out[node]) table.pods[PlaceOf(i, node)] += delta;
  }
}

void SpreadCosts::Table::SetDomains(size_t count) {
  if (count == domains) return;
  domains = count;
  weight = std::log(static_cast<double>(domains + 2));
}

void SpreadCosts::ChooseAmong(std::span<const uint8_t> feasible) {
  std::vector<uint8_t> candidate;  // by place
  for (size_t i = 0; i < tables_.size(); ++i) {
    Table& table = tables_[i];
    size_t domains = 0;
    candidate.assign(table.pods.size(), 0);
    for (NodeIndex node = 0; node < feasible.size(); ++node) {
      if (!feasible[node] || Ignores(node)) continue;
      if (table.per_host) {
        ++domains;
      } else {
        candidate[PlaceOf(i, node)] = 1;
      }
    }
    table.SetDomains(domains + static_cast<size_t>(std::count(candidate.begin(), candidate.end(), uint8_t{1})));
  }
}

void SpreadCosts::ChooseAmongClasses(std::span<const framework::NodeClass> feasible) {
  std::vector<uint8_t> candidate;  // by place
  for (size_t i = 0; i < tables_.size(); ++i) {
    Table& table = tables_[i];
    size_t domains = 0;
    candidate.assign(table.pods.size(), 0);
    for (const framework::NodeClass& one : feasible) {
      if (Ignores(one.any)) continue;
      domains += table.per_host ? one.nodes : std::exchange(candidate[PlaceOf(i, one.any)], uint8_t{1}) == 0;
    }
    table.SetDomains(domains);
  }
}

void SpreadCosts::ListTraits(std::vector<framework::NodeTrait>& traits) const {
  using framework::NodeTrait;
  for (size_t i = 0; i < tables_.size(); ++i) {
    const Table& table = tables_[i];
    if (!table.per_host) {
      traits.push_back(NodeTrait::DomainOf(plan_->column(i)));
      continue;
    }
    traits.push_back(NodeTrait::PresenceOf(plan_->column(i)));
    traits.push_back(NodeTrait::Number(table.selector, selected_[table.selector].pods));
  }
}

void SpreadCosts::Change(const framework::PodChange& change) {
  for (size_t s = 0; s < selected_.size(); ++s) {
    if (CountsPod(change.other, *selected_[s].selector, plan_->name_space())) {
      Shift(s, change.node.index(), change.sign);
    }
  }
}

// A node without the label has no cost, although it is counted together with those whose label is empty.
double SpreadCosts::CostOf(size_t i, NodeIndex node) const {
  const Table& table = tables_[i];
  if (plan_->DomainOf(i, node) == LabelColumn::kAbsent) return 0.0;
  return table.CostOf(table.per_host ? selected_[table.selector].pods[node] : table.pods[PlaceOf(i, node)]);
}

int64_t SpreadCosts::ScoreOf(NodeIndex node) const {
  if (Ignores(node)) return 0;
  double sum = 0;
  for (size_t i = 0; i < tables_.size(); ++i) sum += CostOf(i, node);
  return Rounded<int64_t>(sum);
}

std::vector<double> SpreadCosts::CostsByDomain(size_t i, double& highest) const {
  const Table& table = tables_[i];
  std::vector<double> costs(table.place.size(), 0.0);
  for (size_t value = 1; value < costs.size(); ++value) {
    costs[value] = table.CostOf(table.pods[table.place[value]]);
    highest = std::max(highest, costs[value]);
  }
  return costs;
}

void SpreadCosts::ScoreRange(NodeIndex begin, std::span<int64_t> scores) const {
  double highest = 0;  // of any sum
  std::vector<std::vector<double>> costs(tables_.size());
  for (size_t i = 0; i < tables_.size(); ++i) {
    const Table& table = tables_[i];
    double most = table.per_host ? table.CostOf(selected_[table.selector].most) : 0;
    if (!table.per_host) costs[i] = CostsByDomain(i, most);
    highest += most;
  }
  // With one constraint there are as many costs as domains, and each is rounded once.
  if (tables_.size() == 1 && !tables_[0].per_host && !ignores_any_ && scores.size() > costs[0].size()) {
    std::vector<int64_t> rounded;
    rounded.reserve(costs[0].size());
    for (const double cost : costs[0]) rounded.push_back(Rounded<int64_t>(cost));
    std::fill(scores.begin(), scores.end(), 0);
    AddByDomain(plan_->column(0).value_id.data() + begin, rounded.data(), scores);
    return;
  }
  std::array<double, 512> sums;  // a block of nodes that stays in the L1 cache
  for (size_t done = 0; done < scores.size(); done += sums.size()) {
    const size_t first = begin + done;
    const size_t count = std::min(sums.size(), scores.size() - done);
    std::fill_n(sums.begin(), count, 0.0);
    for (size_t i = 0; i < tables_.size(); ++i) {
      const Table& table = tables_[i];
      const int32_t* const domains = plan_->column(i).value_id.data() + first;
      if (table.per_host) {
        AddCostsByHost(domains, selected_[table.selector].pods.data() + first, table.weight,
                       static_cast<double>(table.max_skew - 1), sums.data(), count);
      } else {
        AddCostsByDomain(domains, costs[i].data(), sums.data(), count);
      }
    }
    if (highest < kSmall) {
      RoundSmall(sums.data(), scores.data() + done, count);
    } else {
      for (size_t k = 0; k < count; ++k) scores[done + k] = Rounded<int64_t>(sums[k]);
    }
    if (!ignores_any_) continue;
    for (size_t k = 0; k < count; ++k) {
      if (ignored_[first + k]) scores[done + k] = 0;
    }
  }
}

}  // namespace berth::plugins
