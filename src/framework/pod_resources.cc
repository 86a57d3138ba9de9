#include "framework/pod_resources.h"

namespace berth::framework {
namespace {

void AddTo(api::ResourceList& sum, const api::ResourceList& more) {
  for (const auto& [name, amount] : more) sum[name].Add(amount);
}

void RaiseTo(api::ResourceList& list, const api::ResourceList& floor) {
  for (const auto& [name, amount] : floor) {
    const api::Quantity* present = list.Find(name);
    if (!present || *present < amount) list.Set(name, amount);
  }
}

bool IsResizeInfeasible(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodResizePending") return condition.reason == "Infeasible";
  }
  return false;
}

// Reads what each container of one pod requests, including resize status and defaults.
class ContainerRequests {
 public:
  ContainerRequests(const api::Pod& pod, const PodRequestOptions& options)
      : pod_(pod), options_(options), resize_infeasible_(options.use_status_resources && IsResizeInfeasible(pod)) {}

  // The returned list is the container's own or `scratch`.
  const api::ResourceList& Of(const api::Container& container, bool can_be_resized, api::ResourceList& scratch) const {
    const api::ResourceList* requests = &container.resources.requests;
    if (options_.use_status_resources && can_be_resized) {
      const api::ContainerStatus* status = FindStatus(container.name);
      if (status && status->resources) {
        scratch = DuringResize(*requests, status->resources->requests, status->allocated_resources);
        requests = &scratch;
      }
    }
    for (const auto& [name, amount] : options_.missing_container_requests) {
      if (requests->Contains(name)) continue;
      if (requests != &scratch) scratch = *requests;
      requests = &scratch;
      scratch.Set(name, amount);
    }
    return *requests;
  }

  // The node must hold the largest of what is desired, allocated and actuated, until the three agree. A resize that can
  // never be granted counts for nothing.
  api::ResourceList DuringResize(const api::ResourceList& wanted, const api::ResourceList& actuated,
                                 const api::ResourceList& allocated) const {
    api::ResourceList largest = actuated;
    RaiseTo(largest, allocated);
    if (!resize_infeasible_) RaiseTo(largest, wanted);
    return largest;
  }

 private:
  const api::ContainerStatus* FindStatus(const std::string& name) const {
    for (const auto* statuses : {&pod_.status.init_container_statuses, &pod_.status.container_statuses}) {
      for (const api::ContainerStatus& status : *statuses) {
        if (status.name == name) return &status;
      }
    }
    return nullptr;
  }

  const api::Pod& pod_;
  const PodRequestOptions& options_;
  const bool resize_infeasible_;
};

// Containers and sidecars run together; before them, each init container runs beside the sidecars listed before it. The
// pod needs the larger of the two.
// `amounts_of(container, can_be_resized, scratch)` gives what one container counts for.
template <class AmountsOf>
api::ResourceList SumOfContainers(const api::Pod& pod, const AmountsOf& amounts_of) {
  api::ResourceList scratch;
  api::ResourceList running;
  for (const api::Container& container : pod.spec.containers) {
    AddTo(running, amounts_of(container, /*can_be_resized=*/true, scratch));
  }
  if (pod.spec.init_containers.empty()) return running;

  api::ResourceList sidecars;
  api::ResourceList initializing;
  for (const api::Container& container : pod.spec.init_containers) {
    const bool sidecar = IsRestartableInit(container);
    const api::ResourceList& amounts = amounts_of(container, /*can_be_resized=*/sidecar, scratch);
    if (sidecar) {
      AddTo(running, amounts);
      AddTo(sidecars, amounts);
      RaiseTo(initializing, sidecars);
    } else {
      api::ResourceList together = sidecars;
      AddTo(together, amounts);
      RaiseTo(initializing, together);
    }
  }
  RaiseTo(running, initializing);
  return running;
}

// Pod-level amounts replace what the containers add up to.
void ApplyPodLevelRequests(const api::Pod& pod, const PodRequestOptions& options, const ContainerRequests& requests_of,
                           api::ResourceList& requests) {
  const api::ResourceList& wanted = pod.spec.resources->requests;
  const bool resizing = options.in_place_pod_level_resize && options.use_status_resources && pod.status.resources;
  api::ResourceList effective = wanted;
  if (resizing) {
    effective = requests_of.DuringResize(wanted, pod.status.resources->requests, pod.status.allocated_resources);
  }
  for (const auto& [name, amount] : wanted) {
    if (!IsSupportedPodLevelResource(name.str())) continue;
    const api::Quantity* found = effective.Find(name);
    requests.Set(name, found ? *found : api::Quantity());
  }
}

}  // namespace

bool IsRestartableInit(const api::Container& container) { return container.restart_policy == "Always"; }

bool IsSupportedPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

bool HasPodLevelRequests(const api::Pod& pod) {
  if (!pod.spec.resources) return false;
  for (const auto& [name, amount] : pod.spec.resources->requests) {
    if (IsSupportedPodLevelResource(name.str())) return true;
  }
  return false;
}

api::ResourceList PodRequests(const api::Pod& pod, const PodRequestOptions& options) {
  const ContainerRequests requests_of(pod, options);
  api::ResourceList requests = SumOfContainers(pod,
                                               [&](const api::Container& container, bool can_be_resized,
                                                   api::ResourceList& scratch) -> const api::ResourceList& {
                                                 return requests_of.Of(container, can_be_resized, scratch);
                                               });
  if (options.use_node_allocatable_claims) {
    for (const auto& claim : pod.status.node_allocatable_resource_claim_statuses) AddTo(requests, claim.resources);
  }
  if (!options.skip_pod_level_resources && HasPodLevelRequests(pod)) {
    ApplyPodLevelRequests(pod, options, requests_of, requests);
  }
  AddTo(requests, pod.spec.overhead);
  return requests;
}

api::ResourceList PodLimits(const api::Pod& pod) {
  api::ResourceList limits =
      SumOfContainers(pod, [](const api::Container& container, bool, api::ResourceList&) -> const api::ResourceList& {
        return container.resources.limits;
      });
  if (pod.spec.resources) {
    for (const auto& [name, amount] : pod.spec.resources->limits) {
      if (IsSupportedPodLevelResource(name.str())) limits.Set(name, amount);
    }
  }
  // A resource without a limit stays without one.
  for (const auto& [name, amount] : pod.spec.overhead) {
    const api::Quantity* limit = limits.Find(name);
    if (limit && !limit->IsZero()) limits[name].Add(amount);
  }
  return limits;
}

PodRequestOptions RunningPodOptions(const config::FeatureGates& gates) {
  PodRequestOptions options;
  options.use_status_resources = gates.Enabled("InPlacePodVerticalScaling");
  options.skip_pod_level_resources = !gates.Enabled("PodLevelResources");
  options.in_place_pod_level_resize = gates.Enabled("InPlacePodLevelResourcesVerticalScaling");
  return options;
}

}  // namespace berth::framework
