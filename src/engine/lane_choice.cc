// Choosing a node in a lane: keeping scores and totals current, from the totals kept when every answer is a node's own,
// and in one pass over the nodes when topology domains have a say.
#include <algorithm>
#include <atomic>

#include "base/vectorize.h"
#include "engine/lane.h"
#include "framework/normalize_score.h"

namespace berth::engine {

using framework::NodeIndex;
using framework::NodeInfo;
using framework::Normalization;
using framework::PodInfo;

namespace {

// Fewer nodes than this are passed over before another thread has woken up.
constexpr size_t kWorthAThread = 20'000;

bool InRange(int64_t score) { return score >= framework::kMinNodeScore && score <= framework::kMaxNodeScore; }

// The loops over all nodes, kept free of everything that would stop the compiler from doing several nodes at a time.

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

BERTH_VECTORIZE int32_t HighestOf(const int32_t* totals, size_t count) {
  int32_t highest = kOut;
  for (size_t i = 0; i < count; ++i) highest = totals[i] > highest ? totals[i] : highest;
  return highest;
}
BERTH_VECTORIZE size_t CountEqual(const int32_t* totals, size_t count, int32_t value) {
  uint32_t equal = 0;
  for (size_t i = 0; i < count; ++i) equal += totals[i] == value;
  return equal;
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
  const bool by_domain = !domain_filters_.empty();
  if (by_domain && !FilterByDomain(pod)) {
    failed = true;
    return std::nullopt;
  }
  const std::vector<uint8_t>& feasible = by_domain ? final_ok_ : ok_;
  const size_t count = by_domain ? final_count_ : ok_count_;
  if (count == 0) return std::nullopt;
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

// Only the set of feasible nodes has changed, which is of no interest to most plugins.
bool Lane::ChooseAmong(const PodInfo& pod, const std::vector<uint8_t>& feasible) {
  bool same = false;
  bool compared = false;
  for (const auto& [id, plugin] : reach_.incremental) {
    if (IsSkipped(state_.skip_score, id) || !plugin->pre_score_reads_feasible_nodes()) continue;
    if (!compared) same = pre_score_ok_ == feasible;
    compared = true;
    if (!same && !plugin->ChooseAmong(state_, pod, feasible)) return false;
  }
  if (compared && !same) pre_score_ok_ = feasible;
  return true;
}

bool Lane::RefreshPreScore(const PodInfo& pod, const std::vector<uint8_t>& feasible) {
  if (pre_score_current_ && ChooseAmong(pod, feasible)) return true;
  std::vector<const NodeInfo*> rows;
  for (NodeIndex node = 0; node < feasible.size(); ++node) {
    if (feasible[node]) rows.push_back(&cluster_.table().row(node));
  }
  const uint64_t skipped_before = state_.skip_score;
  if (!profile_.RunPreScore(state_, pod, rows).ok()) return false;
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    const bool skipped = IsSkipped(state_.skip_score, profile_.scores()[position].id);
    if (!skipped && reach_.scores[position] == Reach::kUnknown) return false;
  }
  if (local_scores_.empty() || state_.skip_score != skipped_before) ListLocalScores();
  pre_score_ok_ = feasible;
  return pre_score_current_ = true;
}

void Lane::ListLocalScores() {
  local_scores_.clear();
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    const auto& score = profile_.scores()[position];
    const Reach reach = reach_.scores[position];
    if (reach == Reach::kDomain || reach == Reach::kUnknown || IsSkipped(state_.skip_score, score.id)) continue;
    local_scores_.push_back({position, reach, score.plugin->normalization(), score.weight, {}, {}});
  }
  score_all_ = true;
}

bool Lane::ScoreMissing(const PodInfo& pod) {
  if (score_all_) {
    if (!ScoreAll(pod)) return built_ = false;
  } else {
    if (nodes_changed_) {
      for (LocalScore& score : local_scores_) {
        if (score.reach == Reach::kAllNodes) ScoreEverywhere(score, pod);
      }
    }
    for (const NodeIndex node : unscored_) {
      if (!ok_[node] || slots_[node].scored) continue;
      ScoreNode(pod, node);
      if (totals_current_) top_.Set(node, LocalTotal(node));
    }
  }
  unscored_.clear();
  nodes_changed_ = false;
  return !trouble_ || (built_ = false);
}

bool Lane::ScoreAll(const PodInfo& pod) {
  const size_t slots = slots_.size();
  std::fill(base_.begin(), base_.end(), 0);
  for (Slot& slot : slots_) slot.fixed = slot.scored = 0;
  totals_current_ = false;
  top_.Reset(slots);
  highest_.assign(local_scores_.size(), 0);
  raw_.resize(slots);
  for (LocalScore& score : local_scores_) {
    const framework::ScorePlugin& plugin = *profile_.scores()[score.position].plugin;
    const bool ranged = plugin.ScoreRange(state_, pod, cluster_.columns(), 0, raw_);
    score.present.clear();
    if (score.keeps_raw()) score.raw.assign(slots, 0);
    for (NodeIndex node = 0; node < slots; ++node) {
      if (!ok_[node]) continue;
      const int64_t raw = ranged ? raw_[node] : RawScore(score, pod, node);
      if (score.keeps_raw()) SetRaw(score, node, raw);
      if (score.rule != Normalization::kNone) continue;
      const int64_t weighted = Weigh(score, raw);
      base_[node] += static_cast<int32_t>(weighted);
      if (score.reach != Reach::kPods) slots_[node].fixed += static_cast<int32_t>(weighted);
    }
  }
  for (NodeIndex node = 0; node < slots; ++node) {
    if (!ok_[node]) continue;
    slots_[node].scored = 1;
    CountPresent(node, +1);
  }
  score_all_ = false;
  return !trouble_;
}

void Lane::ScoreEverywhere(LocalScore& score, const PodInfo& pod) {
  const framework::ScorePlugin& plugin = *profile_.scores()[score.position].plugin;
  raw_.resize(slots_.size());
  const bool ranged = plugin.ScoreRange(state_, pod, cluster_.columns(), 0, raw_);
  for (NodeIndex node = 0; node < slots_.size(); ++node) {
    if (!slots_[node].scored) continue;
    const int64_t raw = ranged ? raw_[node] : RawScore(score, pod, node);
    const int64_t before = score.raw[node];
    if (raw == before) continue;
    if (score.rule == Normalization::kNone) {
      const auto change = static_cast<int32_t>(Weigh(score, raw) - score.weight * before);
      base_[node] += change;
      slots_[node].fixed += change;
      SetRaw(score, node, raw);
    } else {
      CountPresent(score, node, -1);
      SetRaw(score, node, raw);
      CountPresent(score, node, +1);
    }
    if (totals_current_) top_.Set(node, LocalTotal(node));
  }
}

int64_t Lane::RawScore(const LocalScore& score, const PodInfo& pod, NodeIndex node) {
  const framework::ScorePlugin& plugin = *profile_.scores()[score.position].plugin;
  int64_t raw = 0;
  if (plugin.ScoreRange(state_, pod, cluster_.columns(), node, {&raw, 1})) return raw;
  const framework::ScoreResult result = plugin.Score(state_, pod, cluster_.table().row(node));
  if (!result.status.ok()) trouble_ = true;
  return result.score;
}

int64_t Lane::Weigh(const LocalScore& score, int64_t raw) {
  if (!InRange(raw)) trouble_ = true;
  return score.weight * raw;
}

void Lane::SetRaw(LocalScore& score, NodeIndex node, int64_t raw) {
  if (raw < 0) trouble_ = true;  // the rules are for counts
  score.raw[node] = raw;
}

// A node without current scores gets them all.
void Lane::ScoreNode(const PodInfo& pod, NodeIndex node) {
  slots_[node].fixed = 0;
  base_[node] = 0;
  for (LocalScore& score : local_scores_) {
    const int64_t raw = RawScore(score, pod, node);
    if (score.keeps_raw()) SetRaw(score, node, raw);
    if (score.rule != Normalization::kNone) continue;
    const int64_t weighted = Weigh(score, raw);
    base_[node] += static_cast<int32_t>(weighted);
    if (score.reach != Reach::kPods) slots_[node].fixed += static_cast<int32_t>(weighted);
  }
  slots_[node].scored = 1;
  CountPresent(node, +1);
}

// The pods on nodes that have scores have changed.
void Lane::ScorePods(const PodInfo& pod, std::span<const NodeIndex> nodes) {
  if (nodes.empty() || score_all_) return;
  for (const NodeIndex node : nodes) base_[node] = slots_[node].fixed;
  raw_.resize(std::max(raw_.size(), nodes.size()));
  for (LocalScore& score : local_scores_) {
    if (score.reach != Reach::kPods) continue;
    const framework::ScorePlugin& plugin = *profile_.scores()[score.position].plugin;
    const bool listed = plugin.ScoreList(state_, pod, cluster_.columns(), nodes, {raw_.data(), nodes.size()});
    for (size_t i = 0; i < nodes.size(); ++i) {
      const NodeIndex node = nodes[i];
      const int64_t raw = listed ? raw_[i] : RawScore(score, pod, node);
      if (score.rule == Normalization::kNone) {
        base_[node] += static_cast<int32_t>(Weigh(score, raw));
      } else if (raw != score.raw[node]) {
        CountPresent(score, node, -1);
        SetRaw(score, node, raw);
        CountPresent(score, node, +1);
      }
    }
  }
  if (!totals_current_) return;
  for (const NodeIndex node : nodes) top_.Set(node, LocalTotal(node));
}

void Lane::CountPresent(LocalScore& score, NodeIndex node, int sign) {
  if (sign > 0) {
    ++score.present[score.raw[node]];
  } else if (const auto it = score.present.find(score.raw[node]); --it->second == 0) {
    score.present.erase(it);
  }
}

void Lane::CountPresent(NodeIndex node, int sign) {
  for (LocalScore& score : local_scores_) {
    if (score.rule != Normalization::kNone) CountPresent(score, node, sign);
  }
}

int32_t Lane::LocalTotal(NodeIndex node) const {
  int64_t total = base_[node];
  for (size_t k = 0; k < local_scores_.size(); ++k) {
    const LocalScore& score = local_scores_[k];
    if (score.rule == Normalization::kNone) continue;
    // A raw score above the maximum will move it, and all totals with it. Where nobody had any points, there is no need
    // to look.
    const int64_t raw = highest_[k] == 0 ? 0 : score.raw[node];
    total += score.weight * framework::Normalize(score.rule, raw, std::max(highest_[k], raw));
  }
  return static_cast<int32_t>(total);
}

void Lane::RefreshTotals() {
  bool moved = !totals_current_;
  for (size_t k = 0; k < local_scores_.size(); ++k) {
    const int64_t highest = local_scores_[k].highest();
    moved |= highest != highest_[k];
    highest_[k] = highest;
  }
  if (!moved) return;
  totals_current_ = true;
  for (NodeIndex node = 0; node < slots_.size(); ++node) {
    if (ok_[node]) top_.Set(node, LocalTotal(node));
  }
}

Lane::Choice Lane::ChooseFromTop(base::Random& random) {
  RefreshTotals();
  const size_t ties = top_.ties();
  const NodeIndex chosen = top_.Tie(ties == 1 ? 0 : random.Below(ties));
  return {&cluster_.table().row(chosen), top_.highest(), ok_count_, ties, true};
}

bool Lane::FilterByDomain(const PodInfo& pod) {
  const framework::NodeColumns& columns = cluster_.columns();
  final_ok_ = ok_;
  final_count_ = ok_count_;
  domain_verdicts_.resize(domain_filters_.size());
  for (size_t k = 0; k < domain_filters_.size(); ++k) {
    std::vector<uint8_t>& verdicts = domain_verdicts_[k];
    verdicts.resize(columns.size());
    const auto& filter = profile_.filters()[domain_filters_[k]];
    std::atomic<bool> answered = true;
    workers_.ForRanges(verdicts.size(), kWorthAThread, [&](size_t begin, size_t end) {
      const std::span<uint8_t> part = std::span(verdicts).subspan(begin, end - begin);
      if (!filter.plugin->FilterRange(state_, pod, columns, static_cast<NodeIndex>(begin), part)) answered = false;
    });
    if (!answered) return false;
    const Accepted accepted = KeepAccepted(final_ok_.data(), verdicts.data(), verdicts.size());
    // Nodes that only Filter can judge are too slow a matter for a pass.
    if (!accepted.all_judged) return false;
    final_count_ = accepted.count;
  }
  return true;
}

// Unset when a plugin cannot say.
std::optional<Lane::Choice> Lane::ChooseByPass(const PodInfo& pod, const std::vector<uint8_t>& feasible, size_t count,
                                               base::Random& random) {
  AddNormalized(feasible);
  if (!AddDomainScores(pod, feasible)) return std::nullopt;
  const int32_t highest = HighestOf(totals_.data(), totals_.size());
  const size_t ties = CountEqual(totals_.data(), totals_.size(), highest);
  size_t nth = ties == 1 ? 0 : random.Below(ties);
  // Stretch by stretch to where it must be, then node by node.
  constexpr size_t kStretch = 256;
  size_t begin = 0;
  for (;; begin += kStretch) {
    const size_t here = CountEqual(totals_.data() + begin, std::min(kStretch, totals_.size() - begin), highest);
    if (nth < here) break;
    nth -= here;
  }
  const NodeIndex chosen =
      NthOf(static_cast<NodeIndex>(begin), nth, [&](NodeIndex node) { return totals_[node] == highest; });
  return Choice{&cluster_.table().row(chosen), highest, count, ties, true};
}

// Normalised over the nodes that are feasible in the end, which may be fewer than those with a place in the queue.
void Lane::AddNormalized(const std::vector<uint8_t>& feasible) {
  int64_t same = 0;  // for all of them
  std::vector<std::pair<const LocalScore*, int64_t>> varied;
  for (const LocalScore& score : local_scores_) {
    if (score.rule == Normalization::kNone) continue;
    int64_t highest = 0;
    if (score.highest() > 0) {
      for (NodeIndex node = 0; node < feasible.size(); ++node) {
        if (feasible[node]) highest = std::max(highest, score.raw[node]);
      }
    }
    if (highest == 0) {
      same += score.weight * framework::Normalize(score.rule, 0, 0);
    } else {
      varied.emplace_back(&score, highest);
    }
  }
  totals_.resize(feasible.size());
  StartTotals(feasible.data(), base_.data(), static_cast<int32_t>(same), totals_.data(), totals_.size());
  for (const auto& [score, highest] : varied) {
    for (NodeIndex node = 0; node < feasible.size(); ++node) {
      if (!feasible[node]) continue;
      const int64_t points = framework::Normalize(score->rule, score->raw[node], highest);
      totals_[node] += static_cast<int32_t>(score->weight * points);
    }
  }
}

bool Lane::AddDomainScores(const PodInfo& pod, const std::vector<uint8_t>& feasible) {
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    const auto& score = profile_.scores()[position];
    if (reach_.scores[position] != Reach::kDomain || IsSkipped(state_.skip_score, score.id)) continue;
    raw_.resize(feasible.size());
    points_.resize(feasible.size());
    std::atomic<bool> answered = true;
    workers_.ForRanges(raw_.size(), kWorthAThread, [&](size_t begin, size_t end) {
      const std::span<int64_t> part = std::span(raw_).subspan(begin, end - begin);
      if (!score.plugin->ScoreRange(state_, pod, cluster_.columns(), static_cast<NodeIndex>(begin), part))
        answered = false;
    });
    if (!answered || !score.plugin->NormalizeRange(state_, pod, feasible, raw_, points_)) {
      return false;
    }
    AddWeighted(points_.data(), static_cast<int32_t>(score.weight), totals_.data(), totals_.size());
  }
  return true;
}

}  // namespace berth::engine
