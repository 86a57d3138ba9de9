#include "client/known_objects.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace berth::client {
namespace {

using Type = ObjectChange::Type;

bool IsDecimal(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

const std::string& VersionOf(const api::Object& object) { return object.metadata().resource_version; }

}  // namespace

VersionOrder CompareVersions(std::string_view a, std::string_view b) {
  if (a == b) return VersionOrder::kSame;
  if (!IsDecimal(a) || !IsDecimal(b)) return VersionOrder::kUnknown;
  if (a.size() != b.size()) return a.size() < b.size() ? VersionOrder::kOlder : VersionOrder::kNewer;
  return a < b ? VersionOrder::kOlder : VersionOrder::kNewer;
}

size_t KnownObjects::Hash::operator()(const api::Object& object) const {
  const api::ObjectMeta& metadata = object.metadata();
  return std::hash<std::string_view>{}(metadata.name) ^ (metadata.namespace_.hash() * 0x9e3779b97f4a7c15u);
}

bool KnownObjects::SameKey::operator()(const api::Object& a, const api::Object& b) const {
  return a.metadata().namespace_ == b.metadata().namespace_ && a.metadata().name == b.metadata().name;
}

void KnownObjects::Put(api::Object object) {
  objects_.erase(object);
  objects_.insert(std::move(object));
}

KnownObjects::Verdict KnownObjects::Apply(WatchEvent::Type type, api::Object object, std::string_view stream_version,
                                          std::vector<ObjectChange>& changes) {
  const auto known = objects_.find(object);
  const bool gone = type == WatchEvent::Type::kDeleted;
  if (known == objects_.end()) {
    if (gone) return Verdict::kStale;
    // It may be an object that has been deleted since: it must not come back.
    const VersionOrder order = CompareVersions(VersionOf(object), stream_version);
    if (order == VersionOrder::kOlder || order == VersionOrder::kSame) return Verdict::kUnclear;
    objects_.insert(object);
    changes.push_back({Type::kAdded, std::move(object)});
    return Verdict::kApplied;
  }
  const VersionOrder order = CompareVersions(VersionOf(object), VersionOf(*known));
  if (order == VersionOrder::kOlder) return Verdict::kStale;
  if (gone) {
    objects_.erase(known);
    changes.push_back({Type::kDeleted, std::move(object)});
    return Verdict::kApplied;
  }
  if (order == VersionOrder::kSame) return Verdict::kStale;
  const bool replaced = known->metadata().uid != object.metadata().uid;
  if (replaced) changes.push_back({Type::kDeleted, *known});
  Put(object);
  changes.push_back({replaced ? Type::kAdded : Type::kModified, std::move(object)});
  return Verdict::kApplied;
}

void KnownObjects::Collect(WatchEvent::Type type, api::Object object) {
  const auto known = objects_.find(object);
  if (known != objects_.end() && CompareVersions(VersionOf(object), VersionOf(*known)) == VersionOrder::kOlder) return;
  if (type == WatchEvent::Type::kDeleted) {
    objects_.erase(object);
  } else {
    Put(std::move(object));
  }
}

std::vector<api::Object> KnownObjects::Sorted() const {
  std::vector<api::Object> sorted(objects_.begin(), objects_.end());
  std::sort(sorted.begin(), sorted.end(), [](const api::Object& a, const api::Object& b) {
    return std::tie(a.metadata().namespace_, a.metadata().name) < std::tie(b.metadata().namespace_, b.metadata().name);
  });
  return sorted;
}

void KnownObjects::Replace(KnownObjects objects, std::vector<ObjectChange>& changes) {
  if (!objects_.empty()) {
    for (api::Object& old : Sorted()) {
      const auto found = objects.objects_.find(old);
      if (found != objects.objects_.end() && found->metadata().uid == old.metadata().uid) continue;
      changes.push_back({Type::kDeleted, std::move(old)});
    }
  }
  for (api::Object& object : objects.Sorted()) {
    const auto known = objects_.find(object);
    if (known == objects_.end() || known->metadata().uid != object.metadata().uid) {
      changes.push_back({Type::kAdded, std::move(object)});
    } else if (VersionOf(*known) != VersionOf(object)) {
      changes.push_back({Type::kModified, std::move(object)});
    }
  }
  objects_ = std::move(objects.objects_);
}

}  // namespace berth::client
