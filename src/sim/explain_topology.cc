// Details of the two plugins that look beyond the node: who is in its topology domains, and in the others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "plugins/pod_topology_spread/spread_constraint.h"
#include "sim/explain_details.h"

namespace berth::sim {

using framework::AffinityTerm;
using framework::Handle;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;

namespace {

constexpr size_t kDomainsShown = 6;

// Matching pods by the value of the topology key, over the nodes that count.
std::map<std::string, int64_t> CountDomains(const plugins::SpreadPlan& plan, size_t i,
                                            const framework::ClusterView& cluster) {
  std::map<std::string, int64_t> counts;
  for (const NodeInfo* node : cluster.nodes()) {
    if (!plan.HasEveryKey(node->index()) || !plan.Includes(i, *node)) continue;
    const Symbol& domain = plan.column(i).values[static_cast<size_t>(plan.DomainOf(i, node->index()))];
    counts[std::string(domain.str())] +=
        plugins::CountSelectedPods(*node, plan.constraint(i).selector, plan.name_space());
  }
  return counts;
}

// "a 3, b 1, and 4 more": the emptiest first.
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

std::string SkewText(const plugins::SpreadPlan& plan, size_t i, const framework::ClusterView& cluster,
                     const NodeInfo& node) {
  const plugins::SpreadConstraint& constraint = plan.constraint(i);
  const std::string_view key = constraint.topology_key.str();
  const Symbol* domain = node.labels().Find(constraint.topology_key);
  if (!domain) return fmt::format("the node has no label {}, by which pods are spread", key);
  const std::map<std::string, int64_t> counts = CountDomains(plan, i, cluster);
  const auto own = counts.find(std::string(domain->str()));
  int64_t lowest = INT64_MAX;
  for (const auto& [name, count] : counts) lowest = std::min(lowest, count);
  // With fewer domains than minDomains there might be an empty one.
  const bool too_few = static_cast<int64_t>(counts.size()) < constraint.min_domains;
  if (counts.empty() || too_few) lowest = 0;
  const int64_t here = (own == counts.end() ? 0 : own->second) + (plan.matches_self(i) ? 1 : 0);
  if (here - lowest <= constraint.max_skew) return {};
  return fmt::format("{}={} would have {} matching pods, {} against {} in the emptiest ({}), maxSkew is {}{}", key,
                     domain->str(), here, here - lowest, lowest, DomainsText(counts), constraint.max_skew,
                     too_few ? fmt::format("; fewer than minDomains {}", constraint.min_domains) : "");
}

const api::Labels* NamespaceLabels(const Handle& handle, const PodInfo& pod) {
  const api::Namespace* found = handle.objects().namespaces.Find(pod.namespace_().str());
  return found ? &found->metadata.labels : nullptr;
}

// A pod in the node's domain of the term's key that the term matches; null when there is none.
const PodInfo* MatchNear(const Handle& handle, const AffinityTerm& term, const NodeInfo& node, const NodeInfo** where) {
  const Symbol* domain = node.labels().Find(term.topology_key);
  if (!domain) return nullptr;
  const PodInfo* first = nullptr;
  for (const NodeInfo* other : handle.cluster().nodes()) {
    const Symbol* theirs = other->labels().Find(term.topology_key);
    if (!theirs || *theirs != *domain) continue;
    for (const PodInfoPtr& pod : other->pods()) {
      if (!term.Matches(pod->pod(), NamespaceLabels(handle, *pod))) continue;
      if (first && first->Key() <= pod->Key()) continue;
      first = pod.get();
      *where = other;
    }
  }
  return first;
}

std::string TermText(const AffinityTerm& term) {
  const std::string selector = term.selector.ToString();
  return fmt::format("{} by {}", selector.empty() ? "any pod" : selector, term.topology_key.str());
}

// A placed pod near the node that does not want this one beside it.
std::string HostileText(const Handle& handle, const PodInfo& pod, const NodeInfo& node) {
  const api::Labels* own_labels = NamespaceLabels(handle, pod);
  for (const NodeInfo* other : handle.cluster().nodes_with_required_anti_affinity_pods()) {
    for (const PodInfoPtr& placed : other->pods_with_required_anti_affinity()) {
      for (const AffinityTerm& term : placed->required_anti_affinity_terms()) {
        const Symbol* here = node.labels().Find(term.topology_key);
        const Symbol* there = other->labels().Find(term.topology_key);
        if (!here || !there || *here != *there || !term.Matches(pod.pod(), own_labels)) continue;
        return fmt::format("{} on {} has anti-affinity to {}", placed->Key(), other->name(), TermText(term));
      }
    }
  }
  return {};
}

}  // namespace

std::string SpreadDetail(const Handle& handle, const PodInfo& pod, const NodeInfo& node) {
  const plugins::SpreadGates gates = plugins::SpreadGates::From(handle.gates());
  Result<std::vector<plugins::SpreadConstraint>> constraints = plugins::CompileSpreadConstraints(
      pod.pod().spec.topology_spread_constraints, plugins::kDoNotSchedule, pod.labels(), gates);
  // Without constraints of its own, those of the configuration spoke: the reason has to do.
  if (!constraints || constraints->empty()) return {};
  const plugins::SpreadPlan plan(pod, *std::move(constraints), handle.cluster(), gates);
  std::vector<std::string> texts;
  for (size_t i = 0; i < plan.size(); ++i) {
    std::string text = SkewText(plan, i, handle.cluster(), node);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string PodAffinityDetail(const Handle& handle, const PodInfo& pod, const NodeInfo& node) {
  for (const AffinityTerm& term : pod.required_affinity_terms()) {
    if (!node.labels().Contains(term.topology_key)) {
      return fmt::format("affinity to {}: {}", TermText(term), LabelText(node, term.topology_key));
    }
    const NodeInfo* where = nullptr;
    if (!MatchNear(handle, term, node, &where)) {
      return fmt::format("affinity to {}: no such pod where {}", TermText(term), LabelText(node, term.topology_key));
    }
  }
  for (const AffinityTerm& term : pod.required_anti_affinity_terms()) {
    const NodeInfo* where = nullptr;
    if (const PodInfo* match = MatchNear(handle, term, node, &where)) {
      return fmt::format("anti-affinity to {}: {} is on {}", TermText(term), match->Key(), where->name());
    }
  }
  return HostileText(handle, pod, node);
}

}  // namespace berth::sim
