// Choosing a node in a lane: keeping scores and totals current, from buckets when every answer is a node's own, and in
// one pass over the nodes when topology domains have a say.
#include <algorithm>

#include "engine/lane.h"
#include "framework/normalize_score.h"

namespace berth::engine {

using framework::NodeIndex;
using framework::NodeInfo;
using framework::Normalization;
using framework::PodInfo;

namespace {

bool InRange(int64_t score) { return score >= framework::kMinNodeScore && score <= framework::kMaxNodeScore; }

}  // namespace

std::optional<Lane::Choice> Lane::Choose(const PodInfo& pod, base::Random& random, bool& failed) {
  failed = false;
  if (HasDomainFilters()) {
    if (!FilterByDomain(pod)) {
      failed = true;
      return std::nullopt;
    }
  } else {
    final_ok_.clear();
  }
  const bool filtered = !final_ok_.empty();
  const std::vector<NodeIndex>& feasible = filtered ? final_feasible_ : local_feasible_;
  if (feasible.empty()) return std::nullopt;
  if (feasible.size() == 1 || profile_.scores().empty()) {
    const NodeIndex chosen = feasible[feasible.size() == 1 ? 0 : random.Below(feasible.size())];
    return Choice{&cluster_.table().row(chosen), 0, feasible.size(), feasible.size(), false};
  }
  if (!RefreshPreScore(pod, feasible, filtered ? final_ok_ : local_ok_) || !ScoreMissing(pod)) {
    failed = true;
    return std::nullopt;
  }
  if (filtered || HasDomainScores()) return ChooseByPass(pod, random, failed);
  return ChooseFromBuckets(random);
}

bool Lane::PreScoreReadsFeasibleNodes() const {
  return std::any_of(reach_.incremental.begin(), reach_.incremental.end(), [&](const auto& entry) {
    return !IsSkipped(state_.skip_score, entry.first) && entry.second->pre_score_reads_feasible_nodes();
  });
}

bool Lane::RefreshPreScore(const PodInfo& pod, const std::vector<NodeIndex>& feasible, const std::vector<uint8_t>& ok) {
  if (pre_score_current_ && (!PreScoreReadsFeasibleNodes() || pre_score_ok_ == ok)) return true;
  rows_.clear();
  for (const NodeIndex index : feasible) rows_.push_back(&cluster_.table().row(index));
  if (pre_score_current_) {
    // Only the set of feasible nodes has changed, which is of no interest to the others.
    pre_score_current_ = std::all_of(reach_.incremental.begin(), reach_.incremental.end(), [&](const auto& entry) {
      const auto& [id, plugin] = entry;
      return IsSkipped(state_.skip_score, id) || !plugin->pre_score_reads_feasible_nodes() ||
             profile_.RunPreScoreOf(id, state_, pod, rows_).ok();
    });
    pre_score_ok_ = ok;
    if (pre_score_current_) return true;
  }
  const uint64_t skipped_before = state_.skip_score;
  if (!profile_.RunPreScore(state_, pod, rows_).ok()) return false;
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    const bool skipped = IsSkipped(state_.skip_score, profile_.scores()[position].id);
    if (!skipped && reach_.scores[position] == Reach::kUnknown) return false;
  }
  if (local_scores_.empty() || state_.skip_score != skipped_before) ListLocalScores();
  pre_score_ok_ = ok;
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
  if (score_all_) return ScoreAll(pod);
  for (const NodeIndex index : unscored_) {
    if (!local_ok_[index] || scored_[index]) continue;
    if (!ScoreNode(pod, cluster_.table().row(index), /*pods_only=*/false)) return built_ = false;
    MarkScored(index);
  }
  unscored_.clear();
  return !bad_score_;
}

bool Lane::ScoreAll(const PodInfo& pod) {
  const size_t slots = cluster_.columns().size();
  std::fill(scored_.begin(), scored_.end(), uint8_t{0});
  std::fill(base_.begin(), base_.end(), 0);
  totals_current_ = false;
  highest_.assign(local_scores_.size(), 0);
  domain_raw_.resize(slots);
  for (LocalScore& score : local_scores_) {
    const framework::ScorePlugin& plugin = *profile_.scores()[score.position].plugin;
    score.raw.assign(slots, 0);
    score.present.clear();
    const bool ranged = plugin.ScoreRange(state_, pod, cluster_.columns(), 0, domain_raw_);
    for (const NodeIndex index : local_feasible_) {
      int64_t raw = 0;
      if (ranged) {
        raw = domain_raw_[index];
      } else {
        const framework::ScoreResult result = plugin.Score(state_, pod, cluster_.table().row(index));
        if (!result.status.ok()) return built_ = false;
        raw = result.score;
      }
      SetRaw(score, index, raw);
    }
  }
  for (const NodeIndex index : local_feasible_) MarkScored(index);
  unscored_.clear();
  score_all_ = false;
  if (bad_score_) built_ = false;
  return !bad_score_;
}

bool Lane::ScoreNode(const PodInfo& pod, const NodeInfo& node, bool pods_only) {
  for (LocalScore& score : local_scores_) {
    if (pods_only && score.reach != Reach::kPods) continue;
    const framework::ScoreResult result = profile_.scores()[score.position].plugin->Score(state_, pod, node);
    if (!result.status.ok()) return false;
    SetRaw(score, node.index(), result.score);
  }
  return true;
}

void Lane::SetRaw(LocalScore& score, NodeIndex index, int64_t raw) {
  if (score.rule == Normalization::kNone) {
    if (!InRange(raw)) bad_score_ = true;
    base_[index] += score.weight * (raw - score.raw[index]);
  } else if (raw < 0) {
    bad_score_ = true;  // the rules are for counts
  }
  score.raw[index] = raw;
}

void Lane::MarkScored(NodeIndex index) {
  scored_[index] = 1;
  CountPresent(index, +1);
  if (totals_current_) queue_.Set(index, LocalTotal(index));
}

void Lane::CountPresent(NodeIndex index, int sign) {
  for (LocalScore& score : local_scores_) {
    if (score.rule == Normalization::kNone) continue;
    if (sign > 0) {
      ++score.present[score.raw[index]];
    } else if (const auto it = score.present.find(score.raw[index]); --it->second == 0) {
      score.present.erase(it);
    }
  }
}

int64_t Lane::LocalTotal(NodeIndex index) const {
  int64_t total = base_[index];
  for (size_t k = 0; k < local_scores_.size(); ++k) {
    const LocalScore& score = local_scores_[k];
    if (score.rule == Normalization::kNone) continue;
    // A raw score above the maximum the queue knows will move it; until then its total must still have a bucket.
    const int64_t raw = score.raw[index];
    total += score.weight * framework::Normalize(score.rule, raw, std::max(highest_[k], raw));
  }
  return total;
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
  for (const NodeIndex index : local_feasible_) queue_.Set(index, LocalTotal(index));
}

std::optional<Lane::Choice> Lane::ChooseFromBuckets(base::Random& random) {
  RefreshTotals();
  const std::vector<NodeIndex>& best = queue_.best();
  const NodeIndex chosen = best.size() == 1 ? best.front() : best[random.Below(best.size())];
  return Choice{&cluster_.table().row(chosen), queue_.top(), local_feasible_.size(), best.size(), true};
}

bool Lane::FilterByDomain(const PodInfo& pod) {
  const framework::NodeColumns& columns = cluster_.columns();
  final_ok_.assign(local_ok_.begin(), local_ok_.end());
  verdicts_.resize(columns.size());
  for (size_t position = 0; position < reach_.filters.size(); ++position) {
    const auto& filter = profile_.filters()[position];
    if (reach_.filters[position] != Reach::kDomain || IsSkipped(state_.skip_filter, filter.id)) continue;
    if (!filter.plugin->FilterRange(state_, pod, columns, 0, verdicts_)) return false;
    for (size_t i = 0; i < final_ok_.size(); ++i) final_ok_[i] &= verdicts_[i] == 0;
    if (std::find(verdicts_.begin(), verdicts_.end(), framework::FilterPlugin::kAskFilter) != verdicts_.end())
      return false;
  }
  final_feasible_.clear();
  for (const NodeIndex index : local_feasible_) {
    if (final_ok_[index]) final_feasible_.push_back(index);
  }
  return true;
}

std::optional<Lane::Choice> Lane::ChooseByPass(const PodInfo& pod, base::Random& random, bool& failed) {
  if (final_ok_.empty()) final_feasible_ = local_feasible_;
  AddLocalTotals();
  if (!AddDomainScores(pod)) {
    failed = true;
    return std::nullopt;
  }
  const int64_t top = *std::max_element(totals_.begin(), totals_.end());
  const auto ties = static_cast<size_t>(std::count(totals_.begin(), totals_.end(), top));
  size_t nth = ties == 1 ? 0 : random.Below(ties);
  for (size_t i = 0; i < totals_.size(); ++i) {
    if (totals_[i] == top && nth-- == 0) {
      return Choice{&cluster_.table().row(final_feasible_[i]), top, final_feasible_.size(), ties, true};
    }
  }
  return std::nullopt;
}

// Normalised over the nodes that are feasible in the end, which may be fewer than those with a place in the queue.
void Lane::AddLocalTotals() {
  totals_.resize(final_feasible_.size());
  for (size_t i = 0; i < final_feasible_.size(); ++i) totals_[i] = base_[final_feasible_[i]];
  for (const LocalScore& score : local_scores_) {
    if (score.rule == Normalization::kNone) continue;
    int64_t highest = 0;
    if (score.highest() > 0) {
      for (const NodeIndex index : final_feasible_) highest = std::max(highest, score.raw[index]);
    }
    if (highest == 0) {
      // One score for all of them.
      const int64_t same = score.weight * framework::Normalize(score.rule, 0, 0);
      for (int64_t& total : totals_) total += same;
      continue;
    }
    for (size_t i = 0; i < final_feasible_.size(); ++i) {
      totals_[i] += score.weight * framework::Normalize(score.rule, score.raw[final_feasible_[i]], highest);
    }
  }
}

bool Lane::AddDomainScores(const PodInfo& pod) {
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    const auto& score = profile_.scores()[position];
    if (reach_.scores[position] != Reach::kDomain || IsSkipped(state_.skip_score, score.id)) continue;
    domain_raw_.resize(cluster_.columns().size());
    if (!score.plugin->ScoreRange(state_, pod, cluster_.columns(), 0, domain_raw_)) return false;
    node_scores_.resize(final_feasible_.size());
    for (size_t i = 0; i < final_feasible_.size(); ++i) {
      const NodeIndex index = final_feasible_[i];
      node_scores_[i] = {&cluster_.table().row(index), domain_raw_[index]};
    }
    if (score.plugin->normalization() != Normalization::kNone &&
        !score.plugin->NormalizeScore(state_, pod, node_scores_).ok()) {
      return false;
    }
    for (size_t i = 0; i < node_scores_.size(); ++i) {
      if (!InRange(node_scores_[i].score)) return false;
      totals_[i] += score.weight * node_scores_[i].score;
    }
  }
  return true;
}

}  // namespace berth::engine
