// Store: the objects of the model API server, as in etcd: every change is a revision, and past states can be read.
// Compaction only sets the revision before which requests are rejected; a storm is short enough to keep everything.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "storm/timeline.h"

namespace berth::storm {

struct Change {
  enum class Type { kAdded, kModified, kDeleted };
  Type type;
  uint64_t revision;
  base::Duration time;
  api::Object object;                   // if deleted: its last state, with the revision of the deletion
  std::optional<api::Object> before{};  // unset if it is new
};

class Store {
 public:
  using Objects = std::map<std::string, api::Object>;  // by "namespace/name"

  explicit Store(const Timeline& timeline) : timeline_(timeline) {}

  // Creates or replaces the object of this name. A new one without UID gets one.
  template <class T>
  const api::Object& Put(T object) {
    Stamp(object.metadata);
    return Record(api::MakeObject(std::move(object)));
  }
  template <class T>
  void Delete(const std::string& key) {
    const T* found = Find<T>(key);
    if (found == nullptr) return;
    T last = *found;
    last.metadata.resource_version = std::to_string(revision_ + 1);
    RecordEnd(api::MakeObject(std::move(last)));
  }
  // Null if there is none.
  template <class T>
  const T* Find(const std::string& key) const {
    const api::Object* found = FindObject(api::kKindOf<T>, key);
    return found != nullptr ? found->As<T>() : nullptr;
  }
  const api::Object* FindObject(api::Kind kind, const std::string& key) const;
  const Objects& objects(api::Kind kind) const { return kinds_[Index(kind)].objects; }

  uint64_t revision() const { return revision_; }
  // Something was written that nobody watches.
  void Skip() { ++revision_; }
  // As of that revision.
  Objects ObjectsAt(api::Kind kind, uint64_t revision) const;
  // The same without copying the current objects: visit(const api::Object&), by key.
  template <class Visit>
  void ForEachAt(api::Kind kind, uint64_t revision, Visit visit) const {
    if (revision >= revision_) {
      for (const auto& [key, object] : objects(kind)) visit(object);
    } else {
      for (const auto& [key, object] : ObjectsAt(kind, revision)) visit(object);
    }
  }
  // The last revision at that time.
  uint64_t RevisionAt(base::Duration time) const;
  const std::vector<Change>& history(api::Kind kind) const { return kinds_[Index(kind)].history; }

  // Watches from before this are rejected.
  uint64_t compacted() const { return compacted_; }
  void Compact() { compacted_ = revision_; }

  // Called after each change.
  void Observe(std::function<void(const Change& change)> observer) { observers_.push_back(std::move(observer)); }

 private:
  struct OfKind {
    Objects objects;
    std::vector<Change> history;
  };
  static size_t Index(api::Kind kind) { return static_cast<size_t>(kind); }

  void Stamp(api::ObjectMeta& metadata);
  const api::Object& Record(api::Object object);
  void RecordEnd(api::Object object);
  void Tell(const Change& change);

  const Timeline& timeline_;
  uint64_t revision_ = 100;
  uint64_t compacted_ = 0;
  uint64_t last_uid_ = 0;
  std::array<OfKind, api::kKindCount> kinds_;
  std::vector<std::pair<base::Duration, uint64_t>> times_;  // of revisions
  std::vector<std::function<void(const Change& change)>> observers_;
};

// Applies the change to the objects of its kind.
void Apply(const Change& change, Store::Objects& objects);

}  // namespace berth::storm
