#include "codec/field_mark.h"

#include <algorithm>
#include <charconv>

namespace berth::codec {
namespace {

// Takes the next step off `path`: "name", or the inside of "[…]".
std::string_view TakeStep(std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  const bool bracket = path.starts_with('[');
  if (bracket) path.remove_prefix(1);
  const size_t end = bracket ? path.find(']') : path.find_first_of(".[");
  const std::string_view step = path.substr(0, end);
  path.remove_prefix(std::min(path.size(), step.size() + (bracket ? 1 : 0)));
  return step;
}

const Value* FindChild(const Value& value, std::string_view step) {
  if (!value.is_array()) return value.Find(step);
  size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size() || index >= value.items().size()) return nullptr;
  return &value.items()[index];
}

}  // namespace

Mark FieldMark(const Value& root, std::string_view path) {
  const Value* value = &root;
  while (!path.empty()) {
    const Value* child = FindChild(*value, TakeStep(path));
    if (child == nullptr) break;
    value = child;
  }
  return value->mark();
}

const Value* FindField(const Value& root, std::string_view path) {
  const Value* value = &root;
  while (value != nullptr && !path.empty()) value = FindChild(*value, TakeStep(path));
  return value;
}

Mark TextMark(const Value& root, std::string_view text) {
  if (root.is_string() && root.text() == text) return root.mark();
  for (const Member& member : root.members()) {
    if (const Mark found = TextMark(member.value, text); found.line != 0) return found;
  }
  for (const Value& item : root.items()) {
    if (const Mark found = TextMark(item, text); found.line != 0) return found;
  }
  return {};
}

}  // namespace berth::codec
