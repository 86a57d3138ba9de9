// A parsed JSON or YAML document as a tree of typed values, each with its position in the file.
//
// Both parsers produce this one form, so everything above (decoding, validation messages, conversion) is written once.
// YAML has already been typed the way Kubernetes does it when a Value exists: `yes` is a bool, `010` is the number 8.
//
// Ownership: a Document owns every Value and all text below it; Values are small handles without destructors and are
// only valid while their Document lives. Immutable after parsing, so safe to read from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace berth::codec {

// A position in a file, counted from 1 in characters. Line 0 means "nowhere".
struct Mark {
  uint32_t line = 0;
  uint32_t column = 0;

  friend bool operator==(const Mark&, const Mark&) = default;
};

struct Member;

class Value {
 public:
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Value() = default;
  static Value Null(Mark mark) { return Value(Kind::kNull, mark); }
  static Value Bool(bool value, Mark mark);
  // `text` is a JSON number. `is_float` says that YAML resolved a floating point number, whatever its text looks like.
  static Value Number(std::string_view text, bool is_float, Mark mark);
  static Value String(std::string_view text, Mark mark);
  static Value Array(std::span<const Value> items, Mark mark);
  static Value Object(std::span<const Member> members, Mark mark);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  bool is_number() const { return kind_ == Kind::kNumber; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_float() const { return is_number() && flag_; }
  Mark mark() const { return mark_; }

  // Each of these is the empty answer when the value is of another kind.
  bool boolean() const { return is_bool() && flag_; }
  // The content of a string, or a number as JSON text: exact, whatever its size.
  std::string_view text() const;
  std::span<const Value> items() const;
  std::span<const Member> members() const;

  // The member of that name (the last one, if repeated), or null.
  const Value* Find(std::string_view key) const;
  // Of that member: its text(), or only that of a string. Empty without such a member.
  std::string_view TextAt(std::string_view key) const;
  std::string_view StringAt(std::string_view key) const;

  // For messages, after "found": `number 5`, `string "abc"`, `an object`, `a list`, `true`, `null`.
  std::string Description() const;

 private:
  Value(Kind kind, Mark mark) : kind_(kind), mark_(mark) {}

  Kind kind_ = Kind::kNull;
  bool flag_ = false;  // the bool itself, or "is a float"
  uint32_t size_ = 0;
  Mark mark_;
  const void* data_ = nullptr;
};

// One entry of an object, in the order of the file. Repeated keys are all kept, so that strict decoding can point at
// the second; lenient callers use the last.
struct Member {
  std::string_view key;
  Mark key_mark;
  bool repeated = false;    // an earlier member has the same key
  bool superseded = false;  // a later member has the same key
  Value value;
};

// Move-only owner of one parsed document.
class Document {
 public:
  Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  const Value& root() const { return root_; }
  const std::string& file_name() const;

 private:
  friend class DocumentBuilder;
  struct Storage;

  std::unique_ptr<Storage> storage_;
  Value root_;
};

// "FILE:LINE:COL", the beginning of every message about a file.
std::string Where(std::string_view file_name, Mark mark);

// Containers nested deeper than this are refused by both parsers: everything that walks a tree may recurse.
inline constexpr uint32_t kMaxDepth = 1000;

}  // namespace berth::codec
