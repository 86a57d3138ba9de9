// Details of the two plugins that look beyond the node: who is in its topology domains, and in the others. Pods are
// counted once, when somebody first asks, however many nodes are asked about.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/handle.h"
#include "framework/node_info.h"
#include "framework/pod_info.h"
#include "plugins/pod_topology_spread/spread_constraint.h"

namespace berth::explain {

class TopologyDetails {
 public:
  // Both outlive it, and nothing changes meanwhile.
  TopologyDetails(const framework::Handle& handle, const framework::PodInfo& pod) : handle_(handle), pod_(pod) {}

  // Pods in the node's domain and in the emptiest one, against maxSkew. "" when no constraint of the pod is violated.
  std::string Spread(const framework::NodeInfo& node) const;
  // The maxSkew with which the node would do for the pod's hard constraint at this position; unset when the node has no
  // such domain.
  std::optional<int64_t> NeededSkew(size_t constraint, const framework::NodeInfo& node) const;
  // The term, and the pod that is in the way or the company that is missing.
  std::string Affinity(const framework::NodeInfo& node) const;

 private:
  struct Counts {
    std::unique_ptr<plugins::SpreadPlan> plan;              // null when there are no hard constraints
    std::vector<std::map<std::string, int64_t>> by_domain;  // by constraint
    std::vector<int64_t> lowest;                            // by constraint
  };
  // A pod that matters in a domain, the first by name.
  struct Neighbour {
    std::string pod;
    std::string node;
    std::string term;
  };
  using Domain = std::pair<Symbol, Symbol>;  // topology key and value
  struct Neighbours {
    std::vector<std::map<Symbol, Neighbour>> company;   // by affinity term, then domain: matches all of them
    std::vector<std::map<Symbol, Neighbour>> unwanted;  // by anti-affinity term, then domain
    std::map<Domain, Neighbour> hostile;                // whose anti-affinity this pod matches
  };

  const Counts& counts() const;
  const Neighbours& neighbours() const;
  const api::Labels* NamespaceLabels(const framework::PodInfo& pod) const;
  void Meet(const framework::PodInfo& other, const framework::NodeInfo& node, Neighbours& found) const;

  const framework::Handle& handle_;
  const framework::PodInfo& pod_;
  mutable std::optional<Counts> counts_;
  mutable std::optional<Neighbours> neighbours_;
};

}  // namespace berth::explain
