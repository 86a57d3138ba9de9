// For tests: the order of kube-scheduler's PrioritySort, without the plugin.
#pragma once

#include "framework/plugin.h"

namespace berth::testing {

class ByPriorityThenTime final : public framework::QueueSortPlugin {
 public:
  bool Less(const framework::QueuedPodView& a, const framework::QueuedPodView& b) const override {
    if (a.pod.priority() != b.pod.priority()) return a.pod.priority() > b.pod.priority();
    return a.added < b.added;
  }
};

}  // namespace berth::testing
