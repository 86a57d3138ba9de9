// Choosing a node in a lane: from the totals kept when every answer depends on the node alone, and in one pass over the
// nodes when topology domains matter.
#include <algorithm>
#include <atomic>

#include "base/vectorize.h"
#include "engine/lane.h"
#include "framework/normalize_score.h"

namespace berth::engine {

using config::ExtensionPoint;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::Normalization;
using framework::PodInfo;

namespace {

// Below this many nodes a pass is over before another thread has woken up.
constexpr size_t kWorthAThread = 20'000;

// The loops over all nodes, free of anything that would stop the compiler from vectorizing them.

struct Accepted {
  size_t count;
  bool all_judged;
};
BERTH_VECTORIZE Accepted KeepAccepted(uint8_t* __restrict ok, const uint8_t* __restrict verdicts, size_t count) {
  size_t left = 0;
  uint8_t unjudged = 0;
  for (size_t i = 0; i < count; ++i) {
    ok[i] = static_cast<uint8_t>(ok[i] & (verdicts[i] == 0));
    unjudged |= verdicts[i] == framework::FilterPlugin::kAskFilter;
  }
  for (size_t i = 0; i < count; ++i) left += ok[i];
  return {left, unjudged == 0};
}

// Infeasible nodes get a total below every other.
constexpr int32_t kOut = -(1 << 30);

BERTH_VECTORIZE void StartTotals(const uint8_t* __restrict feasible, const int32_t* __restrict base, int32_t same,
                                 int32_t* __restrict totals, size_t count) {
  for (size_t i = 0; i < count; ++i) totals[i] = feasible[i] ? base[i] + same : kOut;
}

BERTH_VECTORIZE void AddWeighted(const uint8_t* __restrict points, int32_t weight, int32_t* __restrict totals,
                                 size_t count) {
  for (size_t i = 0; i < count; ++i) totals[i] += weight * points[i];
}

template <class Matches>
NodeIndex NthOf(NodeIndex begin, size_t nth, Matches&& matches) {
  for (NodeIndex node = begin;; ++node) {
    if (matches(node) && nth-- == 0) return node;
  }
}

}  // namespace

std::optional<Lane::Choice> Lane::Choose(const PodInfo& pod, base::Random& random, bool& failed) {
  failed = false;
  if (const std::string& promised = pod.pod().status.nominated_node_name; !promised.empty()) {
    const NodeInfo* node = cluster_.Find(promised);
    if (node && FitsWithNominated(pod, *node)) return Choice{node, 0, 1, 1, false, true};
    failed = trouble_;
    if (failed) return std::nullopt;
  }
  chosen_by_class_ = false;
  // Not on the first call: a lane may never be asked again.
  if (pre_score_current_) {
    bool answered = false;
    std::optional<Choice> choice = ChooseByClass(pod, random, answered, failed);
    if (answered || failed) return choice;
  }
  const bool by_domain = !domain_filters_.empty();
  if (by_domain && !FilterByDomain(pod)) {
    failed = true;
    return std::nullopt;
  }
  const std::vector<uint8_t>& feasible = by_domain ? scratch_.final_ok : ok_;
  const size_t count = by_domain ? scratch_.final_count : ok_count_;
  if (count == 0) return std::nullopt;
  if (count == 1 && !by_domain) {
    return Choice{&cluster_.table().row(static_cast<NodeIndex>(ok_index_sum_)), 0, 1, 1, false};
  }
  if (count == 1 || profile_.scores().empty()) return OneOf(feasible, count, random);
  if (!RefreshPreScore(pod, feasible) || !ScoreMissing(pod)) {
    failed = true;
    return std::nullopt;
  }
  if (!by_domain && !HasDomainScores()) return ChooseFromTop(random);
  std::optional<Choice> choice = ChooseByPass(pod, feasible, count, random);
  failed = !choice.has_value();
  return choice;
}

Lane::Choice Lane::OneOf(const std::vector<uint8_t>& feasible, size_t count, base::Random& random) const {
  const size_t nth = count == 1 ? 0 : random.Below(count);
  const NodeIndex chosen = NthOf(0, nth, [&](NodeIndex node) { return feasible[node] != 0; });
  return {&cluster_.table().row(chosen), 0, count, count, false};
}

bool Lane::HasDomainScores() const {
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    if (reach_.scores[position] == Reach::kDomain && !IsSkipped(state_.skip_score, profile_.scores()[position].id))
      return true;
  }
  return false;
}

Lane::Choice Lane::ChooseFromTop(base::Random& random) {
  RefreshTotals();
  const size_t ties = top_.ties();
  const NodeIndex chosen = top_.Tie(ties == 1 ? 0 : random.Below(ties));
  return {&cluster_.table().row(chosen), top_.highest(), ok_count_, ties, true};
}

RunnerUp Lane::SecondTo(const Choice& choice) const {
  RunnerUp second;
  if (!choice.scored) return second;
  if (chosen_by_class_) return SecondByClass(choice);
  const bool by_domain = !domain_filters_.empty();
  const bool by_pass = by_domain || HasDomainScores();
  const std::vector<uint8_t>& feasible = by_domain ? scratch_.final_ok : ok_;
  for (NodeIndex node = 0; node < feasible.size(); ++node) {
    if (!feasible[node] || node == choice.node->index()) continue;
    second.Consider(cluster_.table().row(node), by_pass ? scratch_.totals[node] : top_.total(node));
  }
  return second;
}

bool Lane::FilterByDomain(const PodInfo& pod) {
  const framework::NodeColumns& columns = cluster_.columns();
  scratch_.final_ok = ok_;
  scratch_.final_count = ok_count_;
  scratch_.domain_verdicts.resize(domain_filters_.size());
  for (size_t k = 0; k < domain_filters_.size(); ++k) {
    std::vector<uint8_t>& verdicts = scratch_.domain_verdicts[k];
    verdicts.resize(columns.size());
    const auto& filter = profile_.filters()[domain_filters_[k]];
    std::atomic<bool> answered = true;
    timing_.Time(ExtensionPoint::kFilter, filter.name, [&] {
      workers_.ForRanges(verdicts.size(), kWorthAThread, [&](size_t begin, size_t end) {
        const std::span<uint8_t> part = std::span(verdicts).subspan(begin, end - begin);
        if (!filter.plugin->FilterRange(state_, pod, columns, static_cast<NodeIndex>(begin), part)) answered = false;
      });
    });
    if (!answered) return GiveUp(LongWay::kUnspoken);
    const Accepted accepted = KeepAccepted(scratch_.final_ok.data(), verdicts.data(), verdicts.size());
    // Calling Filter node by node would be too slow for a pass.
    if (!accepted.all_judged) return GiveUp(LongWay::kUnspoken);
    scratch_.final_count = accepted.count;
  }
  return true;
}

// Unset when a plugin cannot answer.
std::optional<Lane::Choice> Lane::ChooseByPass(const PodInfo& pod, const std::vector<uint8_t>& feasible, size_t count,
                                               base::Random& random) {
  AddNormalized(feasible);
  if (!AddDomainScores(pod, feasible)) return std::nullopt;
  const int32_t highest = HighestOf(scratch_.totals.data(), scratch_.totals.size());
  const size_t ties = CountEqual(scratch_.totals.data(), scratch_.totals.size(), highest);
  size_t nth = ties == 1 ? 0 : random.Below(ties);
  // Finds the block that contains it, then the node.
  constexpr size_t kStretch = 256;
  size_t begin = 0;
  for (;; begin += kStretch) {
    const size_t here =
        CountEqual(scratch_.totals.data() + begin, std::min(kStretch, scratch_.totals.size() - begin), highest);
    if (nth < here) break;
    nth -= here;
  }
  const NodeIndex chosen =
      NthOf(static_cast<NodeIndex>(begin), nth, [&](NodeIndex node) { return scratch_.totals[node] == highest; });
  return Choice{&cluster_.table().row(chosen), highest, count, ties, true};
}

// Normalised over the nodes that are feasible in the end, which may be fewer than those the lane keeps scores for.
void Lane::AddNormalized(const std::vector<uint8_t>& feasible) {
  int64_t same = 0;  // the part that is the same for all nodes
  std::vector<std::pair<const LocalScore*, int64_t>> varied;
  for (const LocalScore& score : local_scores_) {
    if (score.rule == Normalization::kNone) continue;
    int64_t highest = 0;
    if (score.highest() > 0) {
      for (NodeIndex node = 0; node < feasible.size(); ++node) {
        if (feasible[node]) highest = std::max(highest, score.RawOf(node));
      }
    }
    if (highest == 0) {
      same += score.weight * framework::Normalize(score.rule, 0, 0);
    } else {
      varied.emplace_back(&score, highest);
    }
  }
  scratch_.totals.resize(feasible.size());
  StartTotals(feasible.data(), base_.data(), static_cast<int32_t>(same), scratch_.totals.data(),
              scratch_.totals.size());
  for (const auto& [score, highest] : varied) {
    for (NodeIndex node = 0; node < feasible.size(); ++node) {
      if (!feasible[node]) continue;
      const int64_t points = framework::Normalize(score->rule, score->RawOf(node), highest);
      scratch_.totals[node] += static_cast<int32_t>(score->weight * points);
    }
  }
}

bool Lane::AddDomainScores(const PodInfo& pod, const std::vector<uint8_t>& feasible) {
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    const auto& score = profile_.scores()[position];
    if (reach_.scores[position] != Reach::kDomain || IsSkipped(state_.skip_score, score.id)) continue;
    scratch_.raw.resize(feasible.size());
    scratch_.points.resize(feasible.size());
    std::atomic<bool> answered = true;
    timing_.Time(ExtensionPoint::kScore, score.name, [&] {
      workers_.ForRanges(scratch_.raw.size(), kWorthAThread, [&](size_t begin, size_t end) {
        const std::span<int64_t> part = std::span(scratch_.raw).subspan(begin, end - begin);
        if (!score.plugin->ScoreRange(state_, pod, cluster_.columns(), static_cast<NodeIndex>(begin), part))
          answered = false;
      });
      if (answered) answered = score.plugin->NormalizeRange(state_, pod, feasible, scratch_.raw, scratch_.points);
    });
    if (!answered) return GiveUp(LongWay::kUnspoken);
    AddWeighted(scratch_.points.data(), static_cast<int32_t>(score.weight), scratch_.totals.data(),
                scratch_.totals.size());
  }
  return true;
}

}  // namespace berth::engine
