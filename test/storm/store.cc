#include "storm/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storm/process.h"

namespace berth::storm {

const api::Object* Store::FindObject(api::Kind kind, const std::string& key) const {
  const Objects& all = objects(kind);
  const auto found = all.find(key);
  return found != all.end() ? &found->second : nullptr;
}

void Store::Stamp(api::ObjectMeta& metadata) {
  metadata.resource_version = std::to_string(revision_ + 1);
  if (metadata.uid.empty()) metadata.uid = fmt::format("uid-{}", ++last_uid_);
  if (!metadata.creation_timestamp) {
    metadata.creation_timestamp = base::Time(std::chrono::floor<std::chrono::seconds>(kEpoch + timeline_.Now()));
  }
}

const api::Object& Store::Record(api::Object object) {
  OfKind& kind = kinds_[Index(object.kind())];
  ++revision_;
  times_.emplace_back(timeline_.Now(), revision_);
  const auto [place, is_new] = kind.objects.try_emplace(api::KeyOf(object.metadata()), object);
  Change change{is_new ? Change::Type::kAdded : Change::Type::kModified, revision_, timeline_.Now(), object};
  if (!is_new) change.before = std::exchange(place->second, std::move(object));
  kind.history.push_back(change);
  const api::Object& now = place->second;
  Tell(change);
  return now;
}

void Store::RecordEnd(api::Object object) {
  OfKind& kind = kinds_[Index(object.kind())];
  ++revision_;
  times_.emplace_back(timeline_.Now(), revision_);
  const auto found = kind.objects.find(api::KeyOf(object.metadata()));
  const Change change{Change::Type::kDeleted, revision_, timeline_.Now(), std::move(object), found->second};
  kind.objects.erase(found);
  kind.history.push_back(change);
  Tell(change);
}

void Store::Tell(const Change& change) {
  for (const auto& observer : observers_) observer(change);
}

void Apply(const Change& change, Store::Objects& objects) {
  const std::string key = api::KeyOf(change.object.metadata());
  if (change.type == Change::Type::kDeleted) {
    objects.erase(key);
  } else {
    objects.insert_or_assign(key, change.object);
  }
}

Store::Objects Store::ObjectsAt(api::Kind kind, uint64_t revision) const {
  if (revision >= revision_) return objects(kind);
  Objects then;
  for (const Change& change : history(kind)) {
    if (change.revision > revision) break;
    Apply(change, then);
  }
  return then;
}

uint64_t Store::RevisionAt(base::Duration time) const {
  const auto later = std::upper_bound(times_.begin(), times_.end(), std::pair(time, UINT64_MAX));
  return later != times_.begin() ? std::prev(later)->second : 100;
}

}  // namespace berth::storm
