#include "plugins/node_prefer_avoid_pods/node_prefer_avoid_pods.h"

#include <algorithm>
#include <string>
#include <vector>

#include "api/avoid_pods.h"
#include "api/meta.h"
#include "plugins/args.h"
#include "plugins/signature_text.h"

namespace berth::plugins {
namespace {

using framework::PodInfo;

// Only pods of these kinds can be asked to avoid a node; null for all others.
const api::OwnerReference* AvoidableController(const api::Pod& pod) {
  const api::OwnerReference* owner = api::ControllerOf(pod.metadata);
  if (owner == nullptr || (owner->kind != "ReplicationController" && owner->kind != "ReplicaSet")) return nullptr;
  return owner;
}

// An annotation that does not parse affects no pod.
bool Avoids(const api::OwnerReference& owner, const api::Node& node) {
  const Result<std::vector<api::OwnerReference>> avoided = api::ControllersToAvoid(node.metadata.annotations);
  return avoided && std::ranges::any_of(*avoided, [&](const api::OwnerReference& controller) {
           return controller.kind == owner.kind && controller.uid == owner.uid;
         });
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NodePreferAvoidPods::Create(const config::PluginArgs& args,
                                                                       framework::Handle&) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new NodePreferAvoidPods());
}

framework::ScoreResult NodePreferAvoidPods::Score(const framework::CycleState&, const PodInfo& pod,
                                                  const framework::NodeInfo& node) const {
  const api::OwnerReference* owner = AvoidableController(pod.pod());
  return owner != nullptr && Avoids(*owner, node.node()) ? framework::kMinNodeScore : framework::kMaxNodeScore;
}

bool NodePreferAvoidPods::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  std::string text;
  if (const api::OwnerReference* owner = AvoidableController(pod.pod())) {
    AppendField(text, owner->kind);
    AppendField(text, owner->uid);
  }
  signature.Add(kName, text);
  return true;
}

}  // namespace berth::plugins
