#include "scheduler/queue_setup.h"

namespace berth::scheduler {

std::map<std::string, queue::ProfileHooks> QueueHooks(const Scheduler& scheduler) {
  std::map<std::string, queue::ProfileHooks> hooks;
  for (const engine::Profile* profile : scheduler.profiles()) {
    hooks[profile->scheduler_name()] = {
        [profile](const framework::PodInfo& pod) { return profile->RunPreEnqueue(pod); }, profile->EventsToRegister()};
  }
  return hooks;
}

queue::SchedulingQueue::Options QueueOptions(const config::KubeSchedulerConfiguration& configuration) {
  queue::SchedulingQueue::Options options;
  options.initial_backoff = std::chrono::seconds(configuration.pod_initial_backoff_seconds);
  options.max_backoff = std::chrono::seconds(configuration.pod_max_backoff_seconds);
  return options;
}

}  // namespace berth::scheduler
