#include "framework/waiting_pods.h"

#include <algorithm>
#include <utility>

#include "api/time.h"

namespace berth::framework {

void WaitingPods::Add(PodInfoPtr pod, const std::map<std::string, base::Duration>& waits, base::Time now,
                      base::Ticket attempt) {
  Waiting waiting{pod, now, {}, attempt};
  for (const auto& [plugin, timeout] : waits) waiting.deadlines[plugin] = now + timeout;
  waiting_[pod->uid()] = std::move(waiting);
}

void WaitingPods::Allow(const std::string& uid, const std::string& plugin) {
  const auto it = waiting_.find(uid);
  if (it == waiting_.end()) return;
  it->second.deadlines.erase(plugin);
  if (it->second.deadlines.empty()) Release(uid);
}

void WaitingPods::Release(const std::string& uid) {
  const auto it = waiting_.find(uid);
  if (it == waiting_.end()) return;
  decided_.push_back({std::move(it->second.pod), Status::Success(), it->second.since});
  waiting_.erase(it);
}

void WaitingPods::Reject(const std::string& uid, const std::string& plugin, std::string message) {
  const auto it = waiting_.find(uid);
  if (it == waiting_.end()) return;
  decided_.push_back(
      {std::move(it->second.pod), Status::Unschedulable(std::move(message)).WithPlugin(plugin), it->second.since});
  waiting_.erase(it);
}

bool WaitingPods::Waits(const std::string& uid, base::Ticket attempt) const {
  const auto it = waiting_.find(uid);
  return it != waiting_.end() && (attempt == base::Ticket::kNone || attempt == it->second.attempt);
}

std::vector<PodInfoPtr> WaitingPods::pods() const {
  std::vector<PodInfoPtr> pods;
  for (const auto& [uid, waiting] : waiting_) pods.push_back(waiting.pod);
  return pods;
}

std::vector<WaitingPods::Decision> WaitingPods::TakeDecided(base::Time now) {
  struct Late {
    std::string uid;
    std::string plugin;
    base::Duration waited;
  };
  std::vector<Late> all_late;
  for (const auto& [uid, waiting] : waiting_) {
    for (const auto& [plugin, deadline] : waiting.deadlines) {
      if (deadline > now) continue;
      all_late.push_back({uid, plugin, deadline - waiting.since});
      break;
    }
  }
  for (const Late& late : all_late) {
    Reject(late.uid, late.plugin,
           "rejected due to timeout after waiting " + api::FormatDuration(late.waited) + " at plugin " + late.plugin);
  }
  return std::exchange(decided_, {});
}

base::Time WaitingPods::NextTimeout() const {
  base::Time next = base::Time::max();
  for (const auto& [uid, waiting] : waiting_) {
    for (const auto& [plugin, deadline] : waiting.deadlines) next = std::min(next, deadline);
  }
  return next;
}

}  // namespace berth::framework
