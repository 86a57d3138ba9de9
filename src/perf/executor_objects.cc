// The operations that create nodes, namespaces, pods and other objects.
#include <fmt/format.h>

#include "perf/executor.h"
#include "perf/stage_counter.h"

namespace berth::perf {

namespace {

// Upstream creates pods with this many concurrent clients.
constexpr size_t kCreators = 30;

void SetQuantity(api::ResourceList& list, std::string_view name, std::string_view amount) {
  list.Set(Symbol(name), *api::Quantity::Parse(amount));
}

// What upstream creates if no template is given.
api::Pod BasePod() {
  api::Pod pod;
  pod.metadata.generate_name = "pod-";
  api::Container& container = pod.spec.containers.emplace_back();
  container.name = "pause";
  container.image = "registry.k8s.io/pause:3.10.1";
  container.ports.emplace_back().container_port = 80;
  for (api::ResourceList* list : {&container.resources.limits, &container.resources.requests}) {
    SetQuantity(*list, "cpu", "100m");
    SetQuantity(*list, "memory", "500Mi");
  }
  return pod;
}

api::Node BaseNode(std::string name_prefix) {
  api::Node node;
  node.metadata.generate_name = std::move(name_prefix);
  for (api::ResourceList* list : {&node.status.capacity, &node.status.allocatable}) {
    SetQuantity(*list, "pods", "110");
    SetQuantity(*list, "cpu", "4");
    SetQuantity(*list, "memory", "32Gi");
  }
  node.status.conditions = {{"Ready", "True"}};
  return node;
}

}  // namespace

std::string Executor::NamespaceOf(const Operation& operation) const {
  return operation.name_space.value_or(fmt::format("namespace-{}", current_));
}

Result<void> Executor::EnsureNamespace(const std::string& name) {
  pods_wanted_.emplace(name, 0);
  if (cluster_.HasNamespace(name)) return {};
  api::Namespace name_space;
  name_space.metadata.name = name;
  Result<api::Object> admitted = cluster_.Admit(api::MakeObject(std::move(name_space)), "");
  if (!admitted) return admitted.error();
  return cluster_.Create(*admitted);
}

Result<void> Executor::CreateNamespaces(const Operation& operation) {
  for (int64_t i = 0; i < operation.count.value_or(0); ++i) {
    api::Namespace name_space;
    if (operation.namespace_template_path) {
      Result<api::Namespace> made =
          templates_.Make<api::Namespace>(suite_.PathOf(*operation.namespace_template_path), i, *operation.count);
      if (!made) return made.error();
      name_space = std::move(*made);
    }
    name_space.metadata.name = fmt::format("{}-{}", operation.prefix, i);
    const std::string name = name_space.metadata.name;
    Result<api::Object> admitted = cluster_.Admit(api::MakeObject(std::move(name_space)), "");
    if (!admitted) return admitted.error();
    if (!cluster_.HasNamespace(name)) (void)cluster_.Create(*admitted);
    pods_wanted_.emplace(name, 0);
  }
  return {};
}

Result<void> Executor::CreateNodes(const Operation& operation) {
  for (int64_t i = 0; i < operation.count.value_or(0); ++i) {
    Result<api::Node> node = PrepareNode(operation, i);
    if (!node) return node.error();
    Result<api::Object> admitted = cluster_.Admit(api::MakeObject(std::move(*node)), "");
    if (!admitted) return admitted.error();
    // What depends on the name, or on what admission filled in.
    api::Node named = *admitted->As<api::Node>();
    named.metadata.labels.Set(Symbol("kubernetes.io/hostname"), Symbol(named.metadata.name));
    if (operation.unique_node_label_strategy) {
      named.metadata.labels.Set(Symbol(operation.unique_node_label_strategy->label_key), Symbol(named.metadata.uid));
    }
    if (operation.node_allocatable_strategy) {
      for (const auto& [name, amount] : operation.node_allocatable_strategy->node_allocatable) {
        Result<api::Quantity> quantity = api::Quantity::Parse(amount);
        if (!quantity) return quantity.error();
        named.status.allocatable.Set(Symbol(name), *quantity);
      }
      if (Result<void> added = AddCsiNode(*operation.node_allocatable_strategy, named.metadata.name); !added)
        return added;
    }
    if (Result<void> created = cluster_.Create(api::MakeObject(std::move(named))); !created) return created;
  }
  return {};
}

Result<api::Node> Executor::PrepareNode(const Operation& operation, int64_t index) {
  api::Node node = BaseNode(fmt::format("node-{}-", current_));
  if (operation.node_template_path) {
    Result<api::Node> made =
        templates_.Make<api::Node>(suite_.PathOf(*operation.node_template_path), index, *operation.count);
    if (!made) return made.error();
    node = std::move(*made);
  }
  if (operation.label_node_prepare_strategy) {
    const LabelNodePrepareStrategy& strategy = *operation.label_node_prepare_strategy;
    const size_t turn = static_cast<size_t>(index) % strategy.label_values.size();
    node.metadata.labels.Set(Symbol(strategy.label_key), Symbol(strategy.label_values[turn]));
  }
  return node;
}

Result<void> Executor::AddCsiNode(const NodeAllocatableStrategy& strategy, const std::string& node_name) {
  api::CSINode csi_node;
  csi_node.metadata.name = node_name;
  csi_node.metadata.annotations.Set("storage.alpha.kubernetes.io/migrated-plugins",
                                    fmt::format("{}", fmt::join(strategy.migrated_plugins, ",")));
  for (const auto& [driver, allocatable] : strategy.csi_node_allocatable) {
    csi_node.spec.drivers.push_back({driver, node_name, {}, allocatable});
  }
  Result<api::Object> admitted = cluster_.Admit(api::MakeObject(std::move(csi_node)), "");
  if (!admitted) return admitted.error();
  return cluster_.Create(*admitted);
}

Result<void> Executor::CreatePods(const Operation& operation) {
  const std::string name_space = NamespaceOf(operation);
  const int64_t count = operation.count.value_or(0);
  if (Result<void> made = EnsureNamespace(name_space); !made) return made;
  std::vector<api::Object> objects;
  if (!operation.steady_state) {
    // Reading templates is not the scheduler's work, so it is done before anything is measured.
    Result<std::vector<api::Object>> prepared = PreparePods(operation, name_space);
    if (!prepared) return prepared.error();
    objects = std::move(*prepared);
  }
  if (operation.collect_metrics) {
    if (Result<void> started = StartCollecting(name_space, {name_space}, {}); !started) return started;
  }
  // Counted as they are scheduled: a pod that is deleted or preempted later still counts.
  const StageCounter counter(cluster_, PodFilter({name_space}, {}), PodStage::kScheduled);
  Result<void> ran = operation.steady_state ? CreateSteadily(operation, name_space) : HandOver(objects);
  if (!ran) return ran;
  if (operation.skip_wait_to_completion) {
    pods_wanted_[name_space] += count;
  } else if (!operation.steady_state) {
    Result<void> waited = RunUntil([&] { return counter.arrivals() >= count; },
                                   [&] {
                                     return fmt::format("for {} pods of namespace {} to be scheduled; {} are{}", count,
                                                        name_space, counter.arrivals(), counter.FirstMissing());
                                   });
    if (!waited) return waited;
  }
  return operation.collect_metrics ? StopCollecting() : Result<void>();
}

Result<std::vector<api::Object>> Executor::PreparePods(const Operation& operation, const std::string& name_space) {
  const std::optional<std::string>& path =
      operation.pod_template_path ? operation.pod_template_path : test_case_.default_pod_template_path;
  const int64_t count = operation.count.value_or(0);
  std::vector<api::Object> objects;
  for (int64_t i = 0; i < count; ++i) {
    api::Pod pod = BasePod();
    if (path) {
      Result<api::Pod> made = templates_.Make<api::Pod>(suite_.PathOf(*path), i, count);
      if (!made) return made.error();
      pod = std::move(*made);
    }
    if (operation.persistent_volume_claim_template_path) {
      if (Result<void> added = AddVolume(operation, name_space, i, pod, objects); !added) return added.error();
    }
    Result<api::Object> admitted = cluster_.Admit(api::MakeObject(std::move(pod)), name_space);
    if (!admitted) return admitted.error();
    objects.push_back(std::move(*admitted));
  }
  return objects;
}

// A claim and a volume that are already bound to each other, and the pod's only volume.
Result<void> Executor::AddVolume(const Operation& operation, const std::string& name_space, int64_t index,
                                 api::Pod& pod, std::vector<api::Object>& objects) {
  if (!operation.persistent_volume_template_path) {
    return Error::InvalidArgument("persistentVolumeClaimTemplatePath needs persistentVolumeTemplatePath as well");
  }
  Result<api::PersistentVolume> volume = templates_.Make<api::PersistentVolume>(
      suite_.PathOf(*operation.persistent_volume_template_path), index, *operation.count);
  if (!volume) return volume.error();
  Result<api::PersistentVolumeClaim> claim = templates_.Make<api::PersistentVolumeClaim>(
      suite_.PathOf(*operation.persistent_volume_claim_template_path), index, *operation.count);
  if (!claim) return claim.error();
  claim->metadata.name = fmt::format("pvc-{}", index);
  volume->metadata.name = fmt::format("{}-vol-{}", name_space, index);
  if (volume->spec.source.csi) volume->spec.source.csi->volume_handle = volume->metadata.name;
  if (volume->spec.source.aws_elastic_block_store)
    volume->spec.source.aws_elastic_block_store->volume_id = fmt::format("vol-{}", index);
  api::ObjectReference& reference = volume->spec.claim_ref.emplace();
  reference.kind = "PersistentVolumeClaim";
  reference.api_version = "v1";
  reference.namespace_ = Symbol(name_space);
  reference.name = claim->metadata.name;
  volume->status.phase = "Bound";
  claim->spec.volume_name = volume->metadata.name;
  claim->status.phase = "Bound";

  pod.spec.volumes.clear();
  auto source = std::make_shared<api::VolumeSource>();
  source->persistent_volume_claim.emplace().claim_name = claim->metadata.name;
  pod.spec.volumes.push_back({"vol", std::move(source)});
  for (const api::Object& object : {api::MakeObject(std::move(*claim)), api::MakeObject(std::move(*volume))}) {
    Result<api::Object> admitted = cluster_.Admit(object, name_space);
    if (!admitted) return admitted.error();
    objects.push_back(std::move(*admitted));
  }
  return {};
}

Result<void> Executor::HandOver(const std::vector<api::Object>& objects) {
  size_t pods = 0;
  for (const api::Object& object : objects) {
    if (Result<void> created = cluster_.Create(object); !created) return created;
    if (object.kind() != api::Kind::kPod || ++pods % kCreators != 0) continue;
    Result<void> on_time =
        LookAround([&] { return fmt::format("to create {} objects; {} pods are", objects.size(), pods); });
    if (!on_time) return on_time;
    for (size_t i = 0; i < kCreators && cluster_.Step(); ++i) {
    }
  }
  return {};
}

// All pods of a batch are scheduled, deleted and created again until the time is over.
Result<void> Executor::CreateSteadily(const Operation& operation, const std::string& name_space) {
  const int64_t count = operation.count.value_or(0);
  const std::shared_ptr<bool> over = StartTicker(operation.duration.value, [] { return false; });
  int64_t scheduled = 0;
  while (!*over && count > 0) {
    Result<std::vector<api::Object>> objects = PreparePods(operation, name_space);
    if (!objects) return objects.error();
    const StageCounter counter(cluster_, PodFilter({name_space}, {}), PodStage::kScheduled);
    if (Result<void> handed = HandOver(*objects); !handed) return handed;
    Result<void> waited = RunUntil([&] { return *over || counter.count() >= count; },
                                   [&] { return fmt::format("for {} pods to be scheduled", count); });
    if (!waited) return waited;
    scheduled += counter.count();
    for (const InMemoryCluster::PodRecord* record :
         *over ? std::vector<const InMemoryCluster::PodRecord*>() : cluster_.Pods()) {
      if (record->pod->metadata.namespace_ != name_space) continue;
      (void)cluster_.Delete(api::Kind::kPod, name_space, std::string(record->pod->metadata.name), /*at_once=*/true);
    }
    if (Result<void> fired = FireTickers(); !fired) return fired;
  }
  if (scheduled == 0) {
    return Error::InvalidArgument(
        "no pod at all got scheduled, either because of a problem or because the time was too short");
  }
  return {};
}

Result<api::Object> Executor::MakeAny(const std::string& path, const std::optional<std::string>& name_space,
                                      int64_t index, int64_t count) {
  Result<api::Object> made = templates_.MakeAny(suite_.PathOf(path), index, count);
  if (!made) return made.error();
  const std::string in = name_space.value_or("");
  if (made->info().namespaced == in.empty()) {
    return Error::InvalidArgument(fmt::format(
        "{}: {}", suite_.PathOf(path),
        in.empty() ? fmt::format("a {} needs a namespace", made->info().name)
                   : fmt::format("a {} belongs to no namespace, but \"{}\" is given", made->info().name, in)));
  }
  return cluster_.Admit(*made, in);
}

Result<void> Executor::CreateAny(const Operation& operation) {
  const int64_t count = operation.count.value_or(1);
  if (operation.name_space && !operation.name_space->empty()) {
    if (Result<void> made = EnsureNamespace(*operation.name_space); !made) return made;
  }
  for (int64_t i = 0; i < count; ++i) {
    Result<api::Object> object = MakeAny(operation.template_path, operation.name_space, i, count);
    if (!object) return object.error();
    if (Result<void> created = cluster_.Create(*object); !created) return created;
  }
  return {};
}

}  // namespace berth::perf
