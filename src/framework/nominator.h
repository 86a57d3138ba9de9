// Nominator: pods that preemption promised a node. Filters count them there (two-pass) until they are bound.
// Not thread-safe; owned by the scheduling thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/pod_info.h"

namespace berth::framework {

class Nominator {
 public:
  // Replaces an earlier nomination of the same pod (by UID). An empty node name removes it.
  void Nominate(PodInfoPtr pod, std::string_view node_name);
  void Remove(std::string_view uid);
  const std::vector<PodInfoPtr>& NominatedTo(const std::string& node_name) const;
  // "" when the pod is nominated nowhere.
  const std::string& NodeOf(const std::string& uid) const;
  // The nodes promised to pods other than `uid` of at least that priority, which must not be pushed aside.
  std::vector<std::string_view> NodesHeldFrom(int32_t priority, const std::string& uid) const;
  bool empty() const { return node_by_uid_.empty(); }
  size_t size() const { return node_by_uid_.size(); }

 private:
  std::unordered_map<std::string, std::vector<PodInfoPtr>> pods_by_node_;
  std::unordered_map<std::string, std::string> node_by_uid_;
};

}  // namespace berth::framework
