// Choosing a node in a lane when topology domains matter, without looking at every node: nodes that the plugins cannot
// tell apart form a class. What those plugins answer holds for the whole class, and the best node of a class by the
// scores that depend on the node alone is known.
//
// The choice is the same as that of a pass over all nodes, ties included.
#include <algorithm>

#include "engine/lane.h"
#include "framework/normalize_score.h"

namespace berth::engine {

using config::ExtensionPoint;
using framework::NodeIndex;
using framework::Normalization;
using framework::PodInfo;

// Appends the traits that the participating plugins depend on to scratch_.traits_now.
bool Lane::ListTraits() {
  scratch_.traits_now.clear();
  for (const size_t position : domain_filters_) {
    const framework::TellsNodesApart* plugin = reach_.filter_classes[position];
    if (!plugin || !plugin->FilterTraits(state_, scratch_.traits_now)) return false;
  }
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    if (reach_.scores[position] != Reach::kDomain || IsSkipped(state_.skip_score, profile_.scores()[position].id))
      continue;
    const framework::TellsNodesApart* plugin = reach_.score_classes[position];
    if (!plugin || !plugin->ScoreTraits(state_, scratch_.traits_now)) return false;
  }
  return true;
}

bool Lane::RefreshClasses() {
  if (classes_refused_) return false;
  if (!ListTraits()) return !(classes_refused_ = true);
  scratch_.keyed_now.clear();
  for (size_t i = 0; i < local_scores_.size(); ++i) {
    if (local_scores_[i].rule != Normalization::kNone && !local_scores_[i].raw.empty()) scratch_.keyed_now.push_back(i);
  }
  const auto means_the_same = [](const auto& a, const auto& b) { return a.MeansTheSameAs(b); };
  const bool same =
      keyed_scores_ == scratch_.keyed_now && std::ranges::equal(traits_, scratch_.traits_now, means_the_same);
  std::swap(traits_, scratch_.traits_now);
  std::swap(keyed_scores_, scratch_.keyed_now);
  scratch_.key.resize(traits_.size() + keyed_scores_.size());
  if (!classes_made_ || !same) return MakeClasses();
  for (const NodeIndex node : unclassed_) {
    if (!Classify(node)) return false;
  }
  unclassed_.clear();
  return true;
}

bool Lane::MakeClasses() {
  classes_.Reset(slots_.size(), scratch_.key.size());
  unclassed_.clear();
  classes_made_ = true;
  for (NodeIndex node = 0; node < slots_.size(); ++node) {
    if (ok_[node] && !Classify(node)) return false;
  }
  return true;
}

bool Lane::Classify(NodeIndex node) {
  if (!ok_[node]) {
    classes_.Remove(node);
    return true;
  }
  if (const auto id = classes_.class_of(node); id != ClassTotals::kNoClass && IsOfClass(node, id)) {
    classes_.SetTotal(node, base_[node]);
    return true;
  }
  size_t at = 0;
  for (const framework::NodeTrait& trait : traits_) scratch_.key[at++] = trait.Of(node);
  for (const size_t score : keyed_scores_) scratch_.key[at++] = local_scores_[score].raw[node];
  if (classes_.Set(node, scratch_.key, base_[node])) return true;
  // Nodes differ too much for classes to help.
  classes_made_ = false;
  classes_refused_ = true;
  return false;
}

bool Lane::IsOfClass(NodeIndex node, ClassTotals::ClassId id) const {
  const int64_t* key = classes_.key(id).data();
  for (const framework::NodeTrait& trait : traits_) {
    if (trait.Of(node) != *key++) return false;
  }
  for (const size_t score : keyed_scores_) {
    if (local_scores_[score].raw[node] != *key++) return false;
  }
  return true;
}

std::optional<Lane::Choice> Lane::ChooseByClass(const PodInfo& pod, base::Random& random, bool& answered,
                                                bool& failed) {
  const bool by_domain = !domain_filters_.empty() || HasDomainScores();
  if (!by_class_ || classes_refused_ || !by_domain || profile_.scores().empty()) return std::nullopt;
  if (!ScoreMissing(pod)) {
    failed = true;
    return std::nullopt;
  }
  if (!RefreshClasses() || !FilterClasses(pod)) return std::nullopt;
  answered = true;
  size_t count = 0;
  for (const framework::NodeClass& one : feasible_classes_) count += one.nodes;
  if (count == 0) return std::nullopt;
  if (count == 1) return Choice{&cluster_.table().row(class_nodes_.front()), 0, 1, 1, false};
  if (!ChooseAmongClasses(pod) || !ScoreClasses(pod)) {
    answered = false;
    return std::nullopt;
  }

  int32_t highest = Peaks::kNone;
  for (size_t i = 0; i < class_ids_.size(); ++i) {
    highest = std::max(highest, classes_.highest(class_ids_[i]) + class_points_[i]);
  }
  std::vector<ClassTotals::ClassId> best;
  size_t ties = 0;
  for (size_t i = 0; i < class_ids_.size(); ++i) {
    if (classes_.highest(class_ids_[i]) + class_points_[i] != highest) continue;
    best.push_back(class_ids_[i]);
    ties += classes_.ties(class_ids_[i]);
  }
  chosen_by_class_ = true;
  const NodeIndex chosen = classes_.Tie(best, ties == 1 ? 0 : random.Below(ties));
  return Choice{&cluster_.table().row(chosen), highest, count, ties, true};
}

bool Lane::FilterClasses(const PodInfo& pod) {
  class_ids_.clear();
  class_nodes_.clear();
  feasible_classes_.clear();
  for (size_t id = 0; id < classes_.classes(); ++id) {
    const auto class_id = static_cast<ClassTotals::ClassId>(id);
    if (classes_.nodes(class_id) == 0) continue;
    class_ids_.push_back(class_id);
    class_nodes_.push_back(classes_.AnyOf(class_id));
  }
  for (const size_t position : domain_filters_) {
    const auto& filter = profile_.filters()[position];
    scratch_.class_verdicts.resize(class_nodes_.size());
    timing_.Time(ExtensionPoint::kFilter, filter.name, [&] {
      filter.plugin->FilterList(state_, pod, cluster_.columns(), class_nodes_, scratch_.class_verdicts);
    });
    size_t kept = 0;
    for (size_t i = 0; i < class_nodes_.size(); ++i) {
      if (scratch_.class_verdicts[i] == framework::FilterPlugin::kAskFilter) return false;
      if (scratch_.class_verdicts[i] != 0) continue;
      class_ids_[kept] = class_ids_[i];
      class_nodes_[kept++] = class_nodes_[i];
    }
    class_ids_.resize(kept);
    class_nodes_.resize(kept);
  }
  for (size_t i = 0; i < class_ids_.size(); ++i) {
    feasible_classes_.push_back({class_nodes_[i], classes_.nodes(class_ids_[i])});
  }
  return true;
}

bool Lane::ChooseAmongClasses(const PodInfo& pod) {
  for (size_t i = 0; i < reach_.incremental.size(); ++i) {
    const auto& [id, plugin] = reach_.incremental[i];
    if (IsSkipped(state_.skip_score, id) || !plugin->pre_score_reads_feasible_nodes()) continue;
    // A later pass has to call ChooseAmong again.
    pre_score_ok_.clear();
    const framework::TellsNodesApart* classes = reach_.incremental_classes[i];
    if (!classes || !classes->ChooseAmongClasses(state_, pod, feasible_classes_)) return false;
  }
  return true;
}

void Lane::NormalizeByClass(const LocalScore& score, size_t key_position) {
  int64_t highest = 0;
  for (const ClassTotals::ClassId id : class_ids_) highest = std::max(highest, classes_.key(id)[key_position]);
  for (size_t i = 0; i < class_ids_.size(); ++i) {
    const int64_t raw = highest == 0 ? 0 : classes_.key(class_ids_[i])[key_position];
    class_points_[i] += static_cast<int32_t>(score.weight * framework::Normalize(score.rule, raw, highest));
  }
}

void Lane::NormalizeZeros(const LocalScore& score) {
  const auto points = static_cast<int32_t>(score.weight * framework::Normalize(score.rule, 0, 0));
  for (int32_t& sum : class_points_) sum += points;
}

bool Lane::ScoreClasses(const PodInfo& pod) {
  const size_t count = class_ids_.size();
  class_points_.assign(count, 0);
  size_t key_position = traits_.size();
  for (const LocalScore& score : local_scores_) {
    if (score.rule == Normalization::kNone) continue;
    score.raw.empty() ? NormalizeZeros(score) : NormalizeByClass(score, key_position++);
  }
  scratch_.raw.resize(std::max(scratch_.raw.size(), count));
  scratch_.points.resize(std::max(scratch_.points.size(), count));
  const std::span<int64_t> raw(scratch_.raw.data(), count);
  const std::span<uint8_t> points(scratch_.points.data(), count);
  for (size_t position = 0; position < reach_.scores.size(); ++position) {
    const auto& score = profile_.scores()[position];
    if (reach_.scores[position] != Reach::kDomain || IsSkipped(state_.skip_score, score.id)) continue;
    const bool answered = timing_.Time(ExtensionPoint::kScore, score.name, [&] {
      return score.plugin->ScoreList(state_, pod, cluster_.columns(), class_nodes_, raw) &&
             reach_.score_classes[position]->NormalizeClasses(state_, pod, class_nodes_, raw, points);
    });
    if (!answered) return false;
    for (size_t i = 0; i < count; ++i) class_points_[i] += static_cast<int32_t>(score.weight) * points[i];
  }
  return true;
}

RunnerUp Lane::SecondByClass(const Choice& choice) const {
  std::vector<int32_t> points(ClassTotals::kNoClass + 1, Peaks::kNone);  // by class
  for (size_t i = 0; i < class_ids_.size(); ++i) points[class_ids_[i]] = class_points_[i];
  RunnerUp second;
  for (NodeIndex node = 0; node < slots_.size(); ++node) {
    const int32_t beside = points[classes_.class_of(node)];
    if (beside == Peaks::kNone || node == choice.node->index()) continue;
    second.Consider(cluster_.table().row(node), base_[node] + beside);
  }
  return second;
}

}  // namespace berth::engine
