#include "explain/explain_topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "explain/explain_details.h"

namespace berth::explain {

using framework::AffinityTerm;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;

namespace {

constexpr size_t kDomainsShown = 6;

// "b 1, a 3, and 4 more": the emptiest first.
std::string DomainsText(const std::map<std::string, int64_t>& counts) {
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

std::string TermText(const AffinityTerm& term) {
  const std::string selector = term.selector.ToString();
  return fmt::format("{} by {}", selector.empty() ? "any pod" : selector, term.topology_key.str());
}

}  // namespace

const TopologyDetails::Counts& TopologyDetails::counts() const {
  if (counts_) return *counts_;
  counts_.emplace();
  const plugins::SpreadGates gates = plugins::SpreadGates::From(handle_.gates());
  Result<std::vector<plugins::SpreadConstraint>> constraints = plugins::CompileSpreadConstraints(
      pod_.pod().spec.topology_spread_constraints, plugins::kDoNotSchedule, pod_.labels(), gates);
  // Without constraints of its own, those of the configuration spoke: their reason has to do.
  if (!constraints || constraints->empty()) return *counts_;
  counts_->plan = std::make_unique<plugins::SpreadPlan>(pod_, *std::move(constraints), handle_.cluster(), gates);
  const plugins::SpreadPlan& plan = *counts_->plan;
  counts_->by_domain.resize(plan.size());
  for (const NodeInfo* node : handle_.cluster().nodes()) {
    if (!plan.HasEveryKey(node->index())) continue;
    for (size_t i = 0; i < plan.size(); ++i) {
      if (!plan.Includes(i, *node)) continue;
      const Symbol& domain = plan.column(i).values[static_cast<size_t>(plan.DomainOf(i, node->index()))];
      counts_->by_domain[i][std::string(domain.str())] +=
          plugins::CountSelectedPods(*node, plan.constraint(i).selector, plan.name_space());
    }
  }
  for (size_t i = 0; i < plan.size(); ++i) {
    const auto& domains = counts_->by_domain[i];
    // With fewer domains than minDomains there might be an empty one.
    const bool too_few = static_cast<int64_t>(domains.size()) < plan.constraint(i).min_domains;
    int64_t lowest = domains.empty() || too_few ? 0 : INT64_MAX;
    for (const auto& [name, count] : domains) lowest = std::min(lowest, count);
    counts_->lowest.push_back(lowest);
  }
  return *counts_;
}

std::optional<int64_t> TopologyDetails::NeededSkew(size_t constraint, const NodeInfo& node) const {
  const Counts& all = counts();
  if (!all.plan || constraint >= all.plan->size()) return std::nullopt;
  const Symbol* domain = node.labels().Find(all.plan->constraint(constraint).topology_key);
  if (!domain) return std::nullopt;
  const auto own = all.by_domain[constraint].find(std::string(domain->str()));
  const int64_t there = own == all.by_domain[constraint].end() ? 0 : own->second;
  return there + (all.plan->matches_self(constraint) ? 1 : 0) - all.lowest[constraint];
}

std::string TopologyDetails::Spread(const NodeInfo& node) const {
  const Counts& all = counts();
  std::vector<std::string> texts;
  for (size_t i = 0; all.plan && i < all.plan->size(); ++i) {
    const plugins::SpreadConstraint& constraint = all.plan->constraint(i);
    const std::string_view key = constraint.topology_key.str();
    const std::optional<int64_t> skew = NeededSkew(i, node);
    if (!skew) {
      texts.push_back(fmt::format("the node has no label {}, by which pods are spread", key));
      continue;
    }
    if (*skew <= constraint.max_skew) continue;
    const bool too_few = static_cast<int64_t>(all.by_domain[i].size()) < constraint.min_domains;
    texts.push_back(fmt::format("{}={} would have {} matching pods, {} more than the emptiest ({}); maxSkew is {}{}",
                                key, node.labels().Find(constraint.topology_key)->str(), *skew + all.lowest[i], *skew,
                                DomainsText(all.by_domain[i]), constraint.max_skew,
                                too_few ? fmt::format(", minDomains {}", constraint.min_domains) : ""));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

const api::Labels* TopologyDetails::NamespaceLabels(const PodInfo& pod) const {
  const api::Namespace* found = handle_.objects().namespaces.Find(pod.namespace_().str());
  return found ? &found->metadata.labels : nullptr;
}

// Notes what `other`, which is on `node`, means to the pod and the pod to it.
void TopologyDetails::Meet(const PodInfo& other, const NodeInfo& node, Neighbours& found) const {
  const auto note = [&](auto& place, const auto& domain, const AffinityTerm& term) {
    const auto [entry, added] = place.try_emplace(domain, Neighbour{other.Key(), node.name(), TermText(term)});
    if (!added && other.Key() < entry->second.pod) entry->second = {other.Key(), node.name(), TermText(term)};
  };
  const auto& wanted = pod_.required_affinity_terms();
  const auto& unwanted = pod_.required_anti_affinity_terms();
  const api::Labels* labels = wanted.empty() && unwanted.empty() ? nullptr : NamespaceLabels(other);
  // One pod must satisfy all affinity terms, but any anti-affinity term is enough.
  const bool company = !wanted.empty() && std::all_of(wanted.begin(), wanted.end(), [&](const AffinityTerm& term) {
    return term.Matches(other.pod(), labels);
  });
  for (size_t i = 0; company && i < wanted.size(); ++i) {
    if (const Symbol* domain = node.labels().Find(wanted[i].topology_key)) note(found.company[i], *domain, wanted[i]);
  }
  for (size_t i = 0; i < unwanted.size(); ++i) {
    const Symbol* domain = node.labels().Find(unwanted[i].topology_key);
    if (domain && unwanted[i].Matches(other.pod(), labels)) note(found.unwanted[i], *domain, unwanted[i]);
  }
  for (const AffinityTerm& term : other.required_anti_affinity_terms()) {
    const Symbol* domain = node.labels().Find(term.topology_key);
    if (domain && term.Matches(pod_.pod(), NamespaceLabels(pod_))) {
      note(found.hostile, Domain(term.topology_key, *domain), term);
    }
  }
}

const TopologyDetails::Neighbours& TopologyDetails::neighbours() const {
  if (neighbours_) return *neighbours_;
  Neighbours& found = neighbours_.emplace();
  found.company.resize(pod_.required_affinity_terms().size());
  found.unwanted.resize(pod_.required_anti_affinity_terms().size());
  for (const NodeInfo* node : handle_.cluster().nodes()) {
    for (const PodInfoPtr& other : node->pods()) Meet(*other, *node, found);
  }
  return *neighbours_;
}

std::string TopologyDetails::Affinity(const NodeInfo& node) const {
  const Neighbours& found = neighbours();
  const auto& wanted = pod_.required_affinity_terms();
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Symbol* domain = node.labels().Find(wanted[i].topology_key);
    if (domain && found.company[i].contains(*domain)) continue;
    return fmt::format("affinity to {}: {}{}", TermText(wanted[i]), domain ? "no such pod where " : "",
                       LabelText(node, wanted[i].topology_key));
  }
  const auto& unwanted = pod_.required_anti_affinity_terms();
  for (size_t i = 0; i < unwanted.size(); ++i) {
    const Symbol* domain = node.labels().Find(unwanted[i].topology_key);
    const auto near = domain ? found.unwanted[i].find(*domain) : found.unwanted[i].end();
    if (near == found.unwanted[i].end()) continue;
    return fmt::format("anti-affinity to {}: {} is on {}", near->second.term, near->second.pod, near->second.node);
  }
  for (const auto& [domain, neighbour] : found.hostile) {
    const Symbol* own = node.labels().Find(domain.first);
    if (!own || *own != domain.second) continue;
    return fmt::format("{} on {} has anti-affinity to {}", neighbour.pod, neighbour.node, neighbour.term);
  }
  return {};
}

}  // namespace berth::explain
