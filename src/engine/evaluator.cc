#include "engine/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/check.h"

namespace berth::engine {

using framework::CycleState;
using framework::PodInfo;

Evaluator::Decision Evaluator::Decide(const PodInfo& pod, base::Random& random) {
  Decision decision;
  if (const std::optional<std::string> signature = profile_.Sign(pod)) {
    decision = Ask(LaneOf(*signature), pod, random);
    // A lane that could not be brought up to date keeps nothing and must not evict one that does: the pods of a
    // DaemonSet have a signature each.
    if (!decision.state) {
      Drop(lanes_.begin());
    } else if (lanes_.size() > options_.max_kept) {
      Drop(std::prev(lanes_.end()));
    }
  } else {
    decision.why = LongWay::kUnsigned;
  }
  if (decision.kind == Decision::Kind::kAskEvaluate) return decision;
  if (options_.verify) Verify(pod, decision);
  return decision;
}

Evaluator::Decision Evaluator::Ask(Lane& lane, const PodInfo& pod, base::Random& random) const {
  Decision decision;
  PluginObserver* const observer = profile_.observer();
  const auto now = [&] { return observer ? profile_.clock().Now() : base::Time(); };
  const base::Time start = now();
  if (!lane.CatchUp(pod)) {
    decision.why = lane.why();
    return decision;
  }
  const base::Time caught_up = now();
  bool failed = false;
  const std::optional<Lane::Choice> choice = lane.Choose(pod, random, failed);
  decision.state = &lane.state();
  if (failed) {
    decision.why = lane.why();
    return decision;
  }
  if (observer) {
    // A lane runs filters and scores of changed nodes together, then compares: the first is reported as Filter, the
    // second as Score.
    observer->OnStep(Step::kFilter, framework::Code::kSuccess, caught_up - start);
    if (choice && choice->scored) observer->OnStep(Step::kScore, framework::Code::kSuccess, now() - caught_up);
  }
  if (choice) {
    decision.choice = *choice;
    if (options_.runner_ups) decision.runner_up = lane.SecondTo(*choice);
    decision.kind = Decision::Kind::kChosen;
  } else if (lane.Diagnose(pod, decision.diagnosis)) {
    decision.kind = Decision::Kind::kNoFit;
  } else {
    decision.why = lane.why();
  }
  return decision;
}

void Evaluator::Drop(Lanes::iterator lane) {
  by_signature_.erase(lane->signature);
  lanes_.erase(lane);
}

Lane& Evaluator::LaneOf(std::string_view signature) {
  if (const auto found = by_signature_.find(signature); found != by_signature_.end()) {
    lanes_.splice(lanes_.begin(), lanes_, found->second);
    return lanes_.front().lane;
  }
  lanes_.push_front({std::string(signature), Lane(profile_, cluster_, reach_, workers_, scratch_, options_.by_class)});
  by_signature_[lanes_.front().signature] = lanes_.begin();
  return lanes_.front().lane;
}

namespace {

std::string Mistake(const Lane::Choice& choice, const Evaluation& expected) {
  if (choice.nominated != (expected.nominated != nullptr)) return "use of the nominated node";
  if (choice.feasible != expected.feasible.size())
    return fmt::format("{} feasible nodes against {}", choice.feasible, expected.feasible.size());
  const auto best = std::find_if(expected.best.begin(), expected.best.end(),
                                 [&](uint32_t position) { return expected.feasible[position] == choice.node; });
  if (best == expected.best.end()) return fmt::format("{} is not among the best", choice.node->name());
  if (choice.ties != expected.best.size()) return fmt::format("{} ties against {}", choice.ties, expected.best.size());
  if (choice.scored != !expected.totals.empty()) return "scored by one only";
  if (choice.scored && expected.totals[*best] != choice.total)
    return fmt::format("total {} against {}", choice.total, expected.totals[*best]);
  return {};
}

}  // namespace

void Evaluator::Verify(const PodInfo& pod, const Decision& decision) const {
  CycleState twin = profile_.NewCycleState();
  const Evaluation expected = EvaluateFromScratch(profile_, twin, pod, Scope::kDecide);
  std::string difference;
  if (!expected.error.ok()) {
    difference = fmt::format("it is an error: {}", expected.error.Message());
  } else if (decision.kind == Decision::Kind::kChosen) {
    difference = Mistake(decision.choice, expected);
    if (difference.empty() && options_.runner_ups) {
      const RunnerUp second = SecondTo(*decision.choice.node, expected);
      if (second.node != decision.runner_up.node || second.total != decision.runner_up.total) {
        difference = "the runner-up";
      }
    }
  } else if (!expected.feasible.empty()) {
    difference = fmt::format("no feasible node against {}", expected.feasible.size());
  } else {
    difference = FirstDifference(decision.diagnosis, expected.diagnosis, cluster_.nodes());
  }
  CHECK_WHY(difference.empty(),
            fmt::format("decision about {} differs from scratch: {}", pod.Key(), difference).c_str());
}

}  // namespace berth::engine
