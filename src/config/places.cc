#include "config/places.h"

#include <algorithm>
#include <charconv>

namespace berth::config {
namespace {

// Takes the next step off `path`: "name", or the inside of "[…]".
std::string_view NextStep(std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  const bool bracket = path.starts_with('[');
  if (bracket) path.remove_prefix(1);
  const size_t end = bracket ? path.find(']') : path.find_first_of(".[");
  const std::string_view step = path.substr(0, end);
  path.remove_prefix(std::min(path.size(), step.size() + (bracket ? 1 : 0)));
  return step;
}

const codec::Value* Child(const codec::Value& value, std::string_view step) {
  if (!value.is_array()) return value.Find(step);
  size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size() || index >= value.items().size()) return nullptr;
  return &value.items()[index];
}

}  // namespace

codec::Mark PlaceOf(const codec::Value& root, std::string_view path) {
  const codec::Value* value = &root;
  while (!path.empty()) {
    const codec::Value* child = Child(*value, NextStep(path));
    if (child == nullptr) break;
    value = child;
  }
  return value->mark();
}

codec::Mark PlaceOfText(const codec::Value& root, std::string_view text) {
  if (root.is_string() && root.text() == text) return root.mark();
  for (const codec::Member& member : root.members()) {
    if (const codec::Mark found = PlaceOfText(member.value, text); found.line != 0) return found;
  }
  for (const codec::Value& item : root.items()) {
    if (const codec::Mark found = PlaceOfText(item, text); found.line != 0) return found;
  }
  return {};
}

}  // namespace berth::config
