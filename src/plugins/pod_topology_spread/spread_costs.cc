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

// std::round without a call or a jump, for numbers that an Int can hold: half and more of the rest makes a whole when
// doubled.
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
BERTH_VECTORIZE void AddCosts(const double* __restrict costs, double* __restrict sums, size_t count) {
  for (size_t k = 0; k < count; ++k) sums[k] += costs[k];
}
BERTH_VECTORIZE void AddCostsByDomain(const int32_t* __restrict domains, const double* __restrict costs,
                                      double* __restrict sums, size_t count) {
  for (size_t k = 0; k < count; ++k) sums[k] += costs[domains[k] + 1];
}

// Sums of costs below this are rounded as int32, which processors do several at a time.
constexpr double kSmall = 1e9;

}  // namespace

SpreadCosts::SpreadCosts(std::shared_ptr<const SpreadPlan> plan, const framework::ClusterView& cluster,
                         bool requires_every_key)
    : plan_(std::move(plan)) {
  const size_t slots = cluster.columns().size();
  rows_.assign(slots, nullptr);
  generations_.assign(slots, 0);
  ignored_.assign(slots, 0);
  for (const NodeInfo* node : cluster.nodes()) {
    rows_[node->index()] = node;
    if (requires_every_key && !plan_->HasEveryKey(node->index())) {
      ignored_[node->index()] = 1;
      ignores_any_ = true;
    }
  }
  for (size_t i = 0; i < plan_->size(); ++i) AddTable(i, cluster);
  for (const NodeInfo* node : cluster.nodes()) Count(*node);
}

void SpreadCosts::AddTable(size_t i, const framework::ClusterView& cluster) {
  const SpreadConstraint& constraint = plan_->constraint(i);
  const size_t slots = rows_.size();
  Table& table = tables_.emplace_back();
  table.selector = SelectorFor(constraint.selector);
  table.per_host = IsPerHost(constraint);
  table.max_skew = constraint.max_skew;
  const size_t places = table.per_host ? slots : plan_->column(i).values.size() + 1;
  table.candidate.assign(places, 0);
  table.costs.assign(places, 0.0);
  if (table.per_host) return;
  table.pods.assign(places, 0);
  table.place.assign(slots, 0);
  table.counts.assign(slots, 0);
  for (const NodeInfo* node : cluster.nodes()) {
    const NodeIndex at = node->index();
    const int32_t domain = plan_->DomainOf(i, at);
    const bool named = domain != LabelColumn::kAbsent && !plan_->column(i).values[static_cast<size_t>(domain)].empty();
    table.place[at] = named ? domain + 1 : 0;
    table.counts[at] = ignored_[at] == 0 && plan_->Includes(i, *node) ? 1 : 0;
  }
}

// Constraints often share their selector; pods are then matched once.
size_t SpreadCosts::SelectorFor(const api::Selector& selector) {
  for (size_t i = 0; i < selectors_.size(); ++i) {
    if (*selectors_[i] == selector) return i;
  }
  selectors_.push_back(&selector);
  selected_.emplace_back(rows_.size(), 0);
  return selectors_.size() - 1;
}

void SpreadCosts::Count(const NodeInfo& node) {
  const NodeIndex at = node.index();
  generations_[at] = node.generation();
  for (size_t s = 0; s < selectors_.size(); ++s) {
    const int64_t pods = CountSelectedPods(node, *selectors_[s], plan_->name_space());
    const int32_t delta = static_cast<int32_t>(pods) - selected_[s][at];
    if (delta != 0) Shift(s, at, delta);
  }
}

void SpreadCosts::Shift(size_t selector, NodeIndex node, int32_t delta) {
  selected_[selector][node] += delta;
  for (size_t i = 0; i < tables_.size(); ++i) {
    Table& table = tables_[i];
    if (table.selector != selector) continue;
    if (table.per_host) {
      Price(i, node);
    } else if (table.counts[node]) {
      const auto place = static_cast<size_t>(table.place[node]);
      table.pods[place] += delta;
      Price(i, place);
    }
  }
}

// The weight keeps keys with few domains, and so with many pods in each, from drowning the others; maxSkew blurs small
// differences.
double SpreadCosts::Table::CostOf(int64_t matching) {
  const double cost = static_cast<double>(matching) * weight + static_cast<double>(max_skew - 1);
  highest = std::max(highest, cost);
  return cost;
}

void SpreadCosts::Price(size_t i, size_t place) {
  Table& table = tables_[i];
  if (!table.candidate[place]) return;
  const LabelColumn& column = plan_->column(i);
  if (table.per_host) {
    const double cost = table.CostOf(selected_[table.selector][place]);
    table.costs[place] = column.value_id[place] == LabelColumn::kAbsent ? 0.0 : cost;
    return;
  }
  const double cost = table.CostOf(table.pods[place]);
  if (place != 0) {
    table.costs[place] = cost;
    return;
  }
  // A node without the label is not charged, although it is counted together with those whose label is empty.
  for (size_t value = 0; value < column.values.size(); ++value) {
    if (column.values[value].empty()) table.costs[value + 1] = cost;
  }
}

void SpreadCosts::ChooseAmong(std::span<const uint8_t> feasible) {
  std::vector<NodeIndex> chosen;
  chosen.reserve(feasible.size());
  for (NodeIndex node = 0; node < feasible.size(); ++node) {
    if (feasible[node] && !ignored_[node]) chosen.push_back(node);
  }
  for (size_t i = 0; i < tables_.size(); ++i) {
    Table& table = tables_[i];
    std::fill(table.candidate.begin(), table.candidate.end(), uint8_t{0});
    std::fill(table.costs.begin(), table.costs.end(), 0.0);
    table.highest = 0;
    if (table.per_host) {
      for (const NodeIndex node : chosen) table.candidate[node] = 1;
    } else {
      for (const NodeIndex node : chosen) table.candidate[static_cast<size_t>(table.place[node])] = 1;
    }
    const auto domains = std::count(table.candidate.begin(), table.candidate.end(), uint8_t{1});
    table.weight = std::log(static_cast<double>(domains + 2));
    for (size_t place = 0; place < table.candidate.size(); ++place) Price(i, place);
  }
}

void SpreadCosts::Refresh(const framework::ClusterView& cluster) {
  const std::vector<uint64_t>& now = cluster.columns().generation;
  CHECK_WHY(now.size() == rows_.size(), "nodes came or went while spread costs were kept");
  for (size_t node = 0; node < rows_.size(); ++node) {
    if (now[node] != generations_[node] && rows_[node] != nullptr) Count(*rows_[node]);
  }
}

void SpreadCosts::Change(const framework::PodChange& change) {
  for (size_t s = 0; s < selectors_.size(); ++s) {
    if (CountsPod(change.other, *selectors_[s], plan_->name_space())) Shift(s, change.node.index(), change.sign);
  }
}

int64_t SpreadCosts::ScoreOf(NodeIndex node) const {
  int64_t score = 0;
  ScoreRange(node, std::span<int64_t>(&score, 1));
  return score;
}

void SpreadCosts::ScoreRange(NodeIndex begin, std::span<int64_t> scores) const {
  double highest = 0;
  for (const Table& table : tables_) highest += table.highest;
  // With one constraint there are as many costs as domains, and each is rounded once.
  if (tables_.size() == 1 && !tables_[0].per_host && !ignores_any_ && scores.size() > tables_[0].costs.size()) {
    std::vector<int64_t> rounded;
    rounded.reserve(tables_[0].costs.size());
    for (const double cost : tables_[0].costs) rounded.push_back(Rounded<int64_t>(cost));
    std::fill(scores.begin(), scores.end(), 0);
    AddByDomain(plan_->column(0).value_id.data() + begin, rounded.data(), scores);
    return;
  }
  std::array<double, 512> sums;  // a stretch of nodes that stays in the nearest cache
  for (size_t done = 0; done < scores.size(); done += sums.size()) {
    const size_t first = begin + done;
    const size_t count = std::min(sums.size(), scores.size() - done);
    std::fill_n(sums.begin(), count, 0.0);
    for (size_t i = 0; i < tables_.size(); ++i) {
      const double* const costs = tables_[i].costs.data();
      if (tables_[i].per_host) {
        AddCosts(costs + first, sums.data(), count);
      } else {
        AddCostsByDomain(plan_->column(i).value_id.data() + first, costs, sums.data(), count);
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
