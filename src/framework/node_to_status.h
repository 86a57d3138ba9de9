// NodeToStatus: why each node was rejected. Feasible nodes are not in it; nodes that PreFilter ruled out are absent and
// share one status.
//
// Indexed by node, with one Status shared by all the nodes it applies to: a pod that fits none of a hundred thousand
// nodes needs a handful of groups, not as many strings. Valid until the cluster's nodes change.
#pragma once

#include <cstdint>
#include <memory>
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
    // The same Status object usually arrives many times in a row.
    if (groups_.empty() || !groups_.back().status.IsSameObject(status)) groups_.push_back({std::move(status), 0});
    Join(node, static_cast<GroupId>(groups_.size()));
  }
  // Sets all nodes at once: `group_of` holds by node index the position in `groups` plus one, or kAbsent.
  void Assign(std::vector<GroupId> group_of, std::vector<Group> groups) {
    shared_.reset();
    moved_.clear();
    group_of_ = std::move(group_of);
    groups_ = std::move(groups);
  }
  // The same without a copy: the vector must not change while it is shared.
  void Assign(std::shared_ptr<const std::vector<uint8_t>> group_of, std::vector<Group> groups) {
    group_of_.clear();
    moved_.clear();
    shared_ = std::move(group_of);
    groups_ = std::move(groups);
  }

  const Status& Get(NodeIndex node) const { return IsExplicit(node) ? groups_[group(node) - 1].status : absent_; }
  bool IsExplicit(NodeIndex node) const { return group(node) != kAbsent; }
  GroupId group(NodeIndex node) const {
    for (const auto& [moved, to] : moved_) {
      if (moved == node) return to;
    }
    if (shared_) return node < shared_->size() ? (*shared_)[node] : kAbsent;
    return node < group_of_.size() ? group_of_[node] : kAbsent;
  }
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
    if (shared_) return JoinShared(node, group);
    if (node >= group_of_.size()) group_of_.resize(node + 1, kAbsent);
    if (group_of_[node] != kAbsent) --groups_[group_of_[node] - 1].nodes;
    group_of_[node] = group;
    ++groups_[group - 1].nodes;
  }

  // A few nodes that change group are remembered beside the shared vector; for many it is copied.
  void JoinShared(NodeIndex node, GroupId to) {
    const GroupId from = group(node);
    if (from != kAbsent) --groups_[from - 1].nodes;
    ++groups_[to - 1].nodes;
    std::erase_if(moved_, [node](const auto& moved) { return moved.first == node; });
    moved_.emplace_back(node, to);
    if (moved_.size() <= kMostMoved) return;
    group_of_.assign(shared_->begin(), shared_->end());
    shared_.reset();
    for (const auto& [moved, group] : moved_) {
      if (moved >= group_of_.size()) group_of_.resize(moved + 1, kAbsent);
      group_of_[moved] = group;
    }
    moved_.clear();
  }

  static constexpr size_t kMostMoved = 8;

  std::vector<GroupId> group_of_;                       // by node index
  std::shared_ptr<const std::vector<uint8_t>> shared_;  // replaces group_of_ when set
  std::vector<std::pair<NodeIndex, GroupId>> moved_;    // nodes for which shared_ is out of date
  std::vector<Group> groups_;
  Status absent_;
};

}  // namespace berth::framework
