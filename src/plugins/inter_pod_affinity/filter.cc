// InterPodAffinity as a filter: matching pods are counted per domain once per cycle, then a node is judged by its
// domains.
#include <algorithm>
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

// What does not change when pods are added and removed.
struct RequiringPod {
  std::vector<AffinityTerm> affinity;
  std::vector<AffinityTerm> anti_affinity;
  std::shared_ptr<const api::Namespace> name_space;  // null when unknown
  // Whether it matches its own affinity: the first pod of a group with affinity to each other must be able to go
  // somewhere.
  bool matches_own_affinity = false;

  bool asks_nothing() const { return affinity.empty() && anti_affinity.empty(); }
  const api::Labels* namespace_labels() const { return name_space ? &name_space->metadata.labels : nullptr; }
};

}  // namespace

struct InterPodAffinity::FilterState final : framework::CopyableState<FilterState> {
  explicit FilterState(const framework::ClusterView& cluster)
      : matching_affinity(cluster), matching_anti_affinity(cluster), hostile(cluster) {}

  // The pod has no required terms and matches nobody's anti-affinity.
  bool skips() const { return incoming->asks_nothing() && hostile.all_zero(); }
  // No matching pod exists anywhere and the pod matches its own affinity, so that it may be the first of its group.
  bool may_go_first() const { return matching_affinity.all_zero() && incoming->matches_own_affinity; }

  // Counts `existing` on `node` for the incoming pod's terms.
  void CountMatches(const PodInfo& existing, NodeIndex node, int64_t delta) {
    // One pod must satisfy all affinity terms, but any anti-affinity term is enough.
    if (MatchesAllTerms(incoming->affinity, existing)) {
      for (const AffinityTerm& term : incoming->affinity) matching_affinity.Add(term.topology_key, node, delta);
    }
    for (const AffinityTerm& term : incoming->anti_affinity) {
      if (term.Matches(existing, nullptr)) matching_anti_affinity.Add(term.topology_key, node, delta);
    }
  }
  // Counts `existing` on `node` for its own anti-affinity against the incoming pod.
  void CountHostility(const PodInfo& existing, const PodInfo& pod, NodeIndex node, int64_t delta) {
    for (const AffinityTerm& term : existing.required_anti_affinity_terms()) {
      if (term.Matches(pod, incoming->namespace_labels())) hostile.Add(term.topology_key, node, delta);
    }
  }

  std::shared_ptr<const RequiringPod> incoming;
  TopologyTallies matching_affinity;       // pods that match all of the pod's affinity terms; one table per term
  TopologyTallies matching_anti_affinity;  // terms of the pod's anti-affinity that pods match
  TopologyTallies hostile;                 // anti-affinity terms of placed pods that match the pod
};

PreFilterResult InterPodAffinity::PreFilter(CycleState& state, const PodInfo& pod) const {
  if (!pod.parse_error().empty()) return Status::UnschedulableAndUnresolvable("parsing pod: " + pod.parse_error());

  const framework::ClusterView& cluster = handle_.cluster();
  auto incoming = std::make_shared<RequiringPod>();
  incoming->affinity = WithNamespacesResolved(pod.required_affinity_terms());
  incoming->anti_affinity = WithNamespacesResolved(pod.required_anti_affinity_terms());
  incoming->name_space = NamespaceOf(pod);
  incoming->matches_own_affinity = MatchesAllTerms(incoming->affinity, pod);

  auto data = std::make_unique<FilterState>(cluster);
  data->incoming = std::move(incoming);
  for (const NodeInfo* node : cluster.nodes_with_required_anti_affinity_pods()) {
    for (const framework::PodInfoPtr& existing : node->pods_with_required_anti_affinity()) {
      data->CountHostility(*existing, pod, node->index(), +1);
    }
  }
  for (const AffinityTerm& term : data->incoming->affinity) data->matching_affinity.TableFor(term.topology_key);
  if (!data->incoming->asks_nothing()) {
    // Rows are far apart in memory; many need not be read.
    const NodeColumns& columns = cluster.columns();
    for (NodeIndex node = 0; node < columns.size(); ++node) {
      if (columns.pod_count[node] == 0) continue;
      for (const framework::PodInfoPtr& existing : cluster.row(node).pods()) data->CountMatches(*existing, node, +1);
    }
  }
  const bool skips = data->skips();
  state.Put(filter_key_, std::move(data));
  return skips ? Status::Skip() : Status::Success();
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

// PreFilter counts the same as AddPod and RemovePod; only whether it skips must be checked.
bool InterPodAffinity::CatchUpPreFilter(CycleState& state, const PodInfo& pod,
                                        const framework::PodChange& change) const {
  FilterState* data = state.FindMutable(filter_key_);
  if (data == nullptr) return false;
  if (data->incoming->asks_nothing() && change.other.required_anti_affinity_terms().empty()) return true;
  const bool skipped = data->skips();
  data->CountHostility(change.other, pod, change.node.index(), change.sign);
  data->CountMatches(change.other, change.node.index(), change.sign);
  return data->skips() == skipped;
}

InterPodAffinity::Verdict InterPodAffinity::Judge(const FilterState& state, NodeIndex node) {
  const bool needs_company = !state.may_go_first();
  for (const TopologyTallies::Table& table : state.matching_affinity.tables()) {
    if (!table.HasLabel(node) || (needs_company && table.Get(node) <= 0)) return Verdict::kNoAffinity;
  }
  for (const TopologyTallies::Table& table : state.matching_anti_affinity.tables()) {
    if (table.Get(node) > 0) return Verdict::kAntiAffinity;
  }
  for (const TopologyTallies::Table& table : state.hostile.tables()) {
    if (table.Get(node) > 0) return Verdict::kExistingAntiAffinity;
  }
  return Verdict::kFits;
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
  // In reverse order: what Judge checks earlier overwrites.
  std::fill(verdicts.begin(), verdicts.end(), static_cast<uint8_t>(Verdict::kFits));
  const auto reject_crowded = [&](const TopologyTallies& tallies, Verdict verdict) {
    for (const TopologyTallies::Table& table : tallies.tables()) {
      if (table.all_zero()) continue;
      const int32_t* const domains = table.domains() + begin;
      const uint8_t* const crowded = table.positive_by_place();
      for (size_t k = 0; k < verdicts.size(); ++k) {
        verdicts[k] = crowded[domains[k] + 1] ? static_cast<uint8_t>(verdict) : verdicts[k];
      }
    }
  };
  reject_crowded(data.hostile, Verdict::kExistingAntiAffinity);
  reject_crowded(data.matching_anti_affinity, Verdict::kAntiAffinity);
  // A pod that may go first needs only the label.
  const bool needs_company = !data.may_go_first();
  for (const TopologyTallies::Table& table : data.matching_affinity.tables()) {
    const int32_t* const domains = table.domains() + begin;
    const uint8_t* const in_company = table.positive_by_place();
    for (size_t k = 0; k < verdicts.size(); ++k) {
      const int32_t place = domains[k] + 1;
      const bool lonely = (place == 0) | (needs_company & !in_company[place]);
      verdicts[k] = lonely ? static_cast<uint8_t>(Verdict::kNoAffinity) : verdicts[k];
    }
  }
  return true;
}

void InterPodAffinity::FilterList(const CycleState& state, const PodInfo&, const NodeColumns&,
                                  std::span<const NodeIndex> nodes, std::span<uint8_t> verdicts) const {
  const FilterState& data = state.Get(filter_key_);
  for (size_t k = 0; k < nodes.size(); ++k) verdicts[k] = static_cast<uint8_t>(Judge(data, nodes[k]));
}

bool InterPodAffinity::FilterTraits(const CycleState& state, std::vector<framework::NodeTrait>& traits) const {
  const FilterState& data = state.Get(filter_key_);
  for (const TopologyTallies::Table& table : data.matching_affinity.tables()) {
    traits.push_back(table.SignTrait());
    if (table.column().one_node_each) traits.push_back(framework::NodeTrait::PresenceOf(table.column()));
  }
  for (const TopologyTallies* tallies : {&data.matching_anti_affinity, &data.hostile}) {
    for (const TopologyTallies::Table& table : tallies->tables()) traits.push_back(table.SignTrait());
  }
  return true;
}

}  // namespace berth::plugins
