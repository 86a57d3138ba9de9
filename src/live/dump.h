// Looks at a running scheduler from outside. Each asks the scheduling thread, which answers between two cycles.
#pragma once

#include <memory>
#include <vector>

#include "live/live_scheduler.h"
#include "serving/pod_resource_metrics.h"

namespace berth::live {

// Nodes, nominations and the queue go to the log. For messages.
void DumpToLog(const SchedulingLoop& loop);

// Every pod the scheduler knows, once. For messages.
std::vector<framework::PodInfoPtr> KnownPods(const scheduler::Driver& driver);

// The same with their resources, for /metrics/resources. Waits for the answer, a bounded time.
void WritePodResources(LiveScheduler& scheduler, serving::PodResourceWriter& writer);

}  // namespace berth::live
