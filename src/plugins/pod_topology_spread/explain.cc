// How unevenly matching pods would be spread, and the maxSkew that would allow it. Pods are counted once, when somebody
// first asks, however many nodes are asked about.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {

using framework::Finding;
using framework::NodeInfo;
using framework::Remedy;

namespace {

constexpr size_t kDomainsShown = 6;
using PodsByDomain = std::map<std::string, int64_t>;

// "b 1, a 3, and 4 more": the emptiest first.
std::string DomainsText(const PodsByDomain& counts) {
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto& [domain, count] : counts) sorted.emplace_back(count, domain);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(sorted.size(), kDomainsShown); ++i) {
    texts.push_back(fmt::format("{} {}", sorted[i].second, sorted[i].first));
  }
  if (sorted.size() > kDomainsShown) texts.push_back(fmt::format("and {} more", sorted.size() - kDomainsShown));
  return fmt::format("{}", fmt::join(texts, ", "));
}

class SpreadExplainer final : public framework::RejectionExplainer {
 public:
  SpreadExplainer(const framework::ClusterView& cluster, const framework::PodInfo& pod, const SpreadGates& gates)
      : cluster_(cluster), pod_(pod), gates_(gates) {}

  std::vector<Finding> Findings(const framework::Status&, const NodeInfo& node) const override {
    const Counts& all = counts();
    std::vector<Finding> findings;
    for (size_t i = 0; all.plan && i < all.plan->size(); ++i) {
      const SpreadConstraint& constraint = all.plan->constraint(i);
      const std::string key(constraint.topology_key.str());
      const std::optional<int64_t> skew = NeededSkew(i, node);
      if (!skew) {
        findings.push_back(
            {"label " + key, "any value", "", fmt::format("the node has no label {}, by which pods are spread", key)});
      } else if (*skew > constraint.max_skew) {
        findings.push_back({"maxSkew by " + key, fmt::format("{}", *skew), fmt::format("{}", constraint.max_skew),
                            SkewText(i, *skew, node)});
      }
    }
    return findings;
  }

  // A greater maxSkew, by as little as it takes.
  std::vector<Remedy> Remedies(const NodeInfo& node, const Remedy& so_far) const override {
    Remedy remedy = so_far;
    size_t position = 0;  // among the hard constraints
    const auto& constraints = pod_.pod().spec.topology_spread_constraints;
    for (size_t i = 0; i < constraints.size(); ++i) {
      if (constraints[i].when_unsatisfiable != kDoNotSchedule) continue;
      const std::optional<int64_t> needed = NeededSkew(position++, node);
      if (!needed) return {};
      const int32_t before = constraints[i].max_skew;
      if (*needed <= before) continue;
      const auto after = static_cast<int32_t>(std::min<int64_t>(*needed, INT32_MAX));
      remedy.ChangePod(
          {fmt::format("maxSkew {} -> {} by {}", before, after, constraints[i].topology_key.str()), "maxSkew"},
          [&](api::Pod& pod) { pod.spec.topology_spread_constraints[i].max_skew = after; });
    }
    if (remedy.steps().size() == so_far.steps().size()) return {};
    return {remedy};
  }

 private:
  struct Counts {
    std::unique_ptr<SpreadPlan> plan;     // null when there are no hard constraints
    std::vector<PodsByDomain> by_domain;  // by constraint
    std::vector<int64_t> lowest;          // by constraint
  };

  const Counts& counts() const {
    if (!counts_) counts_ = Count();
    return *counts_;
  }

  Counts Count() const {
    Counts counts;
    Result<std::vector<SpreadConstraint>> constraints =
        CompileSpreadConstraints(pod_.pod().spec.topology_spread_constraints, kDoNotSchedule, pod_.labels(), gates_);
    // Without constraints of its own, those of the configuration spoke: their reason has to do.
    if (!constraints || constraints->empty()) return counts;
    counts.plan = std::make_unique<SpreadPlan>(pod_, *std::move(constraints), cluster_, gates_);
    const SpreadPlan& plan = *counts.plan;
    counts.by_domain.resize(plan.size());
    for (const NodeInfo* node : cluster_.nodes()) {
      if (!plan.HasEveryKey(node->index())) continue;
      for (size_t i = 0; i < plan.size(); ++i) {
        if (!plan.Includes(i, *node)) continue;
        const Symbol& domain = plan.column(i).values[static_cast<size_t>(plan.DomainOf(i, node->index()))];
        counts.by_domain[i][std::string(domain.str())] +=
            CountSelectedPods(*node, plan.constraint(i).selector, plan.name_space());
      }
    }
    for (size_t i = 0; i < plan.size(); ++i) {
      const PodsByDomain& domains = counts.by_domain[i];
      // With fewer domains than minDomains there might be an empty one.
      int64_t lowest = domains.empty() || HasTooFewDomains(counts, i) ? 0 : INT64_MAX;
      for (const auto& [name, count] : domains) lowest = std::min(lowest, count);
      counts.lowest.push_back(lowest);
    }
    return counts;
  }

  static bool HasTooFewDomains(const Counts& counts, size_t constraint) {
    const auto domains = static_cast<int64_t>(counts.by_domain[constraint].size());
    return domains < counts.plan->constraint(constraint).min_domains;
  }

  // The maxSkew with which the node would do for the hard constraint at this position; unset when the node has no such
  // domain.
  std::optional<int64_t> NeededSkew(size_t constraint, const NodeInfo& node) const {
    const Counts& all = counts();
    if (!all.plan || constraint >= all.plan->size()) return std::nullopt;
    const Symbol* domain = node.labels().Find(all.plan->constraint(constraint).topology_key);
    if (!domain) return std::nullopt;
    const auto own = all.by_domain[constraint].find(std::string(domain->str()));
    const int64_t there = own == all.by_domain[constraint].end() ? 0 : own->second;
    return there + (all.plan->matches_self(constraint) ? 1 : 0) - all.lowest[constraint];
  }

  std::string SkewText(size_t i, int64_t skew, const NodeInfo& node) const {
    const Counts& all = counts();
    const SpreadConstraint& constraint = all.plan->constraint(i);
    const Symbol& key = constraint.topology_key;
    return fmt::format("{}={} would have {} matching pods, {} more than the emptiest ({}); maxSkew is {}{}", key.str(),
                       node.labels().Find(key)->str(), skew + all.lowest[i], skew, DomainsText(all.by_domain[i]),
                       constraint.max_skew,
                       HasTooFewDomains(all, i) ? fmt::format(", minDomains {}", constraint.min_domains) : "");
  }

  const framework::ClusterView& cluster_;
  const framework::PodInfo& pod_;
  const SpreadGates gates_;
  mutable std::optional<Counts> counts_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> PodTopologySpread::ExplainRejections(
    const framework::PodInfo& pod) const {
  return std::make_unique<SpreadExplainer>(handle_.cluster(), pod, gates_);
}

}  // namespace berth::plugins
