// What VolumeBinding and VolumeZone report about a node: the claims that tie the pod to other nodes.
#pragma once

#include <vector>

#include "framework/explanation.h"
#include "framework/handle.h"

namespace berth::plugins {

class ClaimExplainer final : public framework::RejectionExplainer {
 public:
  // Both must outlive it.
  ClaimExplainer(const framework::Handle& handle, const framework::PodInfo& pod) : handle_(handle), pod_(pod) {}

  std::vector<framework::Finding> Findings(const framework::Status& status,
                                           const framework::NodeInfo& node) const override;
  // Claims and classes that do not exist, and similar names that do.
  std::vector<std::string> Hints() const override;

 private:
  void HintAtClass(const api::PersistentVolumeClaim& claim, std::vector<std::string>& hints) const;

  const framework::Handle& handle_;
  const framework::PodInfo& pod_;
};

}  // namespace berth::plugins
