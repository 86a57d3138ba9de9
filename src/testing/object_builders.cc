#include "testing/object_builders.h"

#include <utility>

namespace berth::testing {
namespace {

api::ObjectMeta Metadata(std::string_view name_space, std::string_view name) {
  api::ObjectMeta metadata;
  metadata.name = name;
  metadata.namespace_ = Symbol(name_space);
  metadata.uid = api::KeyOf(metadata);
  return metadata;
}

}  // namespace

api::PersistentVolume MakePv(std::string_view name, const PvOptions& options) {
  api::PersistentVolume volume;
  volume.metadata = Metadata("", name);
  volume.spec.storage_class_name = options.storage_class;
  volume.spec.capacity.Set(Symbol("storage"), Amount(options.capacity));
  volume.spec.access_modes = options.access_modes;
  volume.status.phase = "Available";
  if (!options.claim_name.empty()) {
    api::ObjectReference& claim = volume.spec.claim_ref.emplace();
    claim.kind = "PersistentVolumeClaim";
    claim.namespace_ = Symbol(options.claim_namespace);
    claim.name = options.claim_name;
    claim.uid = Metadata(options.claim_namespace, options.claim_name).uid;
    volume.status.phase = "Bound";
  }
  if (!options.node_label.empty()) {
    api::NodeSelectorTerm term;
    term.match_expressions.push_back({Symbol(options.node_label), "In", SymbolsOf(options.node_label_values)});
    volume.spec.node_affinity.emplace().required.emplace().node_selector_terms.push_back(std::move(term));
  }
  if (!options.csi_driver.empty()) {
    api::CSIPersistentVolumeSource& csi = volume.spec.source.csi.emplace();
    csi.driver = options.csi_driver;
    csi.volume_handle = name;
  }
  return volume;
}

api::PersistentVolumeClaim MakePvc(std::string_view name, const PvcOptions& options) {
  api::PersistentVolumeClaim claim;
  claim.metadata = Metadata(options.name_space, name);
  claim.spec.storage_class_name = options.storage_class;
  claim.spec.resources.requests.Set(Symbol("storage"), Amount(options.request));
  claim.spec.access_modes = options.access_modes;
  claim.status.phase = "Pending";
  if (!options.volume_name.empty()) {
    claim.spec.volume_name = options.volume_name;
    claim.metadata.annotations.Set("pv.kubernetes.io/bind-completed", "yes");
    claim.status.phase = "Bound";
  }
  return claim;
}

api::StorageClass MakeStorageClass(std::string_view name, std::string_view binding_mode, std::string_view provisioner) {
  api::StorageClass storage_class;
  storage_class.metadata = Metadata("", name);
  storage_class.volume_binding_mode = std::string(binding_mode);
  storage_class.provisioner = provisioner;
  return storage_class;
}

api::CSINode MakeCsiNode(std::string_view node_name, std::string_view driver, std::optional<int32_t> limit) {
  api::CSINode node;
  node.metadata = Metadata("", node_name);
  api::CSINodeDriver& added = node.spec.drivers.emplace_back();
  added.name = driver;
  added.node_id = node_name;
  if (limit) added.allocatable.emplace().count = limit;
  return node;
}

api::Service MakeService(std::string_view name, LabelPairs selector, std::string_view name_space) {
  api::Service service;
  service.metadata = Metadata(name_space, name);
  service.spec.selector = LabelsOf(selector);
  return service;
}

api::PodDisruptionBudget MakePdb(std::string_view name, LabelPairs selector, int32_t disruptions_allowed,
                                 std::string_view name_space) {
  api::PodDisruptionBudget budget;
  budget.metadata = Metadata(name_space, name);
  budget.spec.selector = SelectorOf(selector);
  budget.status.disruptions_allowed = disruptions_allowed;
  return budget;
}

api::Namespace MakeNamespace(std::string_view name, LabelPairs labels) {
  api::Namespace name_space;
  name_space.metadata = Metadata("", name);
  name_space.metadata.labels = LabelsOf(labels);
  return name_space;
}

}  // namespace berth::testing
