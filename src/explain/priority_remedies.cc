#include "explain/priority_remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "framework/pod_resources.h"

namespace berth::explain {

namespace {

constexpr size_t kVictimsNamed = 3;
// The highest priority of user-defined classes; higher ones are the system's.
constexpr int32_t kHighestPriority = 1'000'000'000;

const framework::PreemptionTrial* ChosenOf(const std::optional<framework::PreemptionExplanation>& story) {
  if (!story || !story->not_eligible.empty()) return nullptr;
  const auto chosen = std::find_if(story->trials.begin(), story->trials.end(),
                                   [](const framework::PreemptionTrial& trial) { return trial.chosen; });
  return chosen == story->trials.end() ? nullptr : &*chosen;
}

// "default/old (priority 0) and 2 more would be evicted"
std::string VictimsText(const framework::PreemptionTrial& trial) {
  std::string text;
  for (size_t i = 0; i < std::min(trial.victims.size(), kVictimsNamed); ++i) {
    text += fmt::format("{}{} (priority {})", i == 0 ? "" : ", ", trial.victims[i].pod, trial.victims[i].priority);
  }
  if (trial.victims.size() > kVictimsNamed) text += fmt::format(" and {} more", trial.victims.size() - kVictimsNamed);
  return text + " would be evicted";
}

// The lowest class with at least that priority: " (PriorityClass high has 1000)".
std::string ClassText(const engine::Profile& profile, int32_t priority) {
  const api::PriorityClass* best = nullptr;
  for (const auto& [key, found] : profile.objects().priority_classes) {
    if (found->value >= priority && (!best || found->value < best->value)) best = found.get();
  }
  return best ? fmt::format(" (PriorityClass {} has {})", best->metadata.name, best->value) : "";
}

class PriorityTrials {
 public:
  PriorityTrials(const engine::Profile& profile, const framework::PodInfo& pod, const PreemptAs& preempt_as)
      : profile_(profile), pod_(pod), preempt_as_(preempt_as) {}

  std::optional<framework::PreemptionExplanation> With(int32_t priority) const {
    auto changed = std::make_shared<api::Pod>(pod_.pod());
    changed->spec.priority = priority;
    changed->spec.preemption_policy = "PreemptLowerPriority";
    return preempt_as_(*framework::PodInfo::Make(std::move(changed), framework::RunningPodOptions(profile_.gates())));
  }

  // The lowest priority, just above some pod's, with which preemption helps; unset when none does.
  std::optional<int32_t> Lowest() const {
    std::set<int32_t> above;
    for (const framework::NodeInfo* node : profile_.cluster().nodes()) {
      for (const framework::PodInfoPtr& other : node->pods()) {
        if (other->priority() >= pod_.priority() && other->priority() < kHighestPriority)
          above.insert(other->priority());
      }
    }
    const std::vector<int32_t> candidates(above.begin(), above.end());
    if (candidates.empty() || !ChosenOf(With(candidates.back() + 1))) return std::nullopt;
    // A pod of higher priority may evict every pod that one of lower priority may.
    const auto found = std::partition_point(candidates.begin(), candidates.end(),
                                            [&](int32_t other) { return ChosenOf(With(other + 1)) == nullptr; });
    return *found + 1;
  }

 private:
  const engine::Profile& profile_;
  const framework::PodInfo& pod_;
  const PreemptAs& preempt_as_;
};

void Tell(const framework::PreemptionTrial& trial, std::string change, Explanation& told) {
  told.remedies.push_back({trial.node, {fmt::format("{}: {}", change, VictimsText(trial))}});
}

}  // namespace

void FindPriorityRemedies(const engine::Profile& profile, const framework::PodInfo& pod, const PreemptAs& preempt_as,
                          Explanation& told) {
  if (!told.preemption || ChosenOf(told.preemption)) return;
  const PriorityTrials trials(profile, pod, preempt_as);
  const bool never = pod.pod().spec.preemption_policy.value_or("") == "Never";
  if (never) {
    ++told.remedies_tried;
    const auto story = trials.With(pod.priority());
    if (const auto* trial = ChosenOf(story)) return Tell(*trial, "no preemptionPolicy Never", told);
  }
  const std::optional<int32_t> priority = trials.Lowest();
  if (!priority) return;
  ++told.remedies_tried;
  const auto story = trials.With(*priority);
  const std::string change = fmt::format("priority {} -> {}{}{}", pod.priority(), *priority,
                                         ClassText(profile, *priority), never ? " without preemptionPolicy Never" : "");
  if (const auto* trial = ChosenOf(story)) Tell(*trial, change, told);
}

}  // namespace berth::explain
