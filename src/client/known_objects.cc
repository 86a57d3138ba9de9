#include "client/known_objects.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "api/bare_object.h"

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

KnownObjects::Entry::Entry(const api::ObjectMeta& metadata)
    : namespace_(metadata.namespace_),
      name_size_(static_cast<uint32_t>(metadata.name.size())),
      uid_size_(static_cast<uint32_t>(metadata.uid.size())) {
  text_.reserve(metadata.name.size() + metadata.uid.size() + metadata.resource_version.size());
  text_.append(metadata.name).append(metadata.uid).append(metadata.resource_version);
}

size_t KnownObjects::Hash::operator()(const Key& key) const {
  return std::hash<std::string_view>{}(key.name) ^ (key.name_space.hash() * 0x9e3779b97f4a7c15u);
}

bool KnownObjects::ByKey::operator()(const api::Object& a, const api::Object& b) const {
  return std::tie(a.metadata().namespace_, a.metadata().name) < std::tie(b.metadata().namespace_, b.metadata().name);
}

void KnownObjects::Put(Entries& entries, const api::ObjectMeta& metadata) {
  Entry entry(metadata);
  entries.erase(KeyOf(entry));
  entries.insert(std::move(entry));
}

bool KnownObjects::IsReplaced(const Entry& known, std::string_view uid, std::string_view version) {
  return known.uid() != uid || CompareVersions(version, known.version()) == VersionOrder::kOlder;
}

ObjectChange KnownObjects::Deletion(const Entry& entry) const {
  api::ObjectMeta metadata;
  metadata.namespace_ = entry.name_space();
  metadata.name = entry.name();
  metadata.uid = entry.uid();
  metadata.resource_version = entry.version();
  return {Type::kDeleted, api::MakeBareObject(kind_, std::move(metadata))};
}

KnownObjects::Verdict KnownObjects::Apply(WatchEvent::Type type, api::Object object, std::string_view stream_version,
                                          std::vector<ObjectChange>& changes) {
  const auto known = known_.find(KeyOf(object));
  const bool gone = type == WatchEvent::Type::kDeleted;
  if (known == known_.end()) {
    if (gone) return Verdict::kStale;
    // It may have been deleted since: it must not be reported again.
    const VersionOrder order = CompareVersions(VersionOf(object), stream_version);
    if (order == VersionOrder::kOlder || order == VersionOrder::kSame) return Verdict::kUnclear;
    known_.emplace(object.metadata());
    changes.push_back({Type::kAdded, std::move(object)});
    return Verdict::kApplied;
  }
  const VersionOrder order = CompareVersions(VersionOf(object), known->version());
  if (order == VersionOrder::kOlder) return Verdict::kStale;
  if (gone) {
    known_.erase(known);
    changes.push_back({Type::kDeleted, std::move(object)});
    return Verdict::kApplied;
  }
  if (order == VersionOrder::kSame) return Verdict::kStale;
  const bool replaced = known->uid() != object.metadata().uid;
  if (replaced) changes.push_back(Deletion(*known));
  Put(known_, object.metadata());
  changes.push_back({replaced ? Type::kAdded : Type::kModified, std::move(object)});
  return Verdict::kApplied;
}

void KnownObjects::BeginList() {
  listed_.clear();
  untold_.clear();
}

void KnownObjects::Collect(WatchEvent::Type type, api::Object object) {
  const Key key = KeyOf(object);
  const auto listed = listed_.find(key);
  if (listed != listed_.end() && CompareVersions(VersionOf(object), listed->version()) == VersionOrder::kOlder) return;
  untold_.erase(object);
  if (type == WatchEvent::Type::kDeleted) {
    listed_.erase(key);
    return;
  }
  Put(listed_, object.metadata());
  const auto known = known_.find(key);
  const bool is_known =
      known != known_.end() && known->uid() == object.metadata().uid && known->version() == VersionOf(object);
  if (!is_known) untold_.insert(std::move(object));
}

void KnownObjects::TellCollected(std::vector<ObjectChange>& changes) {
  for (const api::Object& object : untold_) {
    const auto known = known_.find(KeyOf(object));
    const bool is_new = known == known_.end();
    const bool replaced = !is_new && IsReplaced(*known, object.metadata().uid, VersionOf(object));
    if (replaced) changes.push_back(Deletion(*known));
    Put(known_, object.metadata());
    changes.push_back({is_new || replaced ? Type::kAdded : Type::kModified, object});
  }
  untold_.clear();
}

void KnownObjects::EndList(std::vector<ObjectChange>& changes) {
  std::vector<ObjectChange> gone;
  boost::unordered::erase_if(known_, [&](const Entry& entry) {
    const auto listed = listed_.find(KeyOf(entry));
    if (listed != listed_.end() && !IsReplaced(entry, listed->uid(), listed->version())) return false;
    gone.push_back(Deletion(entry));
    return true;
  });
  std::sort(gone.begin(), gone.end(),
            [](const ObjectChange& a, const ObjectChange& b) { return ByKey{}(a.object, b.object); });
  std::move(gone.begin(), gone.end(), std::back_inserter(changes));
  TellCollected(changes);
  // Not just cleared: its table is as large as the list.
  listed_ = {};
}

}  // namespace berth::client
