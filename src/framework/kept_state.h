// KeepsState: for plugins that keep something from one cycle to the next that the cluster view does not show: what
// Reserve promised and the API server has not reported yet. A recording can begin only when no plugin holds such state,
// because it could not be recorded.
#pragma once

namespace berth::framework {

class KeepsState {
 public:
  virtual ~KeepsState() = default;
  // Whether a newly made plugin would give the same answers. On the scheduling thread, between cycles.
  virtual bool IsAtRest() const = 0;
};

}  // namespace berth::framework
