#include "codec/json_writer.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "base/utf8.h"
#include "codec/number_text.h"
#include "codec/value.h"

namespace berth::codec {
namespace {

struct StringSink {
  using Ch = char;

  std::string& out;

  void Put(char c) { out.push_back(c); }
  void Flush() {}
};

rapidjson::SizeType Size(std::string_view text) { return static_cast<rapidjson::SizeType>(text.size()); }

// Calls `use` with the text, or with a copy in which U+FFFD stands for every byte that is not UTF-8: protobuf lets any
// bytes through, but JSON that others must read may not.
template <class Use>
void WithValidText(std::string_view text, Use use) {
  size_t valid = 0;
  while (valid < text.size()) {
    const size_t size = base::Utf8SequenceLength(text.substr(valid));
    if (size == 0) break;
    valid += size;
  }
  // RapidJSON wants a pointer even for no characters.
  if (valid == text.size()) return use(text.empty() ? std::string_view("") : text);
  std::string repaired(text.substr(0, valid));
  for (text.remove_prefix(valid); !text.empty();) {
    const size_t size = base::Utf8SequenceLength(text);
    repaired.append(size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size));
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  use(repaired);
}

void WriteValue(const Type& type, const void* value, JsonWriter& writer);

void WriteFields(const Message& message, const void* object, JsonWriter& writer) {
  for (const FieldSpec& field : message.fields()) {
    const void* value = field.In(object);
    if (field.is_inline && field.type->kind == Type::Kind::kNullable) {
      const void* held = field.type->nullable->get(value);
      if (held != nullptr) WriteFields(field.type->element->message(), held, writer);
    } else if (field.is_inline) {
      WriteFields(field.type->message(), value, writer);
    } else if (field.always || !IsEmpty(*field.type, value)) {
      writer.Key(field.json_name);
      WriteValue(*field.type, value, writer);
    }
  }
}

void WriteValue(const Type& type, const void* value, JsonWriter& writer) {
  using Kind = Type::Kind;
  switch (type.kind) {
    case Kind::kBool:
      return writer.Bool(*static_cast<const bool*>(value));
    case Kind::kInt32:
      return writer.Int64(*static_cast<const int32_t*>(value));
    case Kind::kInt64:
      return writer.Int64(*static_cast<const int64_t*>(value));
    case Kind::kUint32:
      return writer.Uint64(*static_cast<const uint32_t*>(value));
    case Kind::kUint64:
      return writer.Uint64(*static_cast<const uint64_t*>(value));
    case Kind::kDouble:
      return writer.Double(*static_cast<const double*>(value));
    case Kind::kString:
      return writer.String(*static_cast<const std::string*>(value));
    case Kind::kSymbol:
      return writer.String(static_cast<const Symbol*>(value)->str());
    case Kind::kCustom:
      return type.custom->to_json(value, writer);
    case Kind::kMessage:
      return writer.Object(type.message(), value);
    case Kind::kList:
      writer.StartArray();
      for (size_t i = 0; i < type.list->size(value); ++i) WriteValue(*type.element, type.list->at(value, i), writer);
      return writer.EndArray();
    case Kind::kMap:
      writer.StartObject();
      for (size_t i = 0; i < type.map->size(value); ++i) {
        const auto [key, entry] = type.map->at(value, i);
        writer.Key(key);
        WriteValue(*type.element, entry, writer);
      }
      return writer.EndObject();
    case Kind::kNullable: {
      const void* object = type.nullable->get(value);
      return object == nullptr ? writer.Null() : WriteValue(*type.element, object, writer);
    }
  }
}

}  // namespace

struct JsonWriter::Impl {
  using Compact = rapidjson::Writer<StringSink>;
  using Pretty = rapidjson::PrettyWriter<StringSink>;

  Impl(std::string& out, bool pretty) : sink{out} {
    if (pretty) writer.emplace<Pretty>(sink);
  }

  template <class Call>
  void With(Call call) {
    std::visit(call, writer);
  }

  StringSink sink;
  std::variant<Compact, Pretty> writer{std::in_place_type<Compact>, sink};
};

JsonWriter::JsonWriter(std::string& out, bool pretty) : impl_(std::make_unique<Impl>(out, pretty)) {}
JsonWriter::~JsonWriter() = default;

void JsonWriter::StartObject() {
  impl_->With([](auto& writer) { writer.StartObject(); });
}
void JsonWriter::EndObject() {
  impl_->With([](auto& writer) { writer.EndObject(); });
}
void JsonWriter::StartArray() {
  impl_->With([](auto& writer) { writer.StartArray(); });
}
void JsonWriter::EndArray() {
  impl_->With([](auto& writer) { writer.EndArray(); });
}
void JsonWriter::Key(std::string_view key) {
  WithValidText(
      key, [&](std::string_view text) { impl_->With([&](auto& writer) { writer.Key(text.data(), Size(text)); }); });
}
void JsonWriter::Null() {
  impl_->With([](auto& writer) { writer.Null(); });
}
void JsonWriter::Bool(bool value) {
  impl_->With([&](auto& writer) { writer.Bool(value); });
}
void JsonWriter::Int64(int64_t value) {
  impl_->With([&](auto& writer) { writer.Int64(value); });
}
void JsonWriter::Uint64(uint64_t value) {
  impl_->With([&](auto& writer) { writer.Uint64(value); });
}
void JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return Null();
  Number(JsonNumber(value));
}
void JsonWriter::String(std::string_view value) {
  WithValidText(value, [&](std::string_view text) {
    impl_->With([&](auto& writer) { writer.String(text.data(), Size(text)); });
  });
}
void JsonWriter::Number(std::string_view json_number) {
  impl_->With([&](auto& writer) { writer.RawValue(json_number.data(), json_number.size(), rapidjson::kNumberType); });
}

void JsonWriter::Raw(std::string_view json) {
  if (json.empty()) return Null();
  impl_->With([&](auto& writer) { writer.RawValue(json.data(), json.size(), rapidjson::kObjectType); });
}

void JsonWriter::Write(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return Null();
    case Value::Kind::kBool:
      return Bool(value.boolean());
    case Value::Kind::kNumber:
      return Number(value.text());
    case Value::Kind::kString:
      return String(value.text());
    case Value::Kind::kArray:
      StartArray();
      for (const Value& item : value.items()) Write(item);
      return EndArray();
    case Value::Kind::kObject:
      StartObject();
      for (const Member& member : value.members()) {
        if (member.superseded) continue;
        Key(member.key);
        Write(member.value);
      }
      return EndObject();
  }
}

void JsonWriter::Object(const Message& message, const void* object) {
  StartObject();
  WriteFields(message, object, *this);
  EndObject();
}

}  // namespace berth::codec
