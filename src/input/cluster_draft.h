// ClusterDraft: the objects of the input while they become a cluster. The stages of reading (what-ifs, expansion,
// admission) add, replace and remove objects here and report problems here; problems and warnings have their position.
//
// An object is identified by kind, namespace and name, which are unique here: a later input replaces what an earlier
// one gave. Texts from the input are escaped and clipped before they become problems and warnings, so that each is one
// line. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/object.h"
#include "codec/value.h"

namespace berth::input {

// Where an object comes from: a part of a file's text (object_reader.h) and its position in that file.
struct ObjectOrigin {
  static constexpr uint32_t kCluster = UINT32_MAX;    // read from a running cluster
  static constexpr uint32_t kFlags = UINT32_MAX - 1;  // described on the command line
  uint32_t part = kCluster;
  codec::Mark mark = {};
  // Which input the object is from: 0 the cluster, then each -f in turn. Later inputs take precedence.
  uint32_t input = 0;
};

struct DraftObject {
  api::Object object;
  ObjectOrigin origin = {};
  // Not yet seen by an API server: defaults have to be applied.
  bool is_new = false;
  // The object in the cluster is deleted first: none of its pods stays.
  bool recreated = false;
  // For a workload; see template_digest.h.
  uint64_t template_digest = 0;

  // "Pod default/web"
  std::string Who() const;
};

class ClusterDraft {
 public:
  // The position of a field of the object: "FILE:LINE:COL".
  using Where = std::function<std::string(const ObjectOrigin& origin, std::string_view path)>;

  // `strict`: an object given twice is a problem, even by different inputs.
  explicit ClusterDraft(Where where, bool strict = false) : where_(std::move(where)), strict_(strict) {}

  // When the name is taken: an object from a later input is laid over the earlier one (overlay.h); one from the same
  // input is a problem, and dropped.
  void Add(DraftObject object);
  void Replace(size_t index, api::Object object) { objects_[index].object = std::move(object); }
  void ReplaceByNew(size_t index, api::Object object) {
    Replace(index, std::move(object));
    objects_[index].is_new = true;
  }
  // Puts back what an earlier input had, possibly with small changes.
  void Restore(size_t index, api::Object object, bool is_new) {
    Replace(index, std::move(object));
    objects_[index].is_new = is_new;
  }
  void MarkRecreated(size_t index) { objects_[index].recreated = true; }
  void RemoveIf(const std::function<bool(const DraftObject&)>& unwanted);

  const std::vector<DraftObject>& objects() const { return objects_; }
  std::vector<DraftObject> TakeObjects() { return std::move(objects_); }
  // Null when there is none. `key` is api::KeyOf.
  const DraftObject* Find(api::Kind kind, std::string_view key) const;

  // What an earlier input had instead of this object; null when nothing was replaced.
  const DraftObject* Replaced(const DraftObject& object) const;
  // Whether an earlier input had an object of that kind and name: "Node n1".
  bool IsLaidOver(const std::string& who) const { return replaced_.contains(who); }

  // `path` is the field that the text is about; the text includes it.
  void Problem(const DraftObject& object, std::string_view path, std::string_view text);
  // `picture`: indented lines to show below the text, already safe for terminals.
  void Problem(std::string_view text, std::string_view picture = {});
  void Warn(const DraftObject& object, std::string_view path, std::string_view text);
  void Warn(std::string_view text);
  // Worth knowing, but not wrong.
  void Note(std::string_view text);
  std::string WhereText(const DraftObject& object, std::string_view path = {}) const;

  const std::vector<std::string>& problems() const { return problems_; }
  std::vector<std::string> TakeWarnings() { return std::move(warnings_); }
  std::vector<std::string> TakeNotes();

 private:
  Where where_;
  const bool strict_;
  std::vector<DraftObject> objects_;
  std::unordered_map<std::string, size_t> by_name_;  // Who() to the index in objects_
  std::vector<std::string> problems_;
  std::vector<std::string> warnings_;
  std::vector<std::string> notes_;
  std::unordered_map<std::string, DraftObject> replaced_;  // by Who()
  size_t replacements_ = 0;
};

}  // namespace berth::input
