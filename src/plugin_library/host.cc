#include "plugin_library/host.h"

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

// Compared as text: what libraries ask for need not be interned.
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

// Filled as far as the caller knows the struct; today that is all of it or nothing.
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

}  // namespace

const berth_host& Host() {
  static constexpr berth_host kHost{
      BERTH_PLUGIN_ABI, sizeof(berth_host), BERTH_VERSION,   AddReason,        LabelKey,        Say,
      SayInit,          AddToSignature,     KeepNode,        SetPreFilterData, SetPreScoreData, PodLabel,
      PodAnnotation,    PodRequest,         PodJson,         NodeNames,        FillLabelColumn, LabelValue,
      NodeLabel,        NodeAnnotation,     NodeAllocatable, NodeRequested,    AllowWaitingPod, RejectWaitingPod,
      AddFinding,       ProposePodLabel,    ProposeNodeLabel};
  return kHost;
}

}  // namespace berth::plugin_library
