// How unevenly matching pods would be spread, and the maxSkew that would allow it. Pods are counted once, on first use,
// however many nodes are asked about.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/spelling.h"
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

  // The smallest sufficient maxSkew; or a lower minDomains, where that is the cause; or the label that the node lacks.
  std::vector<Remedy> Remedies(const NodeInfo& node, const Remedy& so_far) const override {
    std::vector<Remedy> remedies;
    for (const bool fewer_domains : {false, true}) {
      Remedy remedy = so_far;
      bool differs = false;
      if (!Adapt(node, fewer_domains, remedy, differs) || remedy.steps().size() == so_far.steps().size()) continue;
      if (fewer_domains && !differs) continue;
      remedies.push_back(std::move(remedy));
    }
    return remedies;
  }

  std::vector<std::string> Hints() const override {
    std::vector<std::string> hints;
    const Counts& all = counts();
    for (size_t i = 0; all.plan && i < all.plan->size(); ++i) {
      const Symbol& key = all.plan->constraint(i).topology_key;
      if (!all.by_domain[i].empty()) continue;
      const std::string near = NearestLabel(key.str());
      hints.push_back(fmt::format("no node that counts has the label {}, by which pods are spread{}", key.str(),
                                  near.empty() ? "" : fmt::format("; nearest: {}", near)));
    }
    return hints;
  }

 private:
  std::string NearestLabel(std::string_view key) const {
    std::set<std::string_view> keys;
    for (const NodeInfo* node : cluster_.nodes()) {
      for (const auto& [name, value] : node->labels()) keys.insert(name.str());
    }
    const std::vector<std::string_view> all(keys.begin(), keys.end());
    return std::string(base::NearestWord(key, all));
  }

  // False when no remedy is known. `differs`: minDomains was lowered.
  bool Adapt(const NodeInfo& node, bool fewer_domains, Remedy& remedy, bool& differs) const {
    size_t position = 0;  // among the hard constraints
    const auto& constraints = pod_.pod().spec.topology_spread_constraints;
    for (size_t i = 0; i < constraints.size(); ++i) {
      if (constraints[i].when_unsatisfiable != kDoNotSchedule) continue;
      const size_t at = position++;
      const std::optional<int64_t> needed = NeededSkew(at, node);
      if (!needed) {
        if (!SetDomain(at, node, remedy)) return false;
        continue;
      }
      const int32_t before = constraints[i].max_skew;
      if (*needed <= before) continue;
      const Counts& all = counts();
      if (fewer_domains && HasTooFewDomains(all, at)) {
        const auto domains = static_cast<int32_t>(all.by_domain[at].size());
        remedy.ChangePod({fmt::format("minDomains {} -> {} by {}", all.plan->constraint(at).min_domains, domains,
                                      constraints[i].topology_key.str()),
                          "minDomains"},
                         [&](api::Pod& pod) { pod.spec.topology_spread_constraints[i].min_domains = domains; });
        differs = true;
        continue;
      }
      const auto after = static_cast<int32_t>(std::min<int64_t>(*needed, INT32_MAX));
      remedy.ChangePod(
          {fmt::format("maxSkew {} -> {} by {}", before, after, constraints[i].topology_key.str()), "maxSkew"},
          [&](api::Pod& pod) { pod.spec.topology_spread_constraints[i].max_skew = after; });
    }
    return true;
  }

  // The label that the node lacks, with the value of the emptiest domain; for the hostname label, the node's own name.
  bool SetDomain(size_t constraint, const NodeInfo& node, Remedy& remedy) const {
    const Counts& all = counts();
    if (!all.plan || constraint >= all.plan->size()) return false;
    const Symbol key = all.plan->constraint(constraint).topology_key;
    std::string value = key.str() == "kubernetes.io/hostname" ? node.name() : "";
    int64_t fewest = INT64_MAX;
    for (const auto& [domain, count] : all.by_domain[constraint]) {
      if (!value.empty() || count >= fewest) continue;
      fewest = count;
    }
    for (const auto& [domain, count] : all.by_domain[constraint]) {
      if (value.empty() && count == fewest) value = domain;
    }
    if (value.empty()) return false;
    remedy.ChangeNode({fmt::format("label {} on {}, as it is in truth (tried with {})", key.str(), node.name(), value),
                       fmt::format("label {}", key.str())},
                      [&](api::Node& changed) { changed.metadata.labels.Set(key, Symbol(value)); });
    return true;
  }

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
    // The pod has no constraints of its own, so the configured defaults rejected it: their reason has to do.
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
      // With fewer domains than minDomains, the missing ones count as empty.
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

  // The maxSkew with which the node would satisfy the hard constraint at this position; unset when the node has no such
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
    const std::string own = fmt::format("{}={} would have {} matching pods", key.str(), node.labels().Find(key)->str(),
                                        skew + all.lowest[i]);
    if (HasTooFewDomains(all, i)) {
      return fmt::format(
          "{}, {} more than the minimum, which counts as 0: there are {} of at least {} domains ({}); "
          "maxSkew is {}, minDomains {}",
          own, skew, all.by_domain[i].size(), constraint.min_domains, DomainsText(all.by_domain[i]),
          constraint.max_skew, constraint.min_domains);
    }
    return fmt::format("{}, {} more than the emptiest ({}); maxSkew is {}", own, skew, DomainsText(all.by_domain[i]),
                       constraint.max_skew);
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
