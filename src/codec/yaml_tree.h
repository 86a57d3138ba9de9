// One YAML document from libyaml's events to a Document: typing, keys, anchors, merge keys. Only for yaml.cc, which
// feeds it.
#pragma once

#include <yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codec/document_builder.h"
#include "codec/value.h"

namespace berth::codec {

struct YamlProblem {
  Mark where;
  std::string message;
};

inline Mark ToMark(const yaml_mark_t& mark) {
  return {static_cast<uint32_t>(mark.line + 1), static_cast<uint32_t>(mark.column + 1)};
}

// Takes the events between a document's start and end. Aliases share the anchored value, so they cost no memory here;
// but every walk of the tree visits them again, hence the limit. After a problem was returned, the tree is unusable.
class YamlTree {
 public:
  explicit YamlTree(std::string file_name) : builder_(std::move(file_name)) {}

  std::optional<YamlProblem> Handle(const yaml_event_t& event);

  // False for a document with nothing in it but space and comments.
  bool has_content() const { return has_content_; }
  Document Finish() && { return std::move(builder_).Finish(root_); }

 private:
  using Outcome = std::optional<YamlProblem>;

  // A finished value with what aliasing needs to know about it.
  struct Node {
    Value value;
    uint64_t count = 1;   // nodes in it, aliases counted as often as they are used
    uint32_t height = 0;  // levels of containers
  };
  // A container whose end has not come yet.
  struct Frame {
    bool is_mapping;
    Mark mark;
    std::string anchor;
    uint64_t anchor_id;
    size_t first_child;
    Node node;
    bool wants_key = true;
    bool merges = false;  // the value to come belongs to a merge key
    std::string_view key = {};
    Mark key_mark = {};
  };
  struct Anchor {
    uint64_t id = 0;
    bool is_open = true;
    Node node;
  };

  Outcome HandleScalar(const yaml_event_t& event, Mark mark);
  Outcome HandleAlias(const std::string& name, Mark mark);
  Outcome Open(bool is_mapping, std::string anchor, Mark mark);
  Outcome Close();
  Outcome Add(const Node& node, Mark mark, bool is_alias);
  Outcome SetKey(Frame& frame, const Value& key, Mark mark);
  Outcome Merge(const Value& source, Mark mark, bool is_alias);
  void Splice(const Value& source);
  bool AliasesTooMuch() const;

  DocumentBuilder builder_;
  Value root_;
  bool has_content_ = false;
  std::vector<Frame> frames_;
  std::vector<Member> children_;  // of all open containers, innermost last
  std::unordered_map<std::string, Anchor> anchors_;
  uint64_t last_anchor_id_ = 0;
  uint64_t total_nodes_ = 0;
  uint64_t aliased_nodes_ = 0;
};

}  // namespace berth::codec
