#include "plugins/service_affinity/service_affinity.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "api/selector.h"
#include "plugins/args.h"
#include "plugins/pod_topology_spread/default_selector.h"
#include "plugins/pod_topology_spread/spread_constraint.h"
#include "plugins/signature_text.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::NodeScore;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

constexpr char kMismatch[] = "node(s) didn't match service affinity";
constexpr char kNoServiceState[] = "error reading \"PreFilterServiceAffinity\" from cycleState: not found";

// Pods that belong together have all labels of the incoming one.
class Peers {
 public:
  explicit Peers(const PodInfo& pod)
      : namespace_(pod.namespace_()), selector_(api::Selector::FromLabels(pod.labels())) {}
  bool Include(const PodInfo& other) const {
    return other.namespace_() == namespace_ && selector_.Matches(other.labels());
  }

 private:
  const Symbol namespace_;
  const api::Selector selector_;
};

bool Holds(const NodeInfo& node, const std::string& uid) {
  return std::ranges::any_of(node.pods(), [&](const PodInfoPtr& pod) { return pod->uid() == uid; });
}

}  // namespace

ServiceAffinity::ServiceAffinity(const config::ServiceAffinityArgs& args, framework::Handle& handle)
    : handle_(handle),
      key_(handle.NewStateKey<State>()),
      affinity_labels_(args.affinity_labels.begin(), args.affinity_labels.end()),
      spread_labels_(args.anti_affinity_labels_preference.begin(), args.anti_affinity_labels_preference.end()) {}

Result<std::unique_ptr<framework::Plugin>> ServiceAffinity::Create(const config::PluginArgs& args,
                                                                   framework::Handle& handle) {
  const auto mine = ReadArgs<config::ServiceAffinityArgs>(args, kName);
  if (!mine) return mine.error();
  return std::unique_ptr<framework::Plugin>(new ServiceAffinity(*mine, handle));
}

framework::PreFilterResult ServiceAffinity::PreFilter(CycleState& state, const PodInfo& pod) const {
  if (affinity_labels_.empty()) return Status::Skip();
  auto mine = std::make_unique<State>();
  mine->has_service = !ServicesOf(pod.pod(), handle_.objects()).empty();
  if (mine->has_service) {
    const Peers peers(pod);
    for (const NodeInfo* node : handle_.cluster().nodes()) {
      for (const PodInfoPtr& other : node->pods()) {
        if (peers.Include(*other)) mine->peers.push_back({other->uid(), node->shared_node()});
      }
    }
    // The order of nodes means nothing; sorting by name gives the same answer for the same cluster.
    std::ranges::stable_sort(mine->peers, {},
                             [](const Peer& peer) -> const std::string& { return peer.node->metadata.name; });
  }
  state.Put(key_, std::move(mine));
  return Status::Success();
}

Status ServiceAffinity::AddPod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                               const NodeInfo& node) const {
  State* mine = state.FindMutable(key_);
  if (!mine) return Status::Error(kNoServiceState);
  if (mine->has_service && Peers(pod).Include(other)) mine->peers.push_back({other.uid(), node.shared_node()});
  return Status::Success();
}

Status ServiceAffinity::RemovePod(CycleState& state, const PodInfo&, const PodInfo& other, const NodeInfo&) const {
  State* mine = state.FindMutable(key_);
  if (!mine) return Status::Error(kNoServiceState);
  const auto gone = std::ranges::find(mine->peers, other.uid(), &Peer::uid);
  if (gone != mine->peers.end()) mine->peers.erase(gone);
  return Status::Success();
}

Status ServiceAffinity::Filter(const CycleState& state, const PodInfo& pod, const NodeInfo& node) const {
  if (affinity_labels_.empty()) return Status::Success();
  const State* mine = state.Find(key_);
  if (!mine) return Status::Error(kNoServiceState);

  // A what-if copy of this node may lack pods that are still in the state.
  const auto decides = std::ranges::find_if(
      mine->peers, [&](const Peer& peer) { return peer.node->metadata.name != node.name() || Holds(node, peer.uid); });
  const api::Labels* there = decides == mine->peers.end() ? nullptr : &decides->node->metadata.labels;
  for (const Symbol& key : affinity_labels_) {
    const Symbol* wanted = pod.pod().spec.node_selector.Find(key);
    if (wanted == nullptr && there != nullptr) wanted = there->Find(key);
    if (wanted == nullptr) continue;
    const Symbol* value = node.labels().Find(key);
    if (value == nullptr || *value != *wanted) return Status::Unschedulable(kMismatch);
  }
  return Status::Success();
}

framework::ScoreResult ServiceAffinity::Score(const CycleState&, const PodInfo& pod, const NodeInfo& node) const {
  if (spread_labels_.empty() || node.pods().empty()) return int64_t{0};
  const std::vector<const api::Service*> services = ServicesOf(pod.pod(), handle_.objects());
  if (services.empty()) return int64_t{0};
  return CountSelectedPods(node, api::Selector::FromLabels(services.front()->spec.selector), pod.namespace_());
}

// Each label has an equal share of the score: 100 where none of the service's pods are, 0 where all are. Nodes without
// the label get nothing for it.
Status ServiceAffinity::NormalizeScore(const CycleState&, const PodInfo&, std::span<NodeScore> scores) const {
  int64_t all = 0;
  for (const NodeScore& score : scores) all += score.score;
  std::vector<double> sums(scores.size());
  for (const Symbol& key : spread_labels_) {
    std::map<Symbol, int64_t> counts;
    for (const NodeScore& score : scores) {
      if (const Symbol* value = score.node->labels().Find(key)) counts[*value] += score.score;
    }
    for (size_t i = 0; i < scores.size(); ++i) {
      const Symbol* value = scores[i].node->labels().Find(key);
      if (value == nullptr) continue;
      auto points = static_cast<double>(framework::kMaxNodeScore);
      if (all > 0) points *= static_cast<double>(all - counts[*value]) / static_cast<double>(all);
      sums[i] += points / static_cast<double>(spread_labels_.size());
    }
  }
  for (size_t i = 0; i < scores.size(); ++i) scores[i].score = static_cast<int64_t>(sums[i]);
  return Status::Success();
}

// A pod that leaves the service, or a node that is added or relabelled, may help.
std::vector<framework::ClusterEventWithHint> ServiceAffinity::EventsToRegister() const {
  return {{{EventResource::kPod, ActionType::kUpdatePodLabel | ActionType::kDelete}, {}},
          {{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeLabel}, {}},
          // So may a service that is deleted or selects other pods: its condition no longer applies.
          {{EventResource::kService, ActionType::kUpdate | ActionType::kDelete}, {}}};
}

bool ServiceAffinity::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  std::string text;
  AppendField(text, pod.namespace_().str());
  AppendLabels(text, pod.labels());
  for (const Symbol& key : affinity_labels_) {
    const Symbol* value = pod.pod().spec.node_selector.Find(key);
    AppendField(text, static_cast<int64_t>(value != nullptr));
    if (value != nullptr) AppendField(text, value->str());
  }
  signature.Add(kName, text);
  return true;
}

}  // namespace berth::plugins
