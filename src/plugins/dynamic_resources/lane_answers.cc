// DynamicResources for pods that share answers: their signature, and what is kept between them.
#include <algorithm>

#include "dra/inventory.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/extended_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/signature_text.h"

namespace berth::plugins {

using framework::CycleState;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

namespace {

// No list is this long, and no text: fields that follow belong to something else.
constexpr int64_t kEnd = -1;

// What requests and their alternatives have in common.
template <class Request>
void AppendWanted(std::string& text, const Request& request) {
  AppendField(text, request.device_class_name);
  AppendField(text, request.allocation_mode);
  AppendField(text, request.count);
  for (const api::DeviceSelector& selector : request.selectors) {
    AppendField(text, int64_t{selector.cel.has_value()});
    if (selector.cel) AppendField(text, selector.cel->expression);
  }
  AppendField(text, kEnd);
  for (const api::DeviceToleration& toleration : request.tolerations) {
    AppendField(text, toleration.key);
    AppendField(text, toleration.op);
    AppendField(text, toleration.value);
    AppendField(text, toleration.effect);
  }
  AppendField(text, kEnd);
  AppendField(text, int64_t{request.capacity.has_value()});
  if (request.capacity) {
    for (const auto& [name, amount] : request.capacity->requests) {
      AppendField(text, name);
      AppendField(text, amount.ToString());
    }
  }
  AppendField(text, kEnd);
}

void AppendRequest(std::string& text, const api::DeviceRequest& request) {
  AppendField(text, request.name);
  AppendField(text, int64_t{request.exactly.has_value()});
  if (request.exactly) {
    const std::optional<bool>& admin = request.exactly->admin_access;
    AppendField(text, int64_t{admin ? (*admin ? 2 : 1) : 0});
    AppendWanted(text, *request.exactly);
  }
  for (const api::DeviceSubRequest& alternative : request.first_available) {
    AppendField(text, alternative.name);
    AppendWanted(text, alternative);
  }
  AppendField(text, kEnd);
}

void AppendConstraint(std::string& text, const api::DeviceConstraint& constraint) {
  for (const std::string& request : constraint.requests) AppendField(text, request);
  AppendField(text, kEnd);
  AppendField(text, int64_t{constraint.match_attribute.has_value()});
  AppendField(text, constraint.match_attribute.value_or(""));
  AppendField(text, int64_t{constraint.distinct_attribute.has_value()});
  AppendField(text, constraint.distinct_attribute.value_or(""));
}

// What containers ask for of resources that classes serve: the requests of the claim that will be made follow from it.
void AppendServedRequests(std::string& text, const api::Pod& pod, const dra::ClassNames& classes) {
  const auto append = [&](const api::Container& container) {
    AppendField(text, container.restart_policy.value_or(""));
    int64_t number = 0;  // among the container's requests: the name of the request has it
    for (const auto& [name, amount] : container.resources.requests) {
      if (classes.Find(name)) {
        AppendField(text, number);
        AppendField(text, name.str());
        AppendField(text, amount.ToString());
      }
      ++number;
    }
    AppendField(text, kEnd);
  };
  for (const api::Container& container : pod.spec.init_containers) append(container);
  AppendField(text, kEnd);
  for (const api::Container& container : pod.spec.containers) append(container);
}

bool HasAlternatives(const CycleClaims& cycle) {
  return std::ranges::any_of(cycle.claims, [](const dra::ClaimPtr& claim) {
    return std::ranges::any_of(claim->spec.devices.requests,
                               [](const api::DeviceRequest& request) { return !request.first_available.empty(); });
  });
}

}  // namespace

bool DynamicResources::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  const bool extended = AsksForServedResource(pod, inventory_.class_names());
  if (pod.pod().spec.resource_claims.empty() && !extended) return true;
  if (features_.node_allocatable_resources) return false;  // the pods on a node matter, too
  if (!SignClaims(pod, signature)) return false;
  if (!extended) return true;
  const api::ObjectMeta& metadata = pod.pod().metadata;
  if (inventory_.claims().FindExtendedClaimOf(metadata.namespace_.str(), metadata.name, metadata.uid)) return false;
  std::string text;
  AppendServedRequests(text, pod.pod(), inventory_.class_names());
  AppendField(text, static_cast<int64_t>(inventory_.class_names().version()));
  signature.Add("DynamicResources.extended", text);
  return true;
}

bool DynamicResources::SignClaims(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  if (pod.pod().spec.resource_claims.empty()) return true;
  const Result<std::vector<PodClaim>> claims = FindPodClaims(pod.pod(), inventory_.claims());
  if (!claims) return false;
  std::string text;
  for (const PodClaim& entry : *claims) {
    if (entry.claim->status.allocation) return false;
    // Configuration is copied into the allocation and decides nothing.
    const api::DeviceClaim& devices = entry.claim->spec.devices;
    for (const api::DeviceRequest& request : devices.requests) AppendRequest(text, request);
    AppendField(text, kEnd);
    for (const api::DeviceConstraint& constraint : devices.constraints) AppendConstraint(text, constraint);
    AppendField(text, kEnd);
  }
  signature.Add("DynamicResources.claims", text);
  return true;
}

DeviceAnswer DynamicResources::Ask(const CycleClaims& cycle, const PodInfo& pod, const NodeInfo& node) const {
  constexpr DeviceAnswer kAsk{framework::FilterPlugin::kAskFilter, 0};
  NodeAllocation allocation;
  if (!FilterExtended(cycle, pod, node, allocation).ok()) return kAsk;
  if (!allocation.extended_claim && cycle.user_claims == 0) return {};
  const bool scored = features_.prioritized_list && HasAlternatives(cycle);
  const Status status = AllocateOn(cycle, node, allocation, /*needs_results=*/scored);
  if (status.ok()) return {DeviceAnswer::kFits, scored ? ScoreFor(cycle, allocation) : 0};
  if (status.IsError()) return kAsk;
  return {status.Message() == kCannotAllocateReason ? DeviceAnswer::kCannotAllocate : DeviceAnswer::kInvalidPools, 0};
}

dra::AnswerKey DynamicResources::GroupOf(const CycleClaims& cycle, const PodInfo& pod, const NodeInfo& node) const {
  NodeAllocation allocation;
  // What the node itself says against the pod is its own answer.
  if (!FilterExtended(cycle, pod, node, allocation).ok()) return {2, node.index()};
  dra::AnswerKey key = inventory_.AnswerKeyFor(node.shared_node(), node.index(), ClaimsToAllocate(cycle, allocation));
  if (!cycle.extended()) return key;
  // Which resources its devices serve, and device plugins do not, decides what the claim asks for.
  key.push_back(allocation.extended_claim ? 1 : 0);
  for (const auto& [name, amount] : cycle.scalar_requests) {
    key.push_back(std::ranges::any_of(allocation.mappings, [&](const api::ContainerExtendedResourceRequest& mapping) {
      return name == mapping.resource_name;
    }));
  }
  return key;
}

DeviceAnswer DynamicResources::AnswerFor(KeptAnswers& kept, const CycleClaims& cycle, const PodInfo& pod,
                                         const NodeInfo& node) const {
  if (node.index() >= kept.nodes.size()) kept.nodes.resize(node.index() + 1);
  KeptAnswers::OfNode& mine = kept.nodes[node.index()];
  const dra::NodePools& seen = inventory_.pools().PoolsOf(node.shared_node(), node.index());
  const dra::AllocatedDevices& devices = inventory_.devices();
  const uint64_t now = devices.version();
  if (mine.version >= devices.node_versions()[node.index()]) return mine.answer;
  mine.version = now;
  if (!seen.pools || !seen.is_shareable) return mine.answer = Ask(cycle, pod, node);
  if (mine.set != seen.set || mine.node != node.shared_node()) {
    // Groups that nobody is in any more stay behind; now and then all go.
    if (kept.groups.size() > 2 * kept.nodes.size() + 64) {
      kept.groups.clear();
      kept.places.clear();
      for (KeptAnswers::OfNode& node_answer : kept.nodes) node_answer.set = 0;
    }
    const auto [place, added] = kept.places.try_emplace(GroupOf(cycle, pod, node), kept.groups.size());
    if (added) kept.groups.emplace_back();
    mine.set = seen.set;
    mine.node = node.shared_node();
    mine.group = place->second;
  }
  KeptAnswers::OfGroup& ours = kept.groups[mine.group];
  if (ours.version != now) ours = {Ask(cycle, pod, node), now};
  return mine.answer = ours.answer;
}

bool DynamicResources::FilterRange(const CycleState& state, const PodInfo& pod, const framework::NodeColumns& columns,
                                   NodeIndex begin, std::span<uint8_t> verdicts) const {
  const ClaimState* found = StateOf(state);
  if (!found || !found->cycle || !found->kept) return false;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const NodeIndex node = static_cast<NodeIndex>(begin + i);
    if (!columns.live[node]) continue;
    verdicts[i] = AnswerFor(*found->kept, *found->cycle, pod, handle_.cluster().row(node)).verdict;
  }
  return true;
}

bool DynamicResources::ScoreRange(const CycleState& state, const PodInfo&, const framework::NodeColumns&,
                                  NodeIndex begin, std::span<int64_t> scores) const {
  const ClaimState* found = StateOf(state);
  if (!found || (found->cycle && !found->kept)) return false;
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] = found->cycle && begin + i < found->kept->nodes.size() ? found->kept->nodes[begin + i].answer.score : 0;
  }
  return true;
}

bool DynamicResources::CatchUpDevices(CycleState& state, const PodInfo& pod, std::vector<NodeIndex>& changed) const {
  if (!PreFilter(state, pod).status.ok()) return false;
  ClaimState& found = *state.FindMutable(key_);
  if (!found.cycle) return false;
  if (!found.kept) {
    found.kept = std::make_shared<KeptAnswers>();
    found.kept->classes_version = inventory_.classes_version();
  }
  KeptAnswers& kept = *found.kept;
  if (kept.classes_version != inventory_.classes_version()) return false;
  const framework::NodeColumns& columns = handle_.cluster().columns();
  dra::PoolTable& pools = inventory_.pools();
  if (kept.pools_version != pools.version()) {
    // Nodes that see other pools than before are marked as changed.
    for (NodeIndex node = 0; node < kept.nodes.size(); ++node) {
      if (node < columns.live.size() && columns.live[node])
        pools.PoolsOf(handle_.cluster().row(node).shared_node(), node);
    }
    kept.pools_version = pools.version();
  }
  const dra::AllocatedDevices& devices = inventory_.devices();
  if (kept.version == devices.version()) return true;
  const size_t count = std::min(kept.nodes.size(), devices.node_versions().size());
  for (NodeIndex node = 0; node < count; ++node) {
    if (devices.node_versions()[node] <= kept.nodes[node].version || !columns.live[node]) continue;
    const DeviceAnswer before = kept.nodes[node].answer;
    if (AnswerFor(kept, *found.cycle, pod, handle_.cluster().row(node)) != before) changed.push_back(node);
  }
  kept.version = devices.version();
  return true;
}

}  // namespace berth::plugins
