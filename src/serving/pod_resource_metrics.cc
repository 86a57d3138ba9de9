#include "serving/pod_resource_metrics.h"

#include <array>
#include <string_view>

#include "metrics/exposition.h"

namespace berth::serving {
namespace {

constexpr char kRequest[] = "kube_pod_resource_request";
constexpr char kLimit[] = "kube_pod_resource_limit";
constexpr char kRequestHelp[] =
    "Resources requested by workloads on the cluster, broken down by pod. This shows the resource usage the scheduler "
    "and kubelet expect per pod for resources along with the unit for the resource if any.";
constexpr char kLimitHelp[] =
    "Resources limit for workloads on the cluster, broken down by pod. This shows the resource usage the scheduler and "
    "kubelet expect per pod for resources along with the unit for the resource if any.";

std::string_view UnitOf(std::string_view resource) {
  if (resource == "cpu") return "cores";
  if (resource == "memory" || resource == "storage" || resource == "ephemeral-storage") return "bytes";
  if (resource.starts_with("hugepages-")) return "bytes";
  if (resource.starts_with("attachable-volumes-")) return "integer";
  return "";
}

void AddSamples(std::string& out, const char* name, const api::Pod& pod, const api::ResourceList& amounts) {
  metrics::ExpositionWriter writer(out);
  const std::string priority = pod.spec.priority ? std::to_string(*pod.spec.priority) : "";
  for (const auto& [resource, amount] : amounts) {
    if (amount.IsZero()) continue;
    const std::array<metrics::Label, 7> labels = {{{"namespace", pod.metadata.namespace_.str()},
                                                   {"node", pod.spec.node_name},
                                                   {"pod", pod.metadata.name},
                                                   {"priority", priority},
                                                   {"resource", resource.str()},
                                                   {"scheduler", pod.spec.scheduler_name},
                                                   {"unit", UnitOf(resource.str())}}};
    writer.Sample(name, labels, amount.AsDouble());
  }
}

}  // namespace

void PodResourceWriter::Add(const api::Pod& pod, const api::ResourceList& requests, const api::ResourceList& limits) {
  if (!pod.spec.node_name.empty() && api::IsTerminated(pod)) return;
  AddSamples(requests_, kRequest, pod, requests);
  AddSamples(limits_, kLimit, pod, limits);
}

std::string PodResourceWriter::Finish() const {
  std::string out;
  metrics::ExpositionWriter writer(out);
  if (!limits_.empty()) {
    writer.Header(kLimit, kLimitHelp, metrics::MetricType::kGauge, metrics::Stability::kStable);
    out += limits_;
  }
  if (!requests_.empty()) {
    writer.Header(kRequest, kRequestHelp, metrics::MetricType::kGauge, metrics::Stability::kStable);
    out += requests_;
  }
  return out;
}

}  // namespace berth::serving
