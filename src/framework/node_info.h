// NodeInfo: a node, the pods on it, and their sums. The row form of a node; the hot numbers are repeated in
// NodeColumns, which the cluster layer keeps equal.
//
// Copyable on purpose: preemption and nominated-pod checks try changes on a copy. Plugins must read the NodeInfo they
// are given and never look the node up elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "base/flat_map.h"
#include "framework/pod_info.h"
#include "framework/resource.h"

namespace berth::framework {

// Dense position of a node in the columns. Stable while the node exists; reused afterwards.
using NodeIndex = uint32_t;

// Host ports in use on a node. "0.0.0.0" collides with every address.
class HostPorts {
 public:
  bool Conflicts(const HostPort& wanted) const;
  void Add(const HostPort& port);
  void Remove(const HostPort& port);
  bool empty() const { return ports_.empty(); }
  const std::vector<HostPort>& ports() const { return ports_; }

 private:
  std::vector<HostPort> ports_;
};

struct ImageState {
  int64_t size = 0;
  int32_t node_count = 0;  // nodes that have the image, in the whole cluster
};

class NodeInfo {
 public:
  explicit NodeInfo(std::shared_ptr<const api::Node> node, NodeIndex index = 0);

  const api::Node& node() const { return *node_; }
  const std::shared_ptr<const api::Node>& shared_node() const { return node_; }
  const std::string& name() const { return node_->metadata.name; }
  const api::Labels& labels() const { return node_->metadata.labels; }
  std::span<const api::Taint> taints() const { return node_->spec.taints; }
  NodeIndex index() const { return index_; }
  // Grows with every change to the node or its pods; never repeats within a process.
  uint64_t generation() const { return generation_; }

  const std::vector<PodInfoPtr>& pods() const { return pods_; }
  // Subsets of pods(), so that a node without such pods costs nothing.
  const std::vector<PodInfoPtr>& pods_with_affinity() const { return pods_with_affinity_; }
  const std::vector<PodInfoPtr>& pods_with_required_anti_affinity() const { return pods_with_required_anti_affinity_; }

  const Resource& allocatable() const { return allocatable_; }
  const Resource& requested() const { return requested_; }
  int64_t non_zero_milli_cpu() const { return non_zero_milli_cpu_; }
  int64_t non_zero_memory() const { return non_zero_memory_; }
  const HostPorts& used_ports() const { return used_ports_; }

  // By normalised image name; shared with the cluster's image table so that node counts are current. Null when the node
  // has no such image.
  const ImageState* FindImage(std::string_view normalized_name) const;

  void AddPod(PodInfoPtr pod);
  // By UID; false when no such pod is here.
  bool RemovePod(const PodInfo& pod);
  // Removes every pod for which `gone` is true. Much cheaper than one by one when many go; the others keep their order.
  template <class Predicate>
  void RemovePodsIf(Predicate gone);

  // Only for the owner of the cluster view.
  void SetNode(std::shared_ptr<const api::Node> node);
  void SetImages(std::vector<std::pair<Symbol, std::shared_ptr<const ImageState>>> images);

 private:
  void Bump();
  void SubtractPod(const PodInfo& pod);

  std::shared_ptr<const api::Node> node_;
  NodeIndex index_ = 0;
  uint64_t generation_ = 0;
  std::vector<PodInfoPtr> pods_;
  std::vector<PodInfoPtr> pods_with_affinity_;
  std::vector<PodInfoPtr> pods_with_required_anti_affinity_;
  Resource allocatable_;
  Resource requested_;
  int64_t non_zero_milli_cpu_ = 0;
  int64_t non_zero_memory_ = 0;
  HostPorts used_ports_;
  std::vector<std::pair<Symbol, std::shared_ptr<const ImageState>>> images_;  // sorted by name
};

template <class Predicate>
void NodeInfo::RemovePodsIf(Predicate gone) {
  const auto is_gone = [&](const PodInfoPtr& pod) { return gone(*pod); };
  std::erase_if(pods_with_affinity_, is_gone);
  std::erase_if(pods_with_required_anti_affinity_, is_gone);
  std::erase_if(pods_, [&](const PodInfoPtr& pod) {
    const bool goes = gone(*pod);
    if (goes) SubtractPod(*pod);
    return goes;
  });
  Bump();
}

}  // namespace berth::framework
