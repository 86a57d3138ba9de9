// What NodeUnschedulable reports about a cordoned node, and how to uncordon it.
#include <fmt/format.h>

#include "plugins/node_unschedulable/node_unschedulable.h"

namespace berth::plugins {
namespace {

class CordonExplainer final : public framework::RejectionExplainer {
 public:
  explicit CordonExplainer(const Symbol& cordon_key) : cordon_key_(cordon_key) {}

  std::vector<framework::Finding> Findings(const framework::Status&, const framework::NodeInfo&) const override {
    return {{"spec.unschedulable", "false", "true", "spec.unschedulable is set (cordoned)"}};
  }

  std::vector<framework::Remedy> Remedies(const framework::NodeInfo& node,
                                          const framework::Remedy& so_far) const override {
    // An earlier plugin may already have handled the taint that comes with a cordon.
    if (!so_far.node()->spec.unschedulable) return {so_far};
    framework::Remedy remedy = so_far;
    remedy.ChangeNode({fmt::format("uncordon {}", node.name()), "uncordon"}, [this](api::Node& changed) {
      changed.spec.unschedulable = false;
      // The taint that the node controller adds is removed, too.
      std::erase_if(changed.spec.taints, [this](const api::Taint& taint) { return taint.key == cordon_key_; });
    });
    return {remedy};
  }

 private:
  const Symbol cordon_key_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> NodeUnschedulable::ExplainRejections(const framework::PodInfo&) const {
  return std::make_unique<CordonExplainer>(cordon_.key);
}

}  // namespace berth::plugins
