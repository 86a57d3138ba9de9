// KeepsState: for plugins that remember something from one cycle to the next that the picture of the cluster does not
// show: what Reserve promised and the API server has not reported yet. A recording can begin only where there is no
// such thing, because nobody but the plugin knows it.
#pragma once

namespace berth::framework {

class KeepsState {
 public:
  virtual ~KeepsState() = default;
  // Whether the plugin would answer the same if it were made anew. On the scheduling thread, between cycles.
  virtual bool IsAtRest() const = 0;
};

}  // namespace berth::framework
