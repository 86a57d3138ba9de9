// ClusterDraft: the objects of the input while they become a cluster. The stages of reading (what-ifs, expansion,
// admission) add, replace and remove objects here and report problems here; problems and warnings have their position.
//
// An object is known by kind, namespace and name, and there is one of each. Not thread-safe.
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
};

struct DraftObject {
  api::Object object;
  ObjectOrigin origin = {};
  // Not yet seen by an API server: the defaults of one have to be applied.
  bool is_new = false;

  // "Pod default/web"
  std::string Who() const;
};

class ClusterDraft {
 public:
  // The position of a field of the object: "FILE:LINE:COL".
  using Where = std::function<std::string(const ObjectOrigin& origin, std::string_view path)>;

  explicit ClusterDraft(Where where) : where_(std::move(where)) {}

  // A name that is taken is a problem, and the object is dropped.
  void Add(DraftObject object);
  void Replace(size_t index, api::Object object) { objects_[index].object = std::move(object); }
  void RemoveIf(const std::function<bool(const DraftObject&)>& unwanted);

  const std::vector<DraftObject>& objects() const { return objects_; }
  std::vector<DraftObject> TakeObjects() { return std::move(objects_); }
  // Null when there is none. `key` is api::KeyOf.
  const DraftObject* Find(api::Kind kind, std::string_view key) const;

  // `path` is the field that the text is about; the text includes it.
  void Problem(const DraftObject& object, std::string_view path, std::string_view text);
  void Problem(std::string text) { problems_.push_back(std::move(text)); }
  void Warn(const DraftObject& object, std::string_view path, std::string_view text);
  void Warn(std::string text) { warnings_.push_back(std::move(text)); }
  std::string WhereText(const DraftObject& object, std::string_view path = {}) const;

  const std::vector<std::string>& problems() const { return problems_; }
  std::vector<std::string> TakeWarnings() { return std::move(warnings_); }

 private:
  Where where_;
  std::vector<DraftObject> objects_;
  std::unordered_map<std::string, size_t> by_name_;  // Who() to the index in objects_
  std::vector<std::string> problems_;
  std::vector<std::string> warnings_;
};

}  // namespace berth::input
