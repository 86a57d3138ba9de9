// The extension points about nodes: over ranges and lists of the cluster's columns, and for single rows.
#include <algorithm>
#include <limits>

#include "plugin_library/adapter_run.h"

namespace berth::plugin_library {

using framework::CycleState;
using framework::DependsOn;
using framework::NodeColumns;
using framework::NodeIndex;
using framework::NodeInfo;
using framework::Normalization;
using framework::PodInfo;
using framework::Status;

namespace {

DependsOn DependsOnOf(uint32_t what) {
  switch (what) {
    case BERTH_ON_NODE:
      return DependsOn::kNode;
    case BERTH_ON_NODE_AND_PODS:
      return DependsOn::kNodeAndPods;
    case BERTH_ON_ALL_NODES:
      return DependsOn::kAllNodes;
    default:
      return DependsOn::kAnything;
  }
}

// The highest score allowed before normalizing.
int64_t HighestScore(Normalization rule) {
  if (rule == Normalization::kNone) return framework::kMaxNodeScore;
  return std::numeric_limits<int64_t>::max() / framework::kMaxNodeScore;  // the rules multiply
}

}  // namespace

framework::PreFilterResult Adapter::PreFilter(CycleState& state, const PodInfo& pod) const {
  CallFrame frame(pod);
  frame.handle = &instance_->handle();
  framework::PreFilterResult result =
      Run("PreFilter", kRejections | kSkip, frame, [&] { return table().pre_filter(instance_->self(), frame.call()); });
  auto data = std::make_unique<CycleData>();
  data->pre_filter = TakeOver(frame.new_pre_filter_data);
  state.Put(data_, std::move(data));
  if (result.status.ok()) result.node_names = std::move(frame.kept_nodes);
  return result;
}

DependsOn Adapter::filter_depends_on() const { return DependsOnOf(table().filter_depends_on); }
DependsOn Adapter::score_depends_on() const { return DependsOnOf(table().score_depends_on); }

Status Adapter::RunFilter(const CycleState& state, const PodInfo& pod, const NodeBatch& nodes,
                          std::span<uint8_t> verdicts) const {
  CallFrame frame(pod);
  ShowData(state, frame);
  std::fill(verdicts.begin(), verdicts.end(), uint8_t{0});
  return Run("Filter", 0, frame,
             [&] { return table().filter(instance_->self(), frame.call(), nodes.view(), verdicts.data()); });
}

Status Adapter::Filter(const CycleState& state, const PodInfo& pod, const NodeInfo& node) const {
  const NodeInfo* const row = &node;
  const NodeBatch batch(instance_->handle().cluster(), {&row, 1});
  uint8_t verdict = 0;
  if (Status status = RunFilter(state, pod, batch, {&verdict, 1}); !status.ok()) return status;
  if (verdict == 0) return Status::Success();
  const std::vector<Status>& reasons = instance_->reasons();
  if (verdict <= reasons.size()) return reasons[verdict - 1];
  return Trouble("Filter", fmt::format("gave verdict {} for node {}, but has named {} reason(s)", verdict, node.name(),
                                       reasons.size()));
}

bool Adapter::FilterBatch(const CycleState& state, const PodInfo& pod, const NodeBatch& nodes,
                          std::span<uint8_t> verdicts) const {
  if (!RunFilter(state, pod, nodes, verdicts).ok()) return false;
  const auto known = static_cast<uint8_t>(instance_->reasons().size());
  for (uint8_t& verdict : verdicts) verdict = verdict > known ? kAskFilter : verdict;
  return true;
}

bool Adapter::FilterRange(const CycleState& state, const PodInfo& pod, const NodeColumns& columns, NodeIndex begin,
                          std::span<uint8_t> verdicts) const {
  const NodeBatch batch(instance_->handle().cluster(), columns, begin, verdicts.size());
  return FilterBatch(state, pod, batch, verdicts);
}

void Adapter::FilterList(const CycleState& state, const PodInfo& pod, const NodeColumns& columns,
                         std::span<const NodeIndex> nodes, std::span<uint8_t> verdicts) const {
  const NodeBatch batch(instance_->handle().cluster(), columns, nodes);
  if (!FilterBatch(state, pod, batch, verdicts)) std::fill(verdicts.begin(), verdicts.end(), kAskFilter);
}

Status Adapter::PreScore(CycleState& state, const PodInfo& pod, std::span<const NodeInfo* const> feasible) const {
  CallFrame frame(pod);
  ShowData(state, frame);
  frame.call()->pre_score_data = nullptr;  // belongs to another set of nodes
  const NodeBatch batch(instance_->handle().cluster(), feasible);
  Status status =
      Run("PreScore", kSkip, frame, [&] { return table().pre_score(instance_->self(), frame.call(), batch.view()); });
  auto data = std::make_unique<CycleData>();
  if (const CycleData* before = state.Find(data_)) data->pre_filter = before->pre_filter;
  data->pre_score = TakeOver(frame.new_pre_score_data);
  state.Put(data_, std::move(data));
  return status;
}

Status Adapter::RunScore(const CycleState& state, const PodInfo& pod, const NodeBatch& nodes,
                         std::span<int64_t> scores) const {
  CallFrame frame(pod);
  ShowData(state, frame);
  std::fill(scores.begin(), scores.end(), int64_t{0});
  return Run("Score", 0, frame,
             [&] { return table().score(instance_->self(), frame.call(), nodes.view(), scores.data()); });
}

framework::ScoreResult Adapter::Score(const CycleState& state, const PodInfo& pod, const NodeInfo& node) const {
  const NodeInfo* const row = &node;
  const NodeBatch batch(instance_->handle().cluster(), {&row, 1});
  int64_t score = 0;
  if (Status status = RunScore(state, pod, batch, {&score, 1}); !status.ok()) return status;
  const int64_t highest = HighestScore(normalization());
  if (normalization() != Normalization::kOwn && (score < 0 || score > highest)) {
    return Trouble("Score", fmt::format("gave {} for node {}, expected 0 to {}", score, node.name(), highest));
  }
  return score;
}

bool Adapter::ScoreBatch(const CycleState& state, const PodInfo& pod, const NodeBatch& nodes,
                         std::span<int64_t> scores) const {
  if (!RunScore(state, pod, nodes, scores).ok()) return false;
  // Infeasible nodes are scored too, and may have any score. If a feasible one is out of range, -1 tells the engine as
  // well as any number would, and cannot overflow.
  const int64_t highest = HighestScore(normalization());
  for (int64_t& score : scores) score = score < 0 || score > highest ? -1 : score;
  return true;
}

bool Adapter::ScoreRange(const CycleState& state, const PodInfo& pod, const NodeColumns& columns, NodeIndex begin,
                         std::span<int64_t> scores) const {
  const NodeBatch batch(instance_->handle().cluster(), columns, begin, scores.size());
  return ScoreBatch(state, pod, batch, scores);
}

bool Adapter::ScoreList(const CycleState& state, const PodInfo& pod, const NodeColumns& columns,
                        std::span<const NodeIndex> nodes, std::span<int64_t> scores) const {
  const NodeBatch batch(instance_->handle().cluster(), columns, nodes);
  return ScoreBatch(state, pod, batch, scores);
}

Normalization Adapter::normalization() const {
  switch (table().normalization) {
    case BERTH_NORMALIZE_BY_MAXIMUM:
      return Normalization::kByMaximum;
    case BERTH_NORMALIZE_BY_MAXIMUM_REVERSED:
      return Normalization::kByMaximumReversed;
    case BERTH_NORMALIZE_OWN:
      return Normalization::kOwn;
    default:
      return Normalization::kNone;
  }
}

Status Adapter::NormalizeScore(const CycleState& state, const PodInfo& pod,
                               std::span<framework::NodeScore> scores) const {
  if (normalization() != Normalization::kOwn) return ScorePlugin::NormalizeScore(state, pod, scores);
  std::vector<const NodeInfo*> rows;
  std::vector<int64_t> values;
  for (const framework::NodeScore& score : scores) {
    rows.push_back(score.node);
    values.push_back(score.score);
  }
  CallFrame frame(pod);
  ShowData(state, frame);
  const NodeBatch batch(instance_->handle().cluster(), rows);
  const Status status = Run("Normalize", 0, frame, [&] {
    return table().normalize(instance_->self(), frame.call(), batch.view(), values.data());
  });
  if (!status.ok()) return status;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < framework::kMinNodeScore || values[i] > framework::kMaxNodeScore) {
      return Trouble("Normalize", fmt::format("gave {} for node {}, expected 0 to {}", values[i], rows[i]->name(),
                                              framework::kMaxNodeScore));
    }
    scores[i].score = values[i];
  }
  return Status::Success();
}

}  // namespace berth::plugin_library
