#include "plugin_library/host.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "api/object.h"
#include "api/pod.h"
#include "plugin_library/instance.h"

namespace berth::plugin_library {

namespace {

using framework::NodeInfo;
using framework::PodInfo;

constexpr berth_string kNone{nullptr, 0};

Instance& Of(berth_instance* instance) { return *static_cast<Instance*>(instance); }
const PodInfo& Of(const berth_pod* pod) { return *static_cast<const PodInfo*>(pod->host); }

// Compared as text: the keys that libraries ask for need not be interned.
template <class Map>
berth_string FindText(const Map& map, berth_string key) {
  const std::string_view wanted = ToView(key);
  for (const auto& [name, value] : map) {
    if (name == wanted) {
      if constexpr (requires { value.str(); }) {
        return ToC(value.str());
      } else {
        return ToC(value);
      }
    }
  }
  return kNone;
}

uint8_t AddReason(berth_instance* instance, berth_code code, berth_string text) {
  return Of(instance).AddReason(code, ToView(text));
}
const berth_label_key* LabelKey(berth_instance* instance, berth_string key) {
  return Of(instance).LabelKey(ToView(key));
}
void Say(berth_call* call, berth_string text) { CallFrame::Of(call).said = ToView(text); }
void SayInit(berth_instance* instance, berth_string text) { Of(instance).Say(ToView(text)); }

void AddToSignature(berth_call* call, berth_string key, berth_string value) {
  if (framework::SignatureBuilder* signature = CallFrame::Of(call).signature)
    signature->Add(ToView(key), ToView(value));
}
void KeepNode(berth_call* call, berth_string name) {
  std::optional<std::set<std::string>>& kept = CallFrame::Of(call).kept_nodes;
  if (!kept) kept.emplace();
  kept->emplace(ToView(name));
}
void SetPreFilterData(berth_call* call, void* data) { CallFrame::Of(call).new_pre_filter_data = data; }
void SetPreScoreData(berth_call* call, void* data) { CallFrame::Of(call).new_pre_score_data = data; }

berth_string PodLabel(const berth_pod* pod, berth_string key) { return FindText(Of(pod).labels(), key); }
berth_string PodAnnotation(const berth_pod* pod, berth_string key) {
  return FindText(Of(pod).pod().metadata.annotations, key);
}
int64_t PodRequest(const berth_pod* pod, berth_string resource) {
  return Of(pod).requests().Get(Symbol(ToView(resource)));
}
berth_string PodJson(berth_call* call) {
  CallFrame& frame = CallFrame::Of(call);
  if (frame.json.empty()) frame.json = api::EncodeJson(api::Object(frame.pod().shared_pod()));
  return ToC(frame.json);
}

const berth_string* NodeNames(const berth_nodes* nodes) { return NodeBatch::Of(nodes).names(); }

// Filled only up to the caller's size of the struct; today that means all of it or nothing.
void FillLabelColumn(const berth_nodes* nodes, const berth_label_key* key, berth_label_column* column) {
  if (column->size >= sizeof(berth_label_column)) NodeBatch::Of(nodes).FillLabels(key->symbol, *column);
}
berth_string LabelValue(const berth_label_column* column, int32_t id) {
  const auto& values = *static_cast<const std::vector<Symbol>*>(column->host);
  return id >= 0 && static_cast<size_t>(id) < values.size() ? ToC(values[static_cast<size_t>(id)].str()) : kNone;
}
berth_string NodeLabel(const berth_nodes* nodes, uint32_t i, berth_string key) {
  const NodeInfo* node = NodeBatch::Of(nodes).row(i);
  return node ? FindText(node->labels(), key) : kNone;
}
berth_string NodeAnnotation(const berth_nodes* nodes, uint32_t i, berth_string key) {
  const NodeInfo* node = NodeBatch::Of(nodes).row(i);
  return node ? FindText(node->node().metadata.annotations, key) : kNone;
}
int64_t NodeAllocatable(const berth_nodes* nodes, uint32_t i, berth_string resource) {
  const NodeInfo* node = NodeBatch::Of(nodes).row(i);
  return node ? node->allocatable().Get(Symbol(ToView(resource))) : 0;
}
int64_t NodeRequested(const berth_nodes* nodes, uint32_t i, berth_string resource) {
  const NodeInfo* node = NodeBatch::Of(nodes).row(i);
  return node ? node->requested().Get(Symbol(ToView(resource))) : 0;
}

void AllowWaitingPod(berth_instance* instance, berth_string uid) {
  Of(instance).handle().waiting_pods().Allow(std::string(ToView(uid)), Of(instance).plugin_class().name);
}
void RejectWaitingPod(berth_instance* instance, berth_string uid, berth_string reason) {
  Of(instance).handle().waiting_pods().Reject(std::string(ToView(uid)), Of(instance).plugin_class().name,
                                              std::string(ToView(reason)));
}
void ActivatePods(berth_instance* instance, const berth_string* uids, size_t count) {
  std::vector<std::string> pods;
  for (size_t i = 0; i < count; ++i) pods.emplace_back(ToView(uids[i]));
  Of(instance).handle().Activate(pods);
}

void AddFinding(berth_call* call, berth_string subject, berth_string asked, berth_string there) {
  CallFrame::Of(call).findings.push_back(
      {std::string(ToView(subject)), std::string(ToView(asked)), std::string(ToView(there)), {}});
}
void ProposePodLabel(berth_call* call, berth_string key, berth_string value) {
  CallFrame::Of(call).pod_labels.emplace_back(ToView(key), ToView(value));
}
void ProposeNodeLabel(berth_call* call, berth_string key, berth_string value) {
  CallFrame::Of(call).node_labels.emplace_back(ToView(key), ToView(value));
}

void AddRemark(berth_call* call, berth_string text) {
  CallFrame::Of(call).findings.push_back({{}, {}, {}, std::string(ToView(text))});
}

uint32_t WatchResource(berth_instance* instance, berth_string resource, int32_t keep_json) {
  return Of(instance).WatchResource(ToView(resource), keep_json != 0);
}
int32_t AddEvent(berth_instance* instance, uint32_t resource, uint32_t actions) {
  return Of(instance).AddEvent(resource, actions) ? 1 : 0;
}
const framework::CustomObjects::Store* StoreOf(berth_instance* instance, uint32_t resource) {
  const std::optional<framework::EventResource> known = ResourceOf(resource);
  return known ? &Of(instance).handle().custom_objects().Of(*known) : nullptr;
}
berth_string CustomObject(berth_instance* instance, uint32_t resource, berth_string name_space, berth_string name) {
  const auto* store = StoreOf(instance, resource);
  const api::CustomObject* found = store ? store->Find(ToView(name_space), ToView(name)) : nullptr;
  return found ? ToC(found->json) : kNone;
}
void VisitCustomObjects(berth_instance* instance, uint32_t resource,
                        void (*visit)(void*, berth_string, berth_string, berth_string), void* context) {
  const auto* store = StoreOf(instance, resource);
  if (store == nullptr) return;
  for (const auto& [key, object] : *store) visit(context, ToC(key.first), ToC(key.second), ToC(object->json));
}
void RecordEvent(berth_instance* instance, const berth_pod* pod, int32_t is_warning, berth_string reason,
                 berth_string action, berth_string note) {
  Of(instance).handle().RecordEvent({.regarding = framework::ReferenceTo(Of(pod)),
                                     .is_warning = is_warning != 0,
                                     .reason = std::string(ToView(reason)),
                                     .action = std::string(ToView(action)),
                                     .note = std::string(ToView(note))});
}

const berth_nodes* AllNodes(berth_call* call) {
  CallFrame& frame = CallFrame::Of(call);
  if (frame.handle == nullptr) return nullptr;
  if (!frame.all_nodes) {
    const framework::ClusterView& cluster = frame.handle->cluster();
    frame.all_nodes = std::make_unique<NodeBatch>(cluster, cluster.columns(), 0, cluster.columns().live.size());
  }
  return frame.all_nodes->view();
}

// Filled only up to the caller's size of the struct; today that means all of it or nothing.
int32_t NodePod(const berth_nodes* nodes, uint32_t i, uint32_t k, berth_pod* pod) {
  const NodeInfo* node = NodeBatch::Of(nodes).row(i);
  if (node == nullptr || k >= node->pods().size() || pod->size < sizeof(berth_pod)) return 0;
  *pod = ViewOf(*node->pods()[k]);
  return 1;
}

// On copies, as in preemption.
berth_code TryWithout(berth_call* call, berth_string node_name, const berth_string* uids, size_t count) {
  const CallFrame& frame = CallFrame::Of(call);
  const NodeInfo* there = frame.state ? frame.handle->cluster().Find(ToView(node_name)) : nullptr;
  if (there == nullptr) return BERTH_ERROR;
  NodeInfo node = *there;
  framework::CycleState state = frame.state->Clone();
  for (const berth_string& uid : std::span(uids, count)) {
    const auto found = std::ranges::find_if(there->pods(), [&](const auto& pod) { return pod->uid() == ToView(uid); });
    if (found == there->pods().end() || !node.RemovePod(**found)) return BERTH_ERROR;
    if (!frame.handle->RunRemovePod(state, frame.pod(), **found, node).ok()) return BERTH_ERROR;
  }
  return static_cast<berth_code>(frame.handle->RunFilterWithNominatedPods(state, frame.pod(), node).code());
}
void Nominate(berth_call* call, berth_string node_name) { CallFrame::Of(call).nominated = ToView(node_name); }
void AddVictim(berth_call* call, berth_string uid) { CallFrame::Of(call).victims.emplace_back(ToView(uid)); }

}  // namespace

const berth_host& HostOfVersion1() {
  static const berth_host kHost = [] {
    berth_host host = Host();
    host.abi_version = 1;
    host.size = offsetof(berth_host, add_remark);
    return host;
  }();
  return kHost;
}

const berth_host& Host() {
  static constexpr berth_host kHost{
      BERTH_PLUGIN_ABI, sizeof(berth_host), BERTH_VERSION,    AddReason,        LabelKey,        Say,
      SayInit,          AddToSignature,     KeepNode,         SetPreFilterData, SetPreScoreData, PodLabel,
      PodAnnotation,    PodRequest,         PodJson,          NodeNames,        FillLabelColumn, LabelValue,
      NodeLabel,        NodeAnnotation,     NodeAllocatable,  NodeRequested,    AllowWaitingPod, RejectWaitingPod,
      AddFinding,       ProposePodLabel,    ProposeNodeLabel, AddRemark,        WatchResource,   AddEvent,
      CustomObject,     VisitCustomObjects, RecordEvent,      AllNodes,         NodePod,         TryWithout,
      Nominate,         AddVictim,          ActivatePods};
  return kHost;
}

}  // namespace berth::plugin_library
