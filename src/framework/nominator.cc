#include "framework/nominator.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::framework {

void Nominator::Nominate(PodInfoPtr pod, std::string_view node_name) {
  // `node_name` may refer to the string that removing the earlier nomination frees.
  std::string node(node_name);
  Erase(pod->uid(), NodeOf(pod->uid()) != node);
  if (node.empty()) return;
  ForgetEnded(pod->uid(), node);
  NoteChange(node);
  node_by_uid_[pod->uid()] = node;
  pods_by_node_[std::move(node)].push_back(std::move(pod));
}

void Nominator::Remove(std::string_view uid) { Erase(uid, true); }

void Nominator::Erase(std::string_view uid, bool ends) {
  const auto nomination = node_by_uid_.find(std::string(uid));
  if (nomination == node_by_uid_.end()) return;
  const auto node = pods_by_node_.find(nomination->second);
  const auto pod =
      std::ranges::find_if(node->second, [&](const PodInfoPtr& p) { return p->uid() == nomination->first; });
  if (ends && remembers_ended_) {
    ForgetEnded(uid, node->first);
    ended_.push_back({*pod, node->first});
  }
  // The order is kept: filters see nominated pods in the order in which they were nominated.
  node->second.erase(pod);
  NoteChange(node->first);
  if (node->second.empty()) pods_by_node_.erase(node);
  node_by_uid_.erase(nomination);
}

std::vector<Nominator::Ended> Nominator::TakeEnded() {
  const auto is_nominated = [this](const Ended& ended) { return node_by_uid_.contains(ended.pod->uid()); };
  const auto taken = std::stable_partition(ended_.begin(), ended_.end(), is_nominated);
  std::vector<Ended> result(std::make_move_iterator(taken), std::make_move_iterator(ended_.end()));
  ended_.erase(taken, ended_.end());
  return result;
}

void Nominator::ForgetEnded(std::string_view uid, std::string_view node_name) {
  std::erase_if(ended_, [&](const Ended& ended) { return ended.pod->uid() == uid && ended.node_name == node_name; });
}

void Nominator::NoteChange(const std::string& node_name) {
  if (changed_.size() < kRemembered) {
    changed_.push_back(node_name);
  } else {
    changed_[changes_ % kRemembered] = node_name;
  }
  ++changes_;
}

bool Nominator::ListChangedNodes(uint64_t since, std::vector<std::string_view>& names) const {
  if (changes_ - since > kRemembered) return false;
  for (; since < changes_; ++since) names.push_back(changed_[since % kRemembered]);
  return true;
}

const std::vector<PodInfoPtr>& Nominator::NominatedTo(const std::string& node_name) const {
  static const std::vector<PodInfoPtr> kNone;
  const auto it = pods_by_node_.find(node_name);
  return it == pods_by_node_.end() ? kNone : it->second;
}

const std::string& Nominator::NodeOf(const std::string& uid) const {
  static const std::string kNowhere;
  const auto it = node_by_uid_.find(uid);
  return it == node_by_uid_.end() ? kNowhere : it->second;
}

std::vector<std::string_view> Nominator::NodesHeldFrom(int32_t priority, const std::string& uid) const {
  std::vector<std::string_view> held;
  for (const auto& [node, pods] : pods_by_node_) {
    const bool is_held = std::any_of(pods.begin(), pods.end(), [&](const PodInfoPtr& pod) {
      return pod->priority() >= priority && pod->uid() != uid;
    });
    if (is_held) held.push_back(node);
  }
  return held;
}

}  // namespace berth::framework
