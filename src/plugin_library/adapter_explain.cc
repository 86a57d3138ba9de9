// A library's explanations of its rejections, and the labels that it proposes.
#include <fmt/format.h>

#include "plugin_library/adapter_run.h"

namespace berth::plugin_library {

using framework::Finding;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Remedy;
using framework::Status;

class Adapter::Explainer final : public framework::RejectionExplainer {
 public:
  Explainer(const Adapter& adapter, const PodInfo& pod) : adapter_(adapter), pod_(pod) {}

  // Failures are shown in place of the numbers: asking for an explanation must never make anything fail.
  std::vector<Finding> Findings(const Status&, const NodeInfo& node) const override {
    CallFrame frame(pod_);
    const Status status = Call(frame, node);
    if (status.ok()) return std::move(frame.findings);
    return {{"", "", "", status.Message()}};
  }

  std::vector<Remedy> Remedies(const NodeInfo& node, const Remedy& so_far) const override {
    CallFrame frame(pod_);
    if (!Call(frame, node).ok()) return {};
    Remedy remedy = so_far;
    for (const auto& [key, value] : frame.pod_labels) {
      remedy.ChangePod(
          {fmt::format("label {}={} on the pod", key.str(), value.str()), fmt::format("pod {}", key.str())},
          [&](api::Pod& pod) { pod.metadata.labels.Set(key, value); });
    }
    for (const auto& [key, value] : frame.node_labels) {
      remedy.ChangeNode(
          {fmt::format("label {}={} on {}", key.str(), value.str(), node.name()), fmt::format("label {}", key.str())},
          [&](api::Node& changed) { changed.metadata.labels.Set(key, value); });
    }
    if (remedy.steps().size() == so_far.steps().size()) return {};
    return {remedy};
  }

 private:
  Status Call(CallFrame& frame, const NodeInfo& node) const {
    const NodeInfo* const row = &node;
    const NodeBatch batch(adapter_.instance_->handle().cluster(), {&row, 1});
    return adapter_.Run("Explain", 0, frame, [&] {
      return adapter_.table().explain(adapter_.instance_->self(), frame.call(), batch.view());
    });
  }

  const Adapter& adapter_;
  const PodInfo& pod_;
};

std::unique_ptr<framework::RejectionExplainer> Adapter::ExplainRejections(const PodInfo& pod) const {
  if (table().explain == nullptr) return nullptr;
  return std::make_unique<Explainer>(*this, pod);
}

}  // namespace berth::plugin_library
