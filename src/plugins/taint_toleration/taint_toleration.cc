#include "plugins/taint_toleration/taint_toleration.h"

#include <algorithm>

#include "plugins/args.h"
#include "plugins/hints.h"
#include "plugins/taint_toleration/tolerations_signature.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::EventObject;
using framework::EventResource;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

// Fills `answers` with answer(taints of the node), asking once per distinct taint set that occurs in the range.
template <class T, class Answer>
void AnswerByTaintSet(const NodeColumns& columns, NodeIndex begin, std::span<T> answers, Answer&& answer) {
  constexpr int64_t kUnknown = -1;
  std::vector<int64_t> known(columns.taint_sets.size(), kUnknown);
  for (size_t i = 0; i < answers.size(); ++i) {
    const uint32_t set = columns.taint_set[begin + i];
    if (set >= known.size()) {  // left over from a removed node
      answers[i] = T{0};
      continue;
    }
    if (known[set] == kUnknown) known[set] = answer(columns.taint_sets[set]);
    answers[i] = static_cast<T>(known[set]);
  }
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> TaintToleration::Create(const config::PluginArgs& args,
                                                                   framework::Handle& handle) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(
      new TaintToleration(handle.gates().Enabled("TaintTolerationComparisonOperators")));
}

bool TaintToleration::Admits(std::span<const api::Taint> taints, const api::Pod& pod) const {
  return !api::FindUntolerated(taints, pod.spec.tolerations, api::ForbidsScheduling, comparison_operators_);
}

int64_t TaintToleration::CountUntoleratedPreferences(std::span<const api::Taint> taints, const api::Pod& pod) const {
  return std::count_if(taints.begin(), taints.end(), [&](const api::Taint& taint) {
    return taint.effect == api::PreferNoSchedule() &&
           !api::AnyTolerates(pod.spec.tolerations, taint, comparison_operators_);
  });
}

Status TaintToleration::Filter(const framework::CycleState&, const PodInfo& pod,
                               const framework::NodeInfo& node) const {
  if (Admits(node.taints(), pod.pod())) return Status::Success();
  // Evicting pods removes no taint, so preemption must leave the node alone.
  return Status::UnschedulableAndUnresolvable("node(s) had untolerated taint(s)");
}

bool TaintToleration::FilterRange(const framework::CycleState&, const PodInfo& pod, const NodeColumns& columns,
                                  NodeIndex begin, std::span<uint8_t> verdicts) const {
  AnswerByTaintSet(columns, begin, verdicts,
                   [&](std::span<const api::Taint> taints) { return Admits(taints, pod.pod()) ? 0 : 1; });
  return true;
}

Status TaintToleration::PreScore(framework::CycleState&, const PodInfo&,
                                 std::span<const framework::NodeInfo* const>) const {
  return Status::Success();
}

framework::ScoreResult TaintToleration::Score(const framework::CycleState&, const PodInfo& pod,
                                              const framework::NodeInfo& node) const {
  return CountUntoleratedPreferences(node.taints(), pod.pod());
}

bool TaintToleration::ScoreRange(const framework::CycleState&, const PodInfo& pod, const NodeColumns& columns,
                                 NodeIndex begin, std::span<int64_t> scores) const {
  AnswerByTaintSet(columns, begin, scores,
                   [&](std::span<const api::Taint> taints) { return CountUntoleratedPreferences(taints, pod.pod()); });
  return true;
}

std::vector<framework::ClusterEventWithHint> TaintToleration::EventsToRegister() const {
  const auto admits_now = [this](const PodInfo& pod, const EventObject& before, const EventObject& after) {
    const api::Node* now = after.As<api::Node>();
    if (!now) return QueueingHint::kQueue;
    const api::Node* was = before.As<api::Node>();
    const bool admitted_before = was && Admits(was->spec.taints, pod.pod());
    return QueueIf(!admitted_before && Admits(now->spec.taints, pod.pod()));
  };
  return {{{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeTaint}, admits_now},
          {{EventResource::kPod, ActionType::kUpdatePodToleration}, AfterOwnChange}};
}

bool TaintToleration::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  SignTolerations(pod, signature);
  return true;
}

}  // namespace berth::plugins
