// InterPodAffinity as a filter: matching pods are tallied per domain once per cycle, then a node is judged by its
// domains.
#include <memory>
#include <utility>

#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity/topology_tallies.h"

namespace berth::plugins {

using framework::AffinityTerm;
using framework::CycleState;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PreFilterResult;
using framework::Status;

namespace {

// What stays the same while pods come and go.
struct IncomingPod {
  std::vector<AffinityTerm> affinity;
  std::vector<AffinityTerm> anti_affinity;
  std::shared_ptr<const api::Namespace> name_space;  // null when unknown
  // Whether it would be near itself: the first pod of a series with affinity to each other must be able to go
  // somewhere.
  bool matches_own_affinity = false;

  const api::Labels* namespace_labels() const { return name_space ? &name_space->metadata.labels : nullptr; }
};

}  // namespace

struct InterPodAffinity::FilterState final : framework::CopyableState<FilterState> {
  explicit FilterState(const framework::ClusterView& cluster)
      : matching_affinity(cluster), matching_anti_affinity(cluster), hostile(cluster) {}

  // Counts `existing` on `node` for what the incoming pod asks of others.
  void CountMatches(const PodInfo& existing, NodeIndex node, int64_t delta) {
    // One pod must satisfy all affinity terms, but any anti-affinity term is enough.
    if (MatchesAllTerms(incoming->affinity, existing.pod())) {
      for (const AffinityTerm& term : incoming->affinity) matching_affinity.Add(term.topology_key, node, delta);
    }
    for (const AffinityTerm& term : incoming->anti_affinity) {
      if (term.Matches(existing.pod(), nullptr)) matching_anti_affinity.Add(term.topology_key, node, delta);
    }
  }
  // Counts `existing` on `node` for what it forbids the incoming pod.
  void CountHostility(const PodInfo& existing, const PodInfo& pod, NodeIndex node, int64_t delta) {
    for (const AffinityTerm& term : existing.required_anti_affinity_terms()) {
      if (term.Matches(pod.pod(), incoming->namespace_labels())) hostile.Add(term.topology_key, node, delta);
    }
  }

  std::shared_ptr<const IncomingPod> incoming;
  TopologyTallies matching_affinity;         // pods that match all of the pod's affinity terms
  TopologyTallies matching_anti_affinity;    // terms of the pod's anti-affinity that pods match
  TopologyTallies hostile;                   // anti-affinity terms of placed pods that match the pod
  std::vector<size_t> affinity_tables;       // by term, positions in matching_affinity
  std::vector<size_t> anti_affinity_tables;  // by term, positions in matching_anti_affinity
};

PreFilterResult InterPodAffinity::PreFilter(CycleState& state, const PodInfo& pod) const {
  if (!pod.parse_error().empty()) return Status::UnschedulableAndUnresolvable("parsing pod: " + pod.parse_error());

  const framework::ClusterView& cluster = handle_.cluster();
  auto incoming = std::make_shared<IncomingPod>();
  incoming->affinity = WithNamespacesResolved(pod.required_affinity_terms());
  incoming->anti_affinity = WithNamespacesResolved(pod.required_anti_affinity_terms());
  incoming->name_space = NamespaceOf(pod);
  incoming->matches_own_affinity = MatchesAllTerms(incoming->affinity, pod.pod());

  auto data = std::make_unique<FilterState>(cluster);
  data->incoming = std::move(incoming);
  for (const NodeInfo* node : cluster.nodes_with_required_anti_affinity_pods()) {
    for (const framework::PodInfoPtr& existing : node->pods_with_required_anti_affinity()) {
      data->CountHostility(*existing, pod, node->index(), +1);
    }
  }
  const bool asks_nothing = data->incoming->affinity.empty() && data->incoming->anti_affinity.empty();
  if (asks_nothing && data->hostile.all_zero()) return Status::Skip();

  for (const AffinityTerm& term : data->incoming->affinity) {
    data->affinity_tables.push_back(data->matching_affinity.TableFor(term.topology_key));
  }
  for (const AffinityTerm& term : data->incoming->anti_affinity) {
    data->anti_affinity_tables.push_back(data->matching_anti_affinity.TableFor(term.topology_key));
  }
  if (!asks_nothing) {
    for (const NodeInfo* node : cluster.nodes()) {
      for (const framework::PodInfoPtr& existing : node->pods()) data->CountMatches(*existing, node->index(), +1);
    }
  }
  state.Put(filter_key_, std::move(data));
  return {};
}

Status InterPodAffinity::AddPod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                const NodeInfo& node) const {
  ChangePod(state, pod, other, node, +1);
  return Status::Success();
}

Status InterPodAffinity::RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                   const NodeInfo& node) const {
  ChangePod(state, pod, other, node, -1);
  return Status::Success();
}

void InterPodAffinity::ChangePod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node,
                                 int64_t delta) const {
  FilterState* data = state.FindMutable(filter_key_);
  CHECK_WHY(data != nullptr, "a pod was added or removed before PreFilter ran");
  data->CountHostility(other, pod, node.index(), delta);
  data->CountMatches(other, node.index(), delta);
}

InterPodAffinity::Verdict InterPodAffinity::Judge(const FilterState& state, NodeIndex node) {
  bool has_company = true;
  for (const size_t table : state.affinity_tables) {
    if (!state.matching_affinity.HasLabel(table, node)) return Verdict::kNoAffinity;
    if (state.matching_affinity.Get(table, node) <= 0) has_company = false;
  }
  // Without company the pod may only start a series: nobody to be near exists anywhere, and it would be near itself.
  if (!has_company && !(state.matching_affinity.all_zero() && state.incoming->matches_own_affinity)) {
    return Verdict::kNoAffinity;
  }
  for (const size_t table : state.anti_affinity_tables) {
    if (state.matching_anti_affinity.Get(table, node) > 0) return Verdict::kAntiAffinity;
  }
  return state.hostile.AnyPositive(node) ? Verdict::kExistingAntiAffinity : Verdict::kFits;
}

Status InterPodAffinity::Filter(const CycleState& state, const PodInfo&, const NodeInfo& node) const {
  switch (Judge(state.Get(filter_key_), node.index())) {
    case Verdict::kFits:
      break;
    case Verdict::kNoAffinity:
      return no_affinity_;
    case Verdict::kAntiAffinity:
      return anti_affinity_;
    case Verdict::kExistingAntiAffinity:
      return existing_anti_affinity_;
  }
  return Status::Success();
}

bool InterPodAffinity::FilterRange(const CycleState& state, const PodInfo&, const NodeColumns&, NodeIndex begin,
                                   std::span<uint8_t> verdicts) const {
  const FilterState& data = state.Get(filter_key_);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    verdicts[i] = static_cast<uint8_t>(Judge(data, begin + static_cast<NodeIndex>(i)));
  }
  return true;
}

}  // namespace berth::plugins
