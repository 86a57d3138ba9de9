#include "plugins/node_resources/incoming_pod.h"

#include "plugins/signature_text.h"

namespace berth::plugins {

bool ReportsResources(const api::Pod& pod) {
  return !pod.status.container_statuses.empty() || !pod.status.init_container_statuses.empty() ||
         pod.status.resources || !pod.status.allocated_resources.empty() ||
         !pod.status.node_allocatable_resource_claim_statuses.empty();
}

framework::PodRequestOptions IncomingPodOptions(const config::FeatureGates& gates) {
  framework::PodRequestOptions options;
  options.skip_pod_level_resources = !gates.Enabled("PodLevelResources");
  return options;
}

framework::Resource IncomingPodRequest(const framework::PodInfo& pod, const framework::PodRequestOptions& options) {
  if (!ReportsResources(pod.pod())) return pod.requests();
  return framework::Resource::From(framework::PodRequests(pod.pod(), options));
}

void AppendResource(std::string& text, const framework::Resource& resource) {
  AppendField(text, resource.milli_cpu);
  AppendField(text, resource.memory);
  AppendField(text, resource.ephemeral_storage);
  for (const auto& [name, amount] : resource.scalar) {
    AppendField(text, name.str());
    AppendField(text, amount);
  }
}

}  // namespace berth::plugins
