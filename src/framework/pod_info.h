// PodInfo: a pod as plugins see it: its name and its shape, and the decoded object behind it. Made when the pod is
// seen; immutable and shared.
//
// A pod that waits for a node keeps its decoded object. A placed pod is packed: other pods' decisions read its labels,
// requests, ports, terms and volumes, and hardly ever the object, which is then decoded again from what was kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/pod.h"
#include "api/pod_packing.h"
#include "base/symbol.h"
#include "framework/pod_shape.h"
#include "framework/resource.h"

namespace berth::framework {

using PodInfoPtr = std::shared_ptr<const PodInfo>;
class PodShapes;

class PodInfo {
 public:
  // Never fails; see PodShape::Of.
  static PodInfoPtr Make(std::shared_ptr<const api::Pod> pod, const PodRequestOptions& options);
  // The same pod in a few hundred bytes; the object is not kept.
  static PodInfoPtr Pack(const api::Pod& pod, const PodRequestOptions& options, PodShapes& shapes);

  PodInfo(const PodInfo&) = delete;
  PodInfo& operator=(const PodInfo&) = delete;
  ~PodInfo() { delete unpacked_.load(std::memory_order_relaxed); }

  // The decoded object. A packed pod's is decoded on first use and then kept: to read many pods, use the accessors
  // below or shared_pod(). Safe from any thread.
  const api::Pod& pod() const { return pod_ ? *pod_ : Unpacked(); }
  // For a packed pod, decoded anew on every call.
  std::shared_ptr<const api::Pod> shared_pod() const;

  const std::string& name() const { return identity_.name; }
  const Symbol& namespace_() const { return namespace_symbol_; }
  const std::string& uid() const { return identity_.uid; }
  const api::Labels& labels() const { return *labels_; }
  int32_t priority() const { return shape_->priority; }
  std::string Key() const;
  // status.startTime
  const std::optional<api::Time>& start_time() const { return identity_.start_time; }
  // Has a deletion timestamp.
  bool is_terminating() const { return shape_->terminating; }
  // For a packed pod, only those that scheduling reads.
  const std::vector<api::Volume>& volumes() const { return pod_ ? pod_->spec.volumes : shape_->volumes; }

  const std::vector<AffinityTerm>& required_affinity_terms() const { return terms().required_affinity; }
  const std::vector<AffinityTerm>& required_anti_affinity_terms() const { return terms().required_anti_affinity; }
  const std::vector<WeightedAffinityTerm>& preferred_affinity_terms() const { return terms().preferred_affinity; }
  const std::vector<WeightedAffinityTerm>& preferred_anti_affinity_terms() const {
    return terms().preferred_anti_affinity;
  }
  // Any pod affinity or anti-affinity at all.
  bool has_affinity_terms() const;
  // Empty when every selector compiled.
  const std::string& parse_error() const { return terms().parse_error; }

  // What the pod occupies on a node.
  const Resource& requests() const { return shape_->requests; }
  // cpu and memory with the defaults for containers that ask for nothing; used by scoring only.
  int64_t non_zero_milli_cpu() const { return shape_->non_zero_milli_cpu; }
  int64_t non_zero_memory() const { return shape_->non_zero_memory; }
  // Host ports of containers and sidecars.
  const std::vector<HostPort>& host_ports() const { return shape_->host_ports; }

 private:
  struct Private {};

 public:
  // Use Make or Pack.
  PodInfo(Private, const api::Pod& pod, std::shared_ptr<const PodShape> shape, std::shared_ptr<const api::Pod> kept);

 private:
  static const AffinityTerms kNoTerms;

  const AffinityTerms& terms() const { return shape_->terms ? *shape_->terms : kNoTerms; }
  const api::Pod& Unpacked() const;

  api::PodIdentity identity_;
  Symbol namespace_symbol_;
  std::shared_ptr<const PodShape> shape_;
  std::shared_ptr<const api::Pod> pod_;  // null when packed
  const api::Labels* labels_;            // of pod_, or of shape_
  // The decoded object of a packed pod, once pod() was called.
  mutable std::atomic<const api::Pod*> unpacked_ = nullptr;
};

}  // namespace berth::framework
