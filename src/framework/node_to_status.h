// NodeToStatus: why each node was rejected. Feasible nodes are not in it; nodes that PreFilter ruled out are absent and
// share one status.
//
// By node index, and one status for all the nodes it was said of: a pod that fits none of a hundred thousand nodes is
// told why in a handful of groups, not in as many strings. Valid until the cluster's nodes change.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "framework/node_info.h"
#include "framework/status.h"

namespace berth::framework {

class NodeToStatus {
 public:
  // A status and the number of nodes that have it. Two groups may read the same.
  struct Group {
    Status status;
    size_t nodes = 0;
  };
  using GroupId = uint32_t;
  static constexpr GroupId kAbsent = 0;

  NodeToStatus() : absent_(Code::kUnschedulableAndUnresolvable, {}) {}

  void Set(NodeIndex node, Status status) {
    // Whoever hands out one Status object many times mostly does so in a row.
    if (groups_.empty() || !groups_.back().status.IsSameObject(status)) groups_.push_back({std::move(status), 0});
    Join(node, static_cast<GroupId>(groups_.size()));
  }
  // All at once: by node index the position in `groups` plus one, or kAbsent.
  void Assign(std::vector<GroupId> group_of, std::vector<Group> groups) {
    group_of_ = std::move(group_of);
    groups_ = std::move(groups);
  }

  const Status& Get(NodeIndex node) const { return IsExplicit(node) ? groups_[group_of_[node] - 1].status : absent_; }
  bool IsExplicit(NodeIndex node) const { return node < group_of_.size() && group_of_[node] != kAbsent; }
  GroupId group(NodeIndex node) const { return node < group_of_.size() ? group_of_[node] : kAbsent; }
  size_t explicit_count() const {
    size_t count = 0;
    for (const Group& group : groups_) count += group.nodes;
    return count;
  }
  std::span<const Group> groups() const { return groups_; }

  void SetAbsent(Status status) { absent_ = std::move(status); }
  const Status& absent() const { return absent_; }

 private:
  void Join(NodeIndex node, GroupId group) {
    if (node >= group_of_.size()) group_of_.resize(node + 1, kAbsent);
    if (group_of_[node] != kAbsent) --groups_[group_of_[node] - 1].nodes;
    group_of_[node] = group;
    ++groups_[group - 1].nodes;
  }

  std::vector<GroupId> group_of_;  // by node index
  std::vector<Group> groups_;
  Status absent_;
};

}  // namespace berth::framework
