// Nominator: pods that preemption has nominated to a node. Filters count them there (two-pass) until they are bound.
// Not thread-safe; owned by the scheduling thread.
#pragma once

#include <cstdint>
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
  const std::unordered_map<std::string, std::vector<PodInfoPtr>>& by_node() const { return pods_by_node_; }
  // "" when the pod is nominated nowhere.
  const std::string& NodeOf(const std::string& uid) const;
  // The nodes nominated to pods other than `uid` of at least that priority, which the pod must not displace.
  std::vector<std::string_view> NodesHeldFrom(int32_t priority, const std::string& uid) const;
  // change_count: how often the nominations to any node have changed. ListChangedNodes: the nodes whose nominations
  // changed since the count was `since`, perhaps more than once each. False when that is too long ago.
  uint64_t change_count() const { return changes_; }
  bool ListChangedNodes(uint64_t since, std::vector<std::string_view>& names) const;
  // From now on, remembers the nominations that end, until they are taken or forgotten.
  void RememberEnded() { remembers_ended_ = true; }
  struct Ended {
    PodInfoPtr pod;
    std::string node_name;
  };
  // The ended nominations of pods that have no nomination any more. A pod that preempts repeatedly would otherwise
  // requeue another one that does the same, without end: its earlier nominations are reported when the last one ends.
  std::vector<Ended> TakeEnded();
  void ForgetEnded(std::string_view uid, std::string_view node_name);
  bool remembers_any() const { return !ended_.empty(); }
  bool empty() const { return node_by_uid_.empty(); }
  size_t size() const { return node_by_uid_.size(); }

 private:
  void Erase(std::string_view uid, bool ends);
  void NoteChange(const std::string& node_name);

  std::unordered_map<std::string, std::vector<PodInfoPtr>> pods_by_node_;
  std::unordered_map<std::string, std::string> node_by_uid_;
  static constexpr size_t kRemembered = 256;
  std::vector<std::string> changed_;  // the latest of them, at the change's number modulo kRemembered
  uint64_t changes_ = 0;
  bool remembers_ended_ = false;
  std::vector<Ended> ended_;
};

}  // namespace berth::framework
