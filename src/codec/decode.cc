#include "codec/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "codec/number_text.h"

namespace berth::codec {
namespace {

// Beyond so many keys their order matters (DecodeSorted).
constexpr size_t kManyKeys = 64;

// Where the decoder is, as a chain of stack frames: spelled out only when there is something to report.
struct FieldPath {
  const FieldPath* parent = nullptr;
  std::string_view name;  // of a field or map key
  size_t index = 0;       // of a list item
  enum class Kind { kPrefix, kField, kKey, kIndex } kind = Kind::kPrefix;

  void AppendTo(std::string& path) const {
    if (parent != nullptr) parent->AppendTo(path);
    switch (kind) {
      case Kind::kPrefix:
        path += name;
        break;
      case Kind::kKey:
        path += fmt::format("[{}]", name);
        break;
      case Kind::kIndex:
        path += fmt::format("[{}]", index);
        break;
      case Kind::kField:
        if (!path.empty()) path += '.';
        path += name;
    }
  }
};

template <class Number>
bool ParseNumber(std::string_view text, Number& out) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return false;
  out = value;
  return true;
}

// The name as the table spells it; empty when it has none like it.
std::string_view SpellingOf(const Message& message, std::string_view name) {
  for (const FieldSpec& row : message.fields()) {
    if (!row.is_inline && base::EqualIgnoringCase(row.json_name, name)) return row.json_name;
    if (!row.is_inline) continue;
    const Type& type = row.type->kind == Type::Kind::kNullable ? *row.type->element : *row.type;
    if (const std::string_view found = SpellingOf(type.message(), name); !found.empty()) return found;
  }
  return {};
}

const FieldSpec* FindAnyCase(const Message& message, std::string_view name) {
  const std::string_view spelling = SpellingOf(message, name);
  return spelling.empty() ? nullptr : message.FindJson(spelling);
}

class Decoder {
 public:
  Decoder(const DecodeOptions& options, std::vector<Diagnostic>& problems) : options_(options), problems_(problems) {}

  void DecodeMessage(const Message& message, const Value& value, void* out, const FieldPath& path) {
    if (!value.is_object()) return Expected("an object", value, path);
    for (const Member& member : value.members()) {
      const FieldPath field_path{&path, member.key, 0, FieldPath::Kind::kField};
      const FieldSpec* field = message.FindJson(member.key);
      if (field == nullptr && options_.yaml) field = FindAnyCase(message, member.key);
      if (options_.strict) {
        if (member.repeated) Report("duplicate field", member.key_mark, field_path);
        if (field == nullptr && !message.IsIgnored(member.key)) {
          const std::string_view meant = message.Suggest(member.key);
          Report(meant.empty() ? "unknown field" : fmt::format("unknown field, did you mean \"{}\"?", meant),
                 member.key_mark, field_path);
          problems_.back().unknown_field = true;
        }
      }
      if (field == nullptr || member.superseded || member.value.is_null()) continue;
      DecodeValue(*field->type, member.value, field->In(Holder(*field, out)), field_path, field->drop_key);
    }
  }

 private:
  using DropKey = bool (*)(std::string_view);

  // The object that the field is a member of: `out`, or what an inlined nullable in it holds.
  static void* Holder(const FieldSpec& field, void* out) {
    if (field.holder == nullptr) return out;
    void* const nullable = static_cast<std::byte*>(out) + field.holder_offset;
    // Ours to fill, even if frozen later: `out` was freshly constructed.
    if (const void* held = field.holder->get(nullable)) return const_cast<void*>(held);
    return field.holder->emplace(nullable);
  }

  void DecodeValue(const Type& type, const Value& value, void* out, const FieldPath& path, DropKey drop_key = nullptr) {
    if (value.is_null()) return;
    using Kind = Type::Kind;
    switch (type.kind) {
      case Kind::kBool:
        if (!value.is_bool()) return Expected("true or false", value, path);
        *static_cast<bool*>(out) = value.boolean();
        return;
      case Kind::kInt32:
        return DecodeNumber<int32_t>("a 32-bit integer", value, out, path);
      case Kind::kInt64:
        return DecodeNumber<int64_t>("an integer", value, out, path);
      case Kind::kUint32:
        return DecodeNumber<uint32_t>("a non-negative 32-bit integer", value, out, path);
      case Kind::kUint64:
        return DecodeNumber<uint64_t>("a non-negative integer", value, out, path);
      case Kind::kDouble:
        return DecodeNumber<double>("a number", value, out, path);
      case Kind::kString:
        return WithText(value, path, [&](std::string_view text) { static_cast<std::string*>(out)->assign(text); });
      case Kind::kSymbol:
        return WithText(value, path, [&](std::string_view text) { *static_cast<Symbol*>(out) = Symbol(text); });
      case Kind::kCustom:
        if (std::string expected = type.custom->from_json(value, out); !expected.empty()) {
          Report(fmt::format("{}, found {}", expected, value.Description()), value.mark(), path);
        }
        return;
      case Kind::kMessage:
        return DecodeMessage(type.message(), value, out, path);
      case Kind::kList:
        return DecodeList(type, value, out, path);
      case Kind::kMap:
        return DecodeMap(type, value, out, path, drop_key);
      case Kind::kNullable:
        return DecodeValue(*type.element, value, type.nullable->emplace(out), path, drop_key);
    }
  }

  template <class Number>
  void DecodeNumber(std::string_view expected, const Value& value, void* out, const FieldPath& path) {
    if (!value.is_number() || !ParseNumber(value.text(), *static_cast<Number*>(out))) Expected(expected, value, path);
  }

  template <class Store>
  void WithText(const Value& value, const FieldPath& path, Store store) {
    if (value.is_string()) return store(value.text());
    if (!options_.yaml || !(value.is_number() || value.is_bool())) return Expected("a string", value, path);
    if (value.is_bool()) return store(value.boolean() ? "true" : "false");
    double number = 0;
    if (value.is_float() && ParseNumber(value.text(), number)) return store(ShortFloat(number));
    store(value.text());
  }

  void DecodeList(const Type& type, const Value& value, void* out, const FieldPath& path) {
    if (!value.is_array()) return Expected("a list", value, path);
    type.list->clear(out);
    type.list->reserve(out, value.items().size());
    for (size_t i = 0; i < value.items().size(); ++i) {
      DecodeValue(*type.element, value.items()[i], type.list->append(out), {&path, {}, i, FieldPath::Kind::kIndex});
    }
  }

  void DecodeMap(const Type& type, const Value& value, void* out, const FieldPath& path, DropKey drop_key) {
    if (!value.is_object()) return Expected("an object", value, path);
    type.map->reserve(out, value.members().size());
    if (value.members().size() > kManyKeys) return DecodeSorted(type, value, out, path, drop_key);
    for (const Member& member : value.members()) DecodeEntry(type, member, out, path, drop_key);
  }

  // Maps are sorted vectors: entries in the order of their keys go to the end of one, any others into its middle.
  void DecodeSorted(const Type& type, const Value& value, void* out, const FieldPath& path, DropKey drop_key) {
    std::vector<const Member*> members;
    members.reserve(value.members().size());
    for (const Member& member : value.members()) members.push_back(&member);
    std::stable_sort(members.begin(), members.end(), [](const Member* a, const Member* b) { return a->key < b->key; });
    for (const Member* member : members) DecodeEntry(type, *member, out, path, drop_key);
  }

  void DecodeEntry(const Type& type, const Member& member, void* out, const FieldPath& path, DropKey drop_key) {
    const FieldPath entry_path{&path, member.key, 0, FieldPath::Kind::kKey};
    if (options_.strict && member.repeated) Report("duplicate key", member.key_mark, entry_path);
    if (member.superseded || (drop_key != nullptr && drop_key(member.key))) return;
    DecodeValue(*type.element, member.value, type.map->insert(out, member.key), entry_path);
  }

  void Expected(std::string_view what, const Value& found, const FieldPath& path) {
    Report(fmt::format("expected {}, found {}", what, found.Description()), found.mark(), path);
  }

  void Report(std::string message, Mark where, const FieldPath& path) {
    Diagnostic problem{.where = where, .message = std::move(message)};
    path.AppendTo(problem.path);
    problems_.push_back(std::move(problem));
  }

  const DecodeOptions& options_;
  std::vector<Diagnostic>& problems_;
};

}  // namespace

std::string Diagnostic::ToString() const { return path.empty() ? message : fmt::format("{}: {}", path, message); }

void Decode(const Value& value, const Message& message, void* out, const DecodeOptions& options,
            std::vector<Diagnostic>& problems, std::string_view path) {
  // A document that is null says nothing, like a field that is null.
  if (value.is_null()) return;
  Decoder(options, problems).DecodeMessage(message, value, out, {.name = path});
}

Result<void> ToResult(std::string_view file_name, const std::vector<Diagnostic>& problems) {
  if (problems.empty()) return {};
  std::string lines;
  for (const Diagnostic& problem : problems) {
    if (!lines.empty()) lines += '\n';
    lines += fmt::format("{}: {}", Where(file_name, problem.where), problem.ToString());
  }
  return Error::InvalidArgument(std::move(lines));
}

}  // namespace berth::codec
