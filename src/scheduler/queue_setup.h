// What a queue needs from a scheduler and its configuration.
#pragma once

#include <map>
#include <string>

#include "config/types.h"
#include "queue/scheduling_queue.h"
#include "scheduler/scheduler.h"

namespace berth::scheduler {

// By scheduler name. The scheduler must outlive them.
std::map<std::string, queue::ProfileHooks> QueueHooks(const Scheduler& scheduler);

queue::SchedulingQueue::Options QueueOptions(const config::KubeSchedulerConfiguration& configuration);

}  // namespace berth::scheduler
