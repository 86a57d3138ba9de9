#include "live/dump.h"

#include <future>

#include "base/log.h"
#include "framework/pod_resources.h"

namespace berth::live {

namespace {

// A page that takes longer than this is not worth waiting for.
constexpr base::Duration kPatience = std::chrono::seconds(10);

std::string_view NameOf(queue::PodState place) {
  switch (place) {
    case queue::PodState::kActive:
      return "active";
    case queue::PodState::kBackoff:
    case queue::PodState::kErrorBackoff:
      return "backoff";
    case queue::PodState::kUnschedulable:
      return "unschedulable";
    case queue::PodState::kInFlight:
      return "inFlight";
    case queue::PodState::kBinding:
      return "binding";
  }
  return "";
}

void LogNodes(const cluster::Cluster& cluster) {
  LOG_INFO(0, "Dump of cached NodeInfo", {"nodes", cluster.nodes().size()}, {"pods", cluster.pod_count()});
  for (const framework::NodeInfo* node : cluster.nodes()) {
    LOG_INFO(0, "Node", {"node", node->name()}, {"pods", node->pods().size()},
             {"requestedMilliCPU", node->requested().milli_cpu}, {"allocatableMilliCPU", node->allocatable().milli_cpu},
             {"requestedMemory", node->requested().memory}, {"allocatableMemory", node->allocatable().memory},
             {"allowedPods", node->allocatable().allowed_pod_number});
    for (const framework::PodInfoPtr& pod : node->pods()) {
      LOG_INFO(0, "Pod on node", {"node", node->name()}, {"pod", pod->Key()}, {"uid", pod->uid()},
               {"assumed", cluster.IsAssumed(pod->uid())});
    }
    for (const framework::PodInfoPtr& pod : cluster.nominator().NominatedTo(node->name())) {
      LOG_INFO(0, "Pod nominated to node", {"node", node->name()}, {"pod", pod->Key()}, {"uid", pod->uid()});
    }
  }
}

void LogQueue(const queue::SchedulingQueue& queue) {
  const queue::SchedulingQueue::Counts counts = queue.counts();
  LOG_INFO(0, "Dump of scheduling queue", {"active", counts.active}, {"backoff", counts.backoff},
           {"unschedulable", counts.unschedulable}, {"gated", counts.gated}, {"inFlight", counts.in_flight});
  queue.ForEach([](const queue::QueuedPod& pod, queue::PodState place) {
    LOG_INFO(0, "Pod in queue", {"pod", pod.pod->Key()}, {"queue", NameOf(place)}, {"attempts", pod.attempts},
             {"gatingPlugin", pod.gating_plugin});
  });
}

}  // namespace

void DumpToLog(const SchedulingLoop& loop) {
  LogNodes(loop.driver().cluster());
  LogQueue(loop.driver().queue());
}

std::vector<framework::PodInfoPtr> KnownPods(const scheduler::Driver& driver) {
  std::vector<framework::PodInfoPtr> pods;
  for (const framework::NodeInfo* node : driver.cluster().nodes()) {
    pods.insert(pods.end(), node->pods().begin(), node->pods().end());
  }
  driver.queue().ForEach([&](const queue::QueuedPod& pod, queue::PodState) {
    // A pod that is being bound, or waits in Permit, is already assumed on a node.
    if (!driver.cluster().IsAssumed(pod.pod->uid())) pods.push_back(pod.pod);
  });
  return pods;
}

void WritePodResources(LiveScheduler& scheduler, serving::PodResourceWriter& writer) {
  using Pods = std::vector<framework::PodInfoPtr>;
  const auto promise = std::make_shared<std::promise<Pods>>();
  std::future<Pods> answer = promise->get_future();
  // Only pointers are copied on the scheduling thread.
  scheduler.loop().Post([&loop = scheduler.loop(), promise] { promise->set_value(KnownPods(loop.driver())); });
  if (answer.wait_for(kPatience) != std::future_status::ready) return;
  for (const framework::PodInfoPtr& info : answer.get()) {
    const std::shared_ptr<const api::Pod> pod = info->shared_pod();
    writer.Add(*pod, framework::PodRequests(*pod, {}), framework::PodLimits(*pod));
  }
}

}  // namespace berth::live
