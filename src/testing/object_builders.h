// Objects other than pods and nodes, each from the few fields tests care about; change the result for the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/policy.h"
#include "api/storage.h"
#include "api/workload.h"
#include "testing/texts.h"

namespace berth::testing {

struct PvOptions {
  std::string storage_class;
  std::string capacity = "1Gi";
  std::vector<std::string> access_modes = {"ReadWriteOnce"};
  // The claim it is bound to: namespace and name, both or neither.
  std::string claim_namespace;
  std::string claim_name;
  // Required node affinity: a node label and its values; none if the key is empty.
  std::string node_label;
  std::vector<std::string> node_label_values;
  // The volume comes from this CSI driver, with the PV's name as its handle; "" for a volume without a source.
  std::string csi_driver;
};
// Available, or Bound if it has a claim.
api::PersistentVolume MakePv(std::string_view name, const PvOptions& options = {});

struct PvcOptions {
  std::string name_space = "default";
  std::optional<std::string> storage_class;
  std::string request = "1Gi";
  std::vector<std::string> access_modes = {"ReadWriteOnce"};
  // The volume it is bound to, completely: with the annotation that says the binding is complete.
  std::string volume_name;
};
api::PersistentVolumeClaim MakePvc(std::string_view name, const PvcOptions& options = {});

// Binding mode: Immediate or WaitForFirstConsumer. The provisioner "kubernetes.io/no-provisioner" creates no volumes.
api::StorageClass MakeStorageClass(std::string_view name, std::string_view binding_mode = "Immediate",
                                   std::string_view provisioner = "test.csi.io");

// A node with one CSI driver that allows up to `limit` volumes; unset for no limit.
api::CSINode MakeCsiNode(std::string_view node_name, std::string_view driver, std::optional<int32_t> limit = {});

api::Service MakeService(std::string_view name, LabelPairs selector, std::string_view name_space = "default");

api::PodDisruptionBudget MakePdb(std::string_view name, LabelPairs selector, int32_t disruptions_allowed,
                                 std::string_view name_space = "default");

api::Namespace MakeNamespace(std::string_view name, LabelPairs labels = {});

}  // namespace berth::testing
