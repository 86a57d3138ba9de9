#include "framework/plugin.h"

namespace berth::framework {

void FilterPlugin::FilterList(const CycleState& state, const PodInfo& pod, const NodeColumns& columns,
                              std::span<const NodeIndex> nodes, std::span<uint8_t> verdicts) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!FilterRange(state, pod, columns, nodes[i], verdicts.subspan(i, 1))) verdicts[i] = kAskFilter;
  }
}

bool ScorePlugin::ScoreList(const CycleState& state, const PodInfo& pod, const NodeColumns& columns,
                            std::span<const NodeIndex> nodes, std::span<int64_t> scores) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!ScoreRange(state, pod, columns, nodes[i], scores.subspan(i, 1))) return false;
  }
  return true;
}

}  // namespace berth::framework
