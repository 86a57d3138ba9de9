// Something that happened in the cluster, with the objects it is about.
#pragma once

#include <memory>

#include "framework/events.h"

namespace berth::queue {

struct HappenedEvent {
  framework::ClusterEvent event;
  framework::EventObject before;
  framework::EventObject after;
  // Keep the objects alive for as long as somebody may ask.
  std::shared_ptr<const void> before_owner;
  std::shared_ptr<const void> after_owner;
};

}  // namespace berth::queue
