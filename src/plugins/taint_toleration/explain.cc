// Which taints the pod does not tolerate, and the tolerations that it lacks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plugins/taint_toleration/taint_toleration.h"

namespace berth::plugins {
namespace {

class TaintExplainer final : public framework::RejectionExplainer {
 public:
  TaintExplainer(const framework::PodInfo& pod, bool comparison_operators)
      : pod_(pod), comparison_operators_(comparison_operators) {}

  std::vector<framework::Finding> Findings(const framework::Status&, const framework::NodeInfo& node) const override {
    std::vector<std::string> texts;
    for (const api::Taint& taint : Untolerated(pod_.pod(), node.node())) texts.push_back(taint.ToString());
    if (texts.empty()) return {};
    const std::string list = framework::ListText(texts);
    framework::Finding finding{
        "taints", "none but those tolerated", list,
        fmt::format("{} {} is not tolerated", texts.size() == 1 ? "taint" : "each of the taints", list)};
    finding.sort = fmt::format("{}", fmt::join(texts, ", "));
    return {finding};
  }

  // Taints that a change to the node removes need no toleration.
  std::vector<framework::Remedy> Remedies(const framework::NodeInfo&, const framework::Remedy& so_far) const override {
    framework::Remedy remedy = so_far;
    const std::vector<api::Taint> untolerated = Untolerated(*so_far.pod(), *so_far.node());
    if (untolerated.size() > framework::kFew) return {};
    // Tolerating that a node is dead or unhealthy is no remedy.
    if (std::any_of(untolerated.begin(), untolerated.end(), SaysTrouble)) return {};
    const bool cordoned = std::any_of(untolerated.begin(), untolerated.end(), IsCordon);
    if (cordoned) Uncordon(remedy);
    for (const api::Taint& taint : Untolerated(*remedy.pod(), *remedy.node())) {
      remedy.ChangePod({fmt::format("tolerate {}", taint.ToString()), taint.ToString()}, [&](api::Pod& pod) {
        pod.spec.tolerations.push_back(
            {.key = taint.key, .op = api::TolerationEqual(), .value = taint.value, .effect = taint.effect});
      });
    }
    return {remedy};
  }

 private:
  static bool IsCordon(const api::Taint& taint) { return taint.key.str() == "node.kubernetes.io/unschedulable"; }

  // Taints that the node and cloud controllers set. A cordon is set by a person.
  static bool SaysTrouble(const api::Taint& taint) {
    const std::string_view key = taint.key.str();
    return !IsCordon(taint) &&
           (key.starts_with("node.kubernetes.io/") || key.starts_with("node.cloudprovider.kubernetes.io/"));
  }

  // As `kubectl uncordon` does: the node controller removes the taint.
  static void Uncordon(framework::Remedy& remedy) {
    remedy.ChangeNode({fmt::format("uncordon {}", remedy.node()->metadata.name), "uncordon"}, [](api::Node& node) {
      node.spec.unschedulable = false;
      std::erase_if(node.spec.taints, IsCordon);
    });
  }

  std::vector<api::Taint> Untolerated(const api::Pod& pod, const api::Node& node) const {
    std::vector<api::Taint> found;
    for (const api::Taint& taint : node.spec.taints) {
      if (!api::ForbidsScheduling(taint)) continue;
      if (!api::AnyTolerates(pod.spec.tolerations, taint, comparison_operators_)) found.push_back(taint);
    }
    return found;
  }

  const framework::PodInfo& pod_;
  const bool comparison_operators_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> TaintToleration::ExplainRejections(const framework::PodInfo& pod) const {
  return std::make_unique<TaintExplainer>(pod, comparison_operators_);
}

}  // namespace berth::plugins
