#include "codec/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory_resource>
#include <unordered_map>
#include <utility>

#include "base/printable.h"
#include "codec/document_builder.h"

namespace berth::codec {

Value Value::Bool(bool value, Mark mark) {
  Value result(Kind::kBool, mark);
  result.flag_ = value;
  return result;
}

Value Value::Number(std::string_view text, bool is_float, Mark mark) {
  Value result = String(text, mark);
  result.kind_ = Kind::kNumber;
  result.flag_ = is_float;
  return result;
}

Value Value::String(std::string_view text, Mark mark) {
  Value result(Kind::kString, mark);
  result.size_ = static_cast<uint32_t>(text.size());
  result.data_ = text.data();
  return result;
}

Value Value::Array(std::span<const Value> items, Mark mark) {
  Value result(Kind::kArray, mark);
  result.size_ = static_cast<uint32_t>(items.size());
  result.data_ = items.data();
  return result;
}

Value Value::Object(std::span<const Member> members, Mark mark) {
  Value result(Kind::kObject, mark);
  result.size_ = static_cast<uint32_t>(members.size());
  result.data_ = members.data();
  return result;
}

std::string_view Value::text() const {
  return is_string() || is_number() ? std::string_view(static_cast<const char*>(data_), size_) : std::string_view();
}

std::span<const Value> Value::items() const {
  return is_array() ? std::span(static_cast<const Value*>(data_), size_) : std::span<const Value>();
}

std::span<const Member> Value::members() const {
  return is_object() ? std::span(static_cast<const Member*>(data_), size_) : std::span<const Member>();
}

const Value* Value::Find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.key == key && !member.superseded) return &member.value;
  }
  return nullptr;
}

std::string_view Value::TextAt(std::string_view key) const {
  const Value* value = Find(key);
  return value != nullptr ? value->text() : std::string_view();
}

std::string_view Value::StringAt(std::string_view key) const {
  const Value* value = Find(key);
  return value != nullptr && value->is_string() ? value->text() : std::string_view();
}

std::string Value::Description() const {
  constexpr size_t kShown = 60;
  switch (kind_) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return flag_ ? "true" : "false";
    case Kind::kNumber:
      return fmt::format("number {}", text());
    case Kind::kArray:
      return "a list";
    case Kind::kObject:
      return "an object";
    case Kind::kString:
      break;
  }
  return fmt::format("string \"{}\"", base::Clipped(text(), kShown));
}

struct Document::Storage {
  std::string file_name;
  std::string text;
  std::pmr::monotonic_buffer_resource arena;
};

Document::Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

const std::string& Document::file_name() const {
  static const std::string none;
  return storage_ ? storage_->file_name : none;
}

std::string Where(std::string_view file_name, Mark mark) {
  if (mark.line == 0) return std::string(file_name);
  return fmt::format("{}:{}:{}", file_name, mark.line, mark.column);
}

namespace {

void MarkRepeatedKeys(std::span<Member> members) {
  auto repeat = [&](size_t earlier, size_t later) {
    members[earlier].superseded = true;
    members[later].repeated = true;
  };
  constexpr size_t kScanLimit = 16;  // below this, comparing all pairs is cheaper than hashing
  if (members.size() <= kScanLimit) {
    for (size_t later = 1; later < members.size(); ++later) {
      for (size_t earlier = later; earlier-- > 0;) {
        if (members[earlier].key != members[later].key) continue;
        repeat(earlier, later);
        break;
      }
    }
    return;
  }
  std::unordered_map<std::string_view, size_t> last;
  last.reserve(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    auto [it, is_new] = last.emplace(members[i].key, i);
    if (!is_new) repeat(std::exchange(it->second, i), i);
  }
}

}  // namespace

DocumentBuilder::DocumentBuilder(std::string file_name) {
  document_.storage_ = std::make_unique<Document::Storage>();
  document_.storage_->file_name = std::move(file_name);
}

std::string& DocumentBuilder::AdoptText(std::string text) {
  document_.storage_->text = std::move(text);
  return document_.storage_->text;
}

std::string_view DocumentBuilder::CopyText(std::string_view text) {
  if (text.empty()) return {};
  char* copy = static_cast<char*>(document_.storage_->arena.allocate(text.size(), 1));
  std::copy(text.begin(), text.end(), copy);
  return {copy, text.size()};
}

std::span<const Value> DocumentBuilder::CopyItems(std::span<const Member> unnamed) {
  if (unnamed.empty()) return {};
  void* memory = document_.storage_->arena.allocate(unnamed.size() * sizeof(Value), alignof(Value));
  Value* items = static_cast<Value*>(memory);
  for (size_t i = 0; i < unnamed.size(); ++i) std::construct_at(items + i, unnamed[i].value);
  return {items, unnamed.size()};
}

std::span<const Member> DocumentBuilder::CopyMembers(std::span<Member> members) {
  if (members.empty()) return {};
  MarkRepeatedKeys(members);
  void* memory = document_.storage_->arena.allocate(members.size() * sizeof(Member), alignof(Member));
  Member* copies = static_cast<Member*>(memory);
  std::uninitialized_copy(members.begin(), members.end(), copies);
  return {copies, members.size()};
}

Document DocumentBuilder::Finish(Value root) && {
  document_.root_ = root;
  return std::move(document_);
}

}  // namespace berth::codec
