// Inspects a running scheduler. Each of these asks the scheduling thread, which answers between two cycles.
#pragma once

#include <memory>
#include <vector>

#include "live/live_scheduler.h"
#include "serving/pod_resource_metrics.h"

namespace berth::live {

// Logs nodes, nominations and the queue. For messages.
void DumpToLog(const SchedulingLoop& loop);

// Every pod that the scheduler knows, once. For messages.
std::vector<framework::PodInfoPtr> KnownPods(const scheduler::Driver& driver);

// The same with their resources, for /metrics/resources. Waits for the answer for a bounded time.
void WritePodResources(LiveScheduler& scheduler, serving::PodResourceWriter& writer);

}  // namespace berth::live
