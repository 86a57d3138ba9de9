// Which pod conflicts, or which pods are missing. Pods are scanned once, on first use, however many nodes are asked
// about.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "framework/label_text.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

namespace berth::plugins {

using framework::AffinityTerm;
using framework::Finding;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Remedy;

namespace {

std::string TermText(const AffinityTerm& term) {
  const std::string selector = term.selector.ToString();
  return fmt::format("{} by {}", selector.empty() ? "any pod" : selector, term.topology_key.str());
}

class AffinityExplainer final : public framework::RejectionExplainer {
 public:
  AffinityExplainer(const framework::Handle& handle, const PodInfo& pod) : handle_(handle), pod_(pod) {}

  // The first term that the node does not satisfy.
  std::vector<Finding> Findings(const framework::Status&, const NodeInfo& node) const override {
    const Neighbours& found = neighbours();
    const auto& wanted = pod_.required_affinity_terms();
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Symbol* domain = node.labels().Find(wanted[i].topology_key);
      if (domain && found.company[i].contains(*domain)) continue;
      const std::string term = TermText(wanted[i]);
      return {{"affinity", term, "",
               fmt::format("affinity to {}: {}{}", term, domain ? "no such pod where " : "",
                           framework::LabelText(node, wanted[i].topology_key))}};
    }
    const auto& unwanted = pod_.required_anti_affinity_terms();
    for (size_t i = 0; i < unwanted.size(); ++i) {
      const Symbol* domain = node.labels().Find(unwanted[i].topology_key);
      const auto near = domain ? found.unwanted[i].find(*domain) : found.unwanted[i].end();
      if (near == found.unwanted[i].end()) continue;
      const Neighbour& other = near->second;
      return {{"anti-affinity", other.term, other.pod,
               fmt::format("anti-affinity to {}: {} is on {}", other.term, other.pod, other.node)}};
    }
    for (const auto& [domain, other] : found.hostile) {
      const Symbol* own = node.labels().Find(domain.first);
      if (!own || *own != domain.second) continue;
      return {{"anti-affinity of others", other.term, other.pod,
               fmt::format("{} on {} has anti-affinity to {}", other.pod, other.node, other.term)}};
    }
    return {};
  }

  // The pod's own anti-affinity can be dropped; missing pods cannot be created, nor can other pods' terms be changed.
  std::vector<Remedy> Remedies(const NodeInfo&, const Remedy& so_far) const override {
    const auto& affinity = so_far.pod()->spec.affinity;
    if (!affinity || !affinity->pod_anti_affinity) return {};
    const size_t count = affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution.size();
    if (count == 0) return {};
    Remedy remedy = so_far;
    remedy.ChangePod(
        {count == 1 ? "no required anti-affinity" : fmt::format("none of the {} required anti-affinity terms", count),
         "anti-affinity"},
        [](api::Pod& pod) {
          pod.spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution.clear();
        });
    return {remedy};
  }

  // Matching pods that exist, but not where the term looks for them.
  std::vector<std::string> Hints() const override {
    std::vector<std::string> hints;
    for (const AffinityTerm& term : pod_.required_affinity_terms()) {
      std::map<std::string, size_t> elsewhere;  // pods that match except for their namespace
      bool found = false;
      for (const NodeInfo* node : handle_.cluster().nodes()) {
        for (const PodInfoPtr& other : node->pods()) {
          if (!term.selector.Matches(other->labels())) continue;
          if (term.Matches(*other, NamespaceLabels(*other))) {
            found = true;
          } else {
            ++elsewhere[std::string(other->namespace_().str())];
          }
        }
      }
      if (found) continue;
      if (elsewhere.empty()) hints.push_back(fmt::format("no pod at all matches {}", term.selector.ToString()));
      for (const auto& [name_space, count] : elsewhere) {
        hints.push_back(fmt::format("{} in namespace {} match{} {}: the term looks in others",
                                    count == 1 ? "a pod" : fmt::format("{} pods", count), name_space,
                                    count == 1 ? "es" : "", term.selector.ToString()));
      }
    }
    return hints;
  }

 private:
  // A relevant pod in a domain, the first by name.
  struct Neighbour {
    std::string pod;
    std::string node;
    std::string term;
  };
  using Domain = std::pair<Symbol, Symbol>;  // topology key and value
  struct Neighbours {
    std::vector<std::map<Symbol, Neighbour>> company;   // by affinity term, then domain: matches all terms
    std::vector<std::map<Symbol, Neighbour>> unwanted;  // by anti-affinity term, then domain
    std::map<Domain, Neighbour> hostile;                // those whose anti-affinity matches this pod
  };

  const Neighbours& neighbours() const {
    if (neighbours_) return *neighbours_;
    Neighbours& found = neighbours_.emplace();
    found.company.resize(pod_.required_affinity_terms().size());
    found.unwanted.resize(pod_.required_anti_affinity_terms().size());
    for (const NodeInfo* node : handle_.cluster().nodes()) {
      for (const PodInfoPtr& other : node->pods()) Meet(*other, *node, found);
    }
    return *neighbours_;
  }

  const api::Labels* NamespaceLabels(const PodInfo& pod) const {
    const api::Namespace* found = handle_.objects().namespaces.Find(pod.namespace_().str());
    return found ? &found->metadata.labels : nullptr;
  }

  // Records how `other`, which is on `node`, and the pod affect each other.
  void Meet(const PodInfo& other, const NodeInfo& node, Neighbours& found) const {
    const auto note = [&](auto& place, const auto& domain, const AffinityTerm& term) {
      const auto [entry, added] = place.try_emplace(domain, Neighbour{other.Key(), node.name(), TermText(term)});
      if (!added && other.Key() < entry->second.pod) entry->second = {other.Key(), node.name(), TermText(term)};
    };
    const auto& wanted = pod_.required_affinity_terms();
    const auto& unwanted = pod_.required_anti_affinity_terms();
    const api::Labels* labels = wanted.empty() && unwanted.empty() ? nullptr : NamespaceLabels(other);
    // One pod must satisfy all affinity terms, but any anti-affinity term is enough.
    const bool company = !wanted.empty() && std::all_of(wanted.begin(), wanted.end(), [&](const AffinityTerm& term) {
      return term.Matches(other, labels);
    });
    for (size_t i = 0; company && i < wanted.size(); ++i) {
      if (const Symbol* domain = node.labels().Find(wanted[i].topology_key)) note(found.company[i], *domain, wanted[i]);
    }
    for (size_t i = 0; i < unwanted.size(); ++i) {
      const Symbol* domain = node.labels().Find(unwanted[i].topology_key);
      if (domain && unwanted[i].Matches(other, labels)) note(found.unwanted[i], *domain, unwanted[i]);
    }
    for (const AffinityTerm& term : other.required_anti_affinity_terms()) {
      const Symbol* domain = node.labels().Find(term.topology_key);
      if (domain && term.Matches(pod_, NamespaceLabels(pod_))) {
        note(found.hostile, Domain(term.topology_key, *domain), term);
      }
    }
  }

  const framework::Handle& handle_;
  const PodInfo& pod_;
  mutable std::optional<Neighbours> neighbours_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> InterPodAffinity::ExplainRejections(const PodInfo& pod) const {
  return std::make_unique<AffinityExplainer>(handle_, pod);
}

}  // namespace berth::plugins
