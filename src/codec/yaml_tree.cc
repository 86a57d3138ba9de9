#include "codec/yaml_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

#include "codec/number_text.h"
#include "codec/yaml_scalar.h"

namespace berth::codec {
namespace {

std::string Text(const yaml_char_t* text) {
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text));
}

YamlProblem TooDeep(Mark mark) { return YamlProblem{mark, fmt::format("nested deeper than {} levels", kMaxDepth)}; }

}  // namespace

std::optional<YamlProblem> YamlTree::Handle(const yaml_event_t& event) {
  const Mark mark = ToMark(event.start_mark);
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      return HandleScalar(event, mark);
    case YAML_ALIAS_EVENT:
      return HandleAlias(Text(event.data.alias.anchor), mark);
    case YAML_SEQUENCE_START_EVENT:
      return Open(false, Text(event.data.sequence_start.anchor), mark);
    case YAML_MAPPING_START_EVENT:
      return Open(true, Text(event.data.mapping_start.anchor), mark);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return Close();
    default:
      return std::nullopt;
  }
}

YamlTree::Outcome YamlTree::HandleScalar(const yaml_event_t& event, Mark mark) {
  const auto& scalar = event.data.scalar;
  const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  const std::string tag = Text(scalar.tag);
  const bool is_key = !frames_.empty() && frames_.back().is_mapping && frames_.back().wants_key;
  if (is_key && text == "<<" && (scalar.plain_implicit || tag == "tag:yaml.org,2002:merge")) {
    frames_.back().wants_key = false;
    frames_.back().merges = true;
    frames_.back().key_mark = mark;
    return std::nullopt;
  }
  const bool is_empty_document = frames_.empty() && text.empty() && tag.empty() && scalar.plain_implicit;
  has_content_ = has_content_ || !is_empty_document;

  ResolvedScalar resolved{ResolvedScalar::Kind::kString, false, {}};
  if (!tag.empty()) {
    resolved = ResolveTagged(tag, text);
  } else if (scalar.plain_implicit) {
    resolved = ResolvePlain(text);
  } else {
    resolved.text = text;
  }
  Node node;
  switch (resolved.kind) {
    case ResolvedScalar::Kind::kInvalid:
      return YamlProblem{mark, std::move(resolved.text)};
    case ResolvedScalar::Kind::kNull:
      node.value = Value::Null(mark);
      break;
    case ResolvedScalar::Kind::kBool:
      node.value = Value::Bool(resolved.boolean, mark);
      break;
    case ResolvedScalar::Kind::kString:
      node.value = Value::String(builder_.CopyText(resolved.text), mark);
      break;
    case ResolvedScalar::Kind::kInteger:
    case ResolvedScalar::Kind::kFloat:
      if (resolved.text.empty()) return YamlProblem{mark, fmt::format("{} is not a number that JSON can hold", text)};
      node.value = Value::Number(builder_.CopyText(resolved.text),
                                 /*is_float=*/resolved.kind == ResolvedScalar::Kind::kFloat, mark);
  }
  ++total_nodes_;
  if (const std::string anchor = Text(scalar.anchor); !anchor.empty()) {
    anchors_[anchor] = {.id = ++last_anchor_id_, .is_open = false, .node = node};
  }
  return Add(node, mark, /*is_alias=*/false);
}

YamlTree::Outcome YamlTree::HandleAlias(const std::string& name, Mark mark) {
  auto it = anchors_.find(name);
  if (it == anchors_.end()) return YamlProblem{mark, fmt::format("unknown anchor '{}'", name)};
  if (it->second.is_open) return YamlProblem{mark, fmt::format("anchor '{}' contains itself", name)};
  const Node node = it->second.node;
  if (frames_.size() + node.height > kMaxDepth) return TooDeep(mark);
  total_nodes_ += node.count;
  aliased_nodes_ += node.count;
  if (AliasesTooMuch()) return YamlProblem{mark, "the document grows out of proportion by its aliases"};
  return Add(node, mark, /*is_alias=*/true);
}

// go-yaml's rule: small documents may consist of aliases almost entirely, large ones to a tenth.
bool YamlTree::AliasesTooMuch() const {
  constexpr double kLow = 400'000, kHigh = 4'000'000;
  if (aliased_nodes_ <= 100 || total_nodes_ <= 1000) return false;
  const auto total = static_cast<double>(total_nodes_);
  const double scaled = 0.99 - 0.89 * ((total - kLow) / (kHigh - kLow));
  const double allowed = total <= kLow ? 0.99 : total >= kHigh ? 0.10 : scaled;
  return static_cast<double>(aliased_nodes_) / total > allowed;
}

YamlTree::Outcome YamlTree::Open(bool is_mapping, std::string anchor, Mark mark) {
  has_content_ = true;
  if (frames_.size() >= kMaxDepth) return TooDeep(mark);
  if (!frames_.empty() && frames_.back().is_mapping && frames_.back().wants_key) {
    return YamlProblem{mark, fmt::format("expected a scalar as key, found {}", is_mapping ? "a mapping" : "a list")};
  }
  ++total_nodes_;
  if (!anchor.empty()) anchors_[anchor] = {.id = ++last_anchor_id_, .node = {}};
  frames_.push_back({.is_mapping = is_mapping,
                     .mark = mark,
                     .anchor = std::move(anchor),
                     .anchor_id = last_anchor_id_,
                     .first_child = children_.size(),
                     .node = {.height = 1}});
  return std::nullopt;
}

YamlTree::Outcome YamlTree::Close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  const auto children = std::span(children_).subspan(frame.first_child);
  frame.node.value = frame.is_mapping ? Value::Object(builder_.CopyMembers(children), frame.mark)
                                      : Value::Array(builder_.CopyItems(children), frame.mark);
  children_.resize(frame.first_child);
  if (!frame.anchor.empty()) {
    // Inside, the name may have been given away again; then the later one keeps it.
    Anchor& anchor = anchors_[frame.anchor];
    if (anchor.id == frame.anchor_id) anchor = {.id = anchor.id, .is_open = false, .node = frame.node};
  }
  return Add(frame.node, frame.mark, /*is_alias=*/false);
}

// A finished value finds its place: the root, a list item, a key, a member, or the source of a merge.
YamlTree::Outcome YamlTree::Add(const Node& node, Mark mark, bool is_alias) {
  has_content_ = has_content_ || is_alias;
  if (frames_.empty()) {
    root_ = node.value;
    return std::nullopt;
  }
  Frame& frame = frames_.back();
  frame.node.count += node.count;
  frame.node.height = std::max(frame.node.height, node.height + 1);
  if (!frame.is_mapping) {
    children_.push_back({.value = node.value});
    return std::nullopt;
  }
  if (frame.wants_key) return SetKey(frame, node.value, mark);
  frame.wants_key = true;
  if (std::exchange(frame.merges, false)) return Merge(node.value, mark, is_alias);
  children_.push_back({.key = frame.key, .key_mark = frame.key_mark, .value = node.value});
  return std::nullopt;
}

// JSON has only string keys, so numbers and bools become text.
YamlTree::Outcome YamlTree::SetKey(Frame& frame, const Value& key, Mark mark) {
  switch (key.kind()) {
    case Value::Kind::kString:
      frame.key = key.text();
      break;
    case Value::Kind::kBool:
      frame.key = key.boolean() ? "true" : "false";
      break;
    case Value::Kind::kNumber:
      frame.key = key.text();
      if (key.is_float()) {
        frame.key = builder_.CopyText(ShortFloat(std::strtod(std::string(key.text()).c_str(), nullptr)));
      }
      break;
    default:
      return YamlProblem{mark, fmt::format("expected a scalar as key, found {}", key.Description())};
  }
  frame.key_mark = mark;
  frame.wants_key = false;
  return std::nullopt;
}

// Merged members stand where the merge key stood. As in go-yaml v2 the last writer of a key wins, be it merged or
// not, and strict decoding calls the second one a duplicate.
YamlTree::Outcome YamlTree::Merge(const Value& source, Mark mark, bool is_alias) {
  const YamlProblem problem{mark, "expected a mapping or a list of mappings to merge, found " + source.Description()};
  if (source.is_object()) {
    Splice(source);
  } else if (source.is_array() && !is_alias) {
    // Earlier ones take precedence, so they are written last.
    for (size_t i = source.items().size(); i-- > 0;) {
      if (!source.items()[i].is_object()) return problem;
      Splice(source.items()[i]);
    }
  } else {
    return problem;
  }
  return std::nullopt;
}

void YamlTree::Splice(const Value& source) {
  for (const Member& member : source.members()) {
    children_.push_back({.key = member.key, .key_mark = member.key_mark, .value = member.value});
  }
}

}  // namespace berth::codec
