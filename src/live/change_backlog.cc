#include "live/change_backlog.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace berth::live {

using client::ObjectChange;

namespace {

// What is known about one object's unread changes.
struct History {
  bool is_new = false;  // the reader has not seen it
  std::optional<size_t> deleted{};
  size_t newest = 0;
};

std::string IdentityOf(const api::ObjectMeta& metadata) {
  return metadata.uid.empty() ? api::KeyOf(metadata) : metadata.uid;
}

void DropObsolete(std::vector<ObjectChange>& changes) {
  std::unordered_map<std::string, History> histories;
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto [it, first] = histories.try_emplace(IdentityOf(changes[i].object.metadata()));
    if (first) it->second.is_new = changes[i].type == ObjectChange::Type::kAdded;
    if (changes[i].type == ObjectChange::Type::kDeleted) it->second.deleted = i;
    it->second.newest = i;
  }
  std::vector<ObjectChange> kept;
  for (size_t i = 0; i < changes.size(); ++i) {
    const History& history = histories.at(IdentityOf(changes[i].object.metadata()));
    const bool is_deletion = history.deleted == i;
    // An object that was created and deleted since then is dropped altogether.
    if (is_deletion ? history.is_new : history.newest != i) continue;
    kept.push_back(std::move(changes[i]));
    if (!is_deletion && (history.is_new || history.deleted)) kept.back().type = ObjectChange::Type::kAdded;
  }
  changes = std::move(kept);
}

}  // namespace

bool ChangeBacklog::Add(api::Kind kind, std::vector<ObjectChange> changes, bool is_whole) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_[kind];
  std::vector<ObjectChange>& unread = line.unread.changes;
  if (unread.empty()) {
    unread = std::move(changes);
  } else {
    std::move(changes.begin(), changes.end(), std::back_inserter(unread));
  }
  line.unread.is_whole |= is_whole;
  // Only when there are twice as many as remained last time, so that the cost per change stays small.
  if (unread.size() >= std::max(few_, line.compact_at)) {
    DropObsolete(unread);
    line.compact_at = 2 * unread.size();
  }
  return !std::exchange(line.is_waiting, true);
}

ChangeBacklog::Unread ChangeBacklog::Take(api::Kind kind) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_[kind];
  line.is_waiting = false;
  line.compact_at = 0;
  return std::exchange(line.unread, {});
}

}  // namespace berth::live
