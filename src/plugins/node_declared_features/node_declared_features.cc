#include "plugins/node_declared_features/node_declared_features.h"

#include "plugins/args.h"
#include "plugins/hints.h"
#include "plugins/signature_text.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::CycleState;
using framework::EventObject;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

QueueingHint AfterNodeChange(const PodInfo&, const EventObject& before, const EventObject& after) {
  const api::Node* was = before.As<api::Node>();
  const api::Node* now = after.As<api::Node>();
  const bool unchanged = was && now && was->status.declared_features == now->status.declared_features;
  return QueueIf(!unchanged);
}

QueueingHint AfterPodUpdate(const PodInfo& pod, const EventObject& before, const EventObject& after) {
  const api::Pod* was = before.As<api::Pod>();
  const api::Pod* now = after.As<api::Pod>();
  if (!was || !now) return QueueingHint::kQueue;
  if (now->metadata.uid != pod.uid()) return QueueingHint::kSkip;
  return QueueIf(RequiredFeatures(was->spec) != RequiredFeatures(now->spec));
}

}  // namespace

NodeDeclaredFeatures::NodeDeclaredFeatures(framework::Handle& handle)
    : key_(handle.NewStateKey<Required>()), enabled_(handle.gates().Enabled("NodeDeclaredFeatures")) {}

Result<std::unique_ptr<framework::Plugin>> NodeDeclaredFeatures::Create(const config::PluginArgs& args,
                                                                        framework::Handle& handle) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new NodeDeclaredFeatures(handle));
}

framework::PreFilterResult NodeDeclaredFeatures::PreFilter(CycleState& state, const PodInfo& pod) const {
  if (!enabled_) return Status::Skip();
  const FeatureSet features = RequiredFeatures(pod.pod().spec);
  if (features == 0) return Status::Skip();
  auto required = std::make_unique<Required>();
  required->features = features;
  state.Put(key_, std::move(required));
  return Status::Success();
}

Status NodeDeclaredFeatures::Filter(const CycleState& state, const PodInfo&, const framework::NodeInfo& node) const {
  if (!enabled_) return Status::Success();
  const Required* required = state.Find(key_);
  // A profile that runs Filter without PreFilter gets upstream's answer.
  if (!required) return Status::Error("error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found");
  if ((required->features & ~KnownFeatures(node.node().status.declared_features)) == 0) return Status::Success();
  return Status::UnschedulableAndUnresolvable("node(s) didn't match Pod's required features");
}

std::vector<framework::ClusterEventWithHint> NodeDeclaredFeatures::EventsToRegister() const {
  if (!enabled_) return {};
  return {{{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeDeclaredFeature}, AfterNodeChange},
          {{EventResource::kPod, ActionType::kUpdate}, AfterPodUpdate}};
}

bool NodeDeclaredFeatures::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  std::string text;
  AppendField(text, int64_t{RequiredFeatures(pod.pod().spec)});
  signature.Add("requiredFeatures", text);
  return true;
}

}  // namespace berth::plugins
