// The scores of a lane that depend on the node alone: asked for once, then again for what has changed.
#include <algorithm>
#include <bit>
#include <utility>

#include "engine/lane.h"
#include "framework/normalize_score.h"

namespace berth::engine {

using config::ExtensionPoint;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::Normalization;
using framework::PodInfo;
using framework::ScorePlugin;

namespace {

std::vector<const NodeInfo*> RowsOf(const cluster::Cluster& cluster, const std::vector<uint8_t>& marks) {
  std::vector<const NodeInfo*> rows;
  for (NodeIndex node = 0; node < marks.size(); ++node) {
    if (marks[node]) rows.push_back(&cluster.table().row(node));
  }
  return rows;
}

bool InRange(int64_t score) { return score >= framework::kMinNodeScore && score <= framework::kMaxNodeScore; }

}  // namespace

// Only the set of feasible nodes has changed, which most plugins do not read.
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
  const bool reads_rows = profile_.ReadsFeasibleNodes(pod);
  const std::vector<const NodeInfo*> rows = reads_rows ? RowsOf(cluster_, feasible) : std::vector<const NodeInfo*>();
  const uint64_t skipped_before = state_.skip_score;
  if (!profile_.RunPreScore(state_, pod, rows).ok()) return GiveUp(LongWay::kTrouble);
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    const bool skipped = IsSkipped(state_.skip_score, profile_.scores()[position].id);
    if (!skipped && reach_.scores[position] == Reach::kUnknown) return GiveUp(LongWay::kUndeclared);
  }
  // A plugin that reads nodes without declaring it would go unnoticed, so it is checked, at ever longer intervals.
  const bool compare = !reads_rows && std::has_single_bit(++scratch_.pre_scores_without_nodes);
  if (compare && !NodesMadeNoDifference(pod, feasible)) return GiveUp(LongWay::kUndeclared);
  if (local_scores_.empty() || state_.skip_score != skipped_before) ListLocalScores();
  if (reads_rows) pre_score_ok_ = feasible;
  return pre_score_current_ = true;
}

bool Lane::NodesMadeNoDifference(const PodInfo& pod, const std::vector<uint8_t>& feasible) {
  constexpr size_t kCompared = 16;  // nodes
  const std::vector<const NodeInfo*> rows = RowsOf(cluster_, feasible);
  const auto scores_in = [&](const framework::CycleState& state, const ScorePlugin& plugin) {
    std::vector<int64_t> scores;
    for (size_t i = 0; i < rows.size(); i += rows.size() / kCompared + 1) {
      const framework::ScoreResult result = plugin.Score(state, pod, *rows[i]);
      scores.push_back(result.status.ok() ? result.score : -1);
    }
    return scores;
  };
  // All of these first: a plugin that reads nodes in secret may keep what it read outside the state.
  std::vector<std::vector<int64_t>> without_nodes;
  for (const auto& score : profile_.scores()) {
    const bool skipped = IsSkipped(state_.skip_score, score.id);
    without_nodes.push_back(skipped ? std::vector<int64_t>() : scores_in(state_, *score.plugin));
  }
  framework::CycleState with_nodes = state_.Clone();
  bool same = profile_.RunPreScore(with_nodes, pod, rows).ok() && with_nodes.skip_score == state_.skip_score;
  for (size_t i = 0; same && i < without_nodes.size(); ++i) {
    const auto& score = profile_.scores()[i];
    if (IsSkipped(state_.skip_score, score.id)) continue;
    same = scores_in(with_nodes, *score.plugin) == without_nodes[i];
    if (PluginObserver* const observer = profile_.observer(); !same && observer) {
      observer->OnError(Step::kPreScore, score.name);
    }
  }
  scratch_.reads_nodes_after_all = !same;
  return same;
}

void Lane::ListLocalScores() {
  local_scores_.clear();
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    const auto& score = profile_.scores()[position];
    Reach reach = reach_.scores[position];
    if (reach == Reach::kDomain || reach == Reach::kUnknown || IsSkipped(state_.skip_score, score.id)) continue;
    // A pod that uses no devices is not affected when they change.
    if (reach == Reach::kDevices) reach = IsSkipped(state_.skip_filter, score.id) ? Reach::kNode : Reach::kPods;
    local_scores_.push_back({position, reach, score.plugin->normalization(), score.weight, {}, {}, {}});
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
  totals_current_ = classes_made_ = false;
  highest_.assign(local_scores_.size(), 0);
  scratch_.raw.resize(slots);
  for (LocalScore& score : local_scores_) {
    timing_.Time(ExtensionPoint::kScore, profile_.scores()[score.position].name, [&] { ScoreAllBy(score, pod); });
  }
  for (NodeIndex node = 0; node < slots; ++node) slots_[node].scored = ok_[node];
  for (LocalScore& score : local_scores_) {
    if (score.rule == Normalization::kNone) continue;
    if (score.raw.empty()) {
      if (ok_count_ != 0) score.present[0] = ok_count_;
      continue;
    }
    for (NodeIndex node = 0; node < slots; ++node) {
      if (ok_[node]) CountPresent(score, node, +1);
    }
  }
  score_all_ = false;
  return !trouble_;
}

void Lane::ScoreAllBy(LocalScore& score, const PodInfo& pod) {
  const size_t slots = slots_.size();
  const framework::ScorePlugin& plugin = *profile_.scores()[score.position].plugin;
  const bool ranged = plugin.ScoreRange(state_, pod, cluster_.columns(), 0, scratch_.raw);
  score.present.clear();
  if (score.reach == Reach::kAllNodes) score.everywhere = plugin.ScoreOfEveryNode(state_, pod);
  score.raw.clear();
  for (NodeIndex node = 0; node < slots; ++node) {
    if (!ok_[node]) continue;
    const int64_t raw = ranged ? scratch_.raw[node] : RawScore(score, pod, node);
    if (score.keeps_raw()) SetRaw(score, node, raw);
    if (score.rule != Normalization::kNone) continue;
    const int64_t weighted = Weigh(score, raw);
    base_[node] += static_cast<int32_t>(weighted);
    if (score.reach != Reach::kPods) slots_[node].fixed += static_cast<int32_t>(weighted);
  }
}

void Lane::ScoreEverywhere(LocalScore& score, const PodInfo& pod) {
  const framework::ScorePlugin& plugin = *profile_.scores()[score.position].plugin;
  const std::optional<int64_t> now = plugin.ScoreOfEveryNode(state_, pod);
  const std::optional<int64_t> everywhere = std::exchange(score.everywhere, now);
  if (now && now == everywhere) return;
  scratch_.raw.resize(slots_.size());
  const bool ranged = plugin.ScoreRange(state_, pod, cluster_.columns(), 0, scratch_.raw);
  for (NodeIndex node = 0; node < slots_.size(); ++node) {
    if (!slots_[node].scored) continue;
    const int64_t raw = ranged ? scratch_.raw[node] : RawScore(score, pod, node);
    const int64_t before = everywhere && score.rule == Normalization::kNone ? *everywhere : score.RawOf(node);
    if (score.rule == Normalization::kNone) {
      if (score.keeps_raw()) SetRaw(score, node, raw);
      if (raw == before) continue;
      const auto change = static_cast<int32_t>(Weigh(score, raw) - score.weight * before);
      base_[node] += change;
      slots_[node].fixed += change;
    } else {
      if (raw == before) continue;
      CountPresent(score, node, -1);
      SetRaw(score, node, raw);
      CountPresent(score, node, +1);
    }
    if (totals_current_) top_.Set(node, LocalTotal(node));
    Unclass(node);
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
  if (raw < 0) trouble_ = true;  // the normalisation rules expect non-negative counts
  if (score.raw.empty()) {
    if (raw == 0) return;
    score.raw.assign(slots_.size(), 0);
  }
  score.raw[node] = raw;
}

// Computes all scores of a node that has no current ones.
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
  scratch_.raw.resize(std::max(scratch_.raw.size(), nodes.size()));
  for (LocalScore& score : local_scores_) {
    if (score.reach != Reach::kPods) continue;
    const framework::ScorePlugin& plugin = *profile_.scores()[score.position].plugin;
    const bool listed = timing_.Time(ExtensionPoint::kScore, profile_.scores()[score.position].name, [&] {
      return plugin.ScoreList(state_, pod, cluster_.columns(), nodes, {scratch_.raw.data(), nodes.size()});
    });
    for (size_t i = 0; i < nodes.size(); ++i) {
      const NodeIndex node = nodes[i];
      const int64_t raw = listed ? scratch_.raw[i] : RawScore(score, pod, node);
      if (score.rule == Normalization::kNone) {
        base_[node] += static_cast<int32_t>(Weigh(score, raw));
      } else if (raw != score.RawOf(node)) {
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
    ++score.present[score.RawOf(node)];
  } else if (const auto it = score.present.find(score.RawOf(node)); --it->second == 0) {
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
    // A raw score above the maximum will raise it, and all totals with it. Where all raw scores are 0, there is no need
    // to look.
    const int64_t raw = highest_[k] == 0 ? 0 : score.RawOf(node);
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
  if (!totals_current_) top_.Reset(slots_.size());
  totals_current_ = true;
  for (NodeIndex node = 0; node < slots_.size(); ++node) {
    if (ok_[node]) top_.Set(node, LocalTotal(node));
  }
}

}  // namespace berth::engine
