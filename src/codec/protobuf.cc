#include "codec/protobuf.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

namespace berth::codec {
namespace {

// As protobuf's own decoders have it: messages that contain themselves could else nest as deep as the input is long.
constexpr int kMaxNesting = 100;

// What is wrong and the fields that lead there, outermost first. Filled from the inside out.
struct Failure {
  std::string problem;
  std::string path;
};

// The decoders return false after filling `failure`.
class WireDecoder {
 public:
  bool DecodeMessage(const Message& message, std::string_view bytes, void* out, int depth) {
    if (depth > kMaxNesting) return Fail(fmt::format("nested deeper than {} messages", kMaxNesting));
    WireReader reader(bytes);
    while (reader.Next()) {
      const FieldSpec* field = message.FindNumber(reader.number());
      if (field == nullptr) continue;
      if (DecodeField(*field->type, reader, field->In(out), depth, field->drop_key)) {
        if (field->is_inline && field->type->kind == Kind::kNullable) DropEmpty(*field->type, field->In(out));
        continue;
      }
      failure_.path = fmt::format(".{}{}", field->json_name, failure_.path);
      return false;
    }
    return reader.ok() || Fail(reader.problem());
  }

  const Failure& failure() const { return failure_; }

 private:
  using Kind = Type::Kind;
  using DropKey = bool (*)(std::string_view);

  // An inlined message of which nothing is kept is absent, as it is in JSON.
  static void DropEmpty(const Type& type, void* nullable) {
    const void* held = type.nullable->get(nullable);
    if (held != nullptr && IsEmpty(*type.element, held)) type.nullable->reset(nullable);
  }

  bool Fail(std::string problem) {
    failure_.problem = std::move(problem);
    return false;
  }

  // One occurrence of a field.
  bool DecodeField(const Type& type, const WireReader& reader, void* out, int depth, DropKey drop_key = nullptr) {
    const WireType wanted = WireTypeOf(type.kind);
    if (type.kind == Kind::kNullable) {
      return DecodeField(*type.element, reader, type.nullable->emplace(out), depth, drop_key);
    }
    if (type.kind == Kind::kList) return DecodeItem(type, reader, out, depth);
    if (reader.type() != wanted) {
      return Fail(fmt::format("expected wire type {}, found {}", int{static_cast<uint8_t>(wanted)},
                              int{static_cast<uint8_t>(reader.type())}));
    }
    switch (type.kind) {
      case Kind::kString:
        static_cast<std::string*>(out)->assign(reader.bytes());
        return true;
      case Kind::kSymbol:
        *static_cast<Symbol*>(out) = Symbol(reader.bytes());
        return true;
      case Kind::kCustom:
        return type.custom->from_protobuf(reader.bytes(), out) || Fail("malformed value");
      case Kind::kMessage:
        return DecodeMessage(type.message(), reader.bytes(), out, depth + 1);
      case Kind::kMap:
        return DecodeEntry(type, reader.bytes(), out, depth, drop_key);
      default:
        StoreNumber(type.kind, reader.integer(), out);
        return true;
    }
  }

  static WireType WireTypeOf(Kind kind) {
    switch (kind) {
      case Kind::kBool:
      case Kind::kInt32:
      case Kind::kInt64:
      case Kind::kUint32:
      case Kind::kUint64:
        return WireType::kVarint;
      case Kind::kDouble:
        return WireType::kFixed64;
      default:
        return WireType::kBytes;
    }
  }

  static void StoreNumber(Kind kind, uint64_t bits, void* out) {
    switch (kind) {
      case Kind::kBool:
        *static_cast<bool*>(out) = bits != 0;
        return;
      case Kind::kInt32:
        *static_cast<int32_t*>(out) = static_cast<int32_t>(bits);
        return;
      case Kind::kInt64:
        *static_cast<int64_t*>(out) = static_cast<int64_t>(bits);
        return;
      case Kind::kUint32:
        *static_cast<uint32_t*>(out) = static_cast<uint32_t>(bits);
        return;
      case Kind::kUint64:
        *static_cast<uint64_t*>(out) = bits;
        return;
      case Kind::kDouble:
        *static_cast<double*>(out) = std::bit_cast<double>(bits);
        return;
      default:
        return;
    }
  }

  bool DecodeItem(const Type& type, const WireReader& reader, void* out, int depth) {
    const Type& element = *type.element;
    if (element.kind == Kind::kList || element.kind == Kind::kMap) {
      // Protobuf has no list of lists: the inner one is field 1 of a message of its own.
      return DecodeWrapped(element, reader, type.list->append(out), depth + 1);
    }
    const WireType wanted = WireTypeOf(element.kind);
    if (wanted != WireType::kBytes && reader.type() == WireType::kBytes) return DecodePacked(type, reader.bytes(), out);
    return DecodeField(element, reader, type.list->append(out), depth);
  }

  bool DecodePacked(const Type& type, std::string_view bytes, void* out) {
    const bool is_fixed = WireTypeOf(type.element->kind) == WireType::kFixed64;
    const char* cursor = bytes.data();
    const char* const end = cursor + bytes.size();
    while (cursor != end) {
      uint64_t bits = 0;
      if (is_fixed) {
        if (end - cursor < 8) return Fail("truncated list of numbers");
        std::memcpy(&bits, cursor, 8);
        cursor += 8;
      } else if (!ReadVarint(cursor, end, bits)) {
        return Fail("malformed list of numbers");
      }
      StoreNumber(type.element->kind, bits, type.list->append(out));
    }
    return true;
  }

  bool DecodeWrapped(const Type& inner, const WireReader& reader, void* out, int depth) {
    if (reader.type() != WireType::kBytes) return Fail("expected a nested message");
    if (depth > kMaxNesting) return Fail(fmt::format("nested deeper than {} messages", kMaxNesting));
    WireReader items(reader.bytes());
    while (items.Next()) {
      if (items.number() == 1 && !DecodeField(inner, items, out, depth)) return false;
    }
    return items.ok() || Fail(items.problem());
  }

  // A map entry is a message {1: key, 2: value}. The key may come last, so it is looked for first.
  bool DecodeEntry(const Type& type, std::string_view bytes, void* out, int depth, DropKey drop_key) {
    std::string_view key;
    WireReader keys(bytes);
    while (keys.Next()) {
      if (keys.number() == 1 && keys.type() == WireType::kBytes) key = keys.bytes();
    }
    if (!keys.ok()) return Fail(keys.problem());
    if (drop_key != nullptr && drop_key(key)) return true;

    void* value = type.map->insert(out, key);
    const Type& element = *type.element;
    const bool is_wrapped = element.kind == Kind::kList || element.kind == Kind::kMap;
    WireReader values(bytes);
    while (values.Next()) {
      if (values.number() != 2) continue;
      const bool ok = is_wrapped ? DecodeWrapped(element, values, value, depth + 1)
                                 : DecodeField(element, values, value, depth + 1);
      if (ok) continue;
      failure_.path = fmt::format("[{}]{}", key, failure_.path);
      return false;
    }
    return true;
  }

  Failure failure_;
};

class WireEncoder {
 public:
  explicit WireEncoder(std::string& out) : writer_(out) {}

  void EncodeMessage(const Message& message, const void* object) {
    for (const FieldSpec& field : message.fields()) {
      if (field.number == 0) continue;
      const void* value = field.In(object);
      if (field.required || !IsEmpty(*field.type, value)) EncodeField(*field.type, field.number, value);
    }
  }

 private:
  using Kind = Type::Kind;

  void EncodeField(const Type& type, uint32_t number, const void* value) {
    switch (type.kind) {
      case Kind::kBool:
        return writer_.Integer(number, *static_cast<const bool*>(value));
      case Kind::kInt32:
        return Signed(number, *static_cast<const int32_t*>(value));
      case Kind::kInt64:
        return Signed(number, *static_cast<const int64_t*>(value));
      case Kind::kUint32:
        return writer_.Integer(number, *static_cast<const uint32_t*>(value));
      case Kind::kUint64:
        return writer_.Integer(number, *static_cast<const uint64_t*>(value));
      case Kind::kDouble:
        return writer_.Double(number, *static_cast<const double*>(value));
      case Kind::kString:
        return writer_.Bytes(number, *static_cast<const std::string*>(value));
      case Kind::kSymbol:
        return writer_.Bytes(number, static_cast<const Symbol*>(value)->str());
      case Kind::kCustom:
        // Straight into the output: ToProtobuf appends.
        return Nested(number, [&] { type.custom->to_protobuf(value, writer_.out()); });
      case Kind::kMessage:
        return Nested(number, [&] { EncodeMessage(type.message(), value); });
      case Kind::kList:
        for (size_t i = 0; i < type.list->size(value); ++i) {
          EncodeElement(*type.element, number, type.list->at(value, i));
        }
        return;
      case Kind::kMap:
        for (size_t i = 0; i < type.map->size(value); ++i) {
          const auto [key, entry] = type.map->at(value, i);
          Nested(number, [&, key = key, entry = entry] {
            writer_.Bytes(1, key);
            EncodeElement(*type.element, 2, entry);
          });
        }
        return;
      case Kind::kNullable:
        if (const void* object = type.nullable->get(value)) EncodeField(*type.element, number, object);
        return;
    }
  }

  // Inside a list or map, a list or map needs a message around it.
  void EncodeElement(const Type& type, uint32_t number, const void* value) {
    if (type.kind != Kind::kList && type.kind != Kind::kMap) return EncodeField(type, number, value);
    Nested(number, [&] { EncodeField(type, 1, value); });
  }

  void Signed(uint32_t number, int64_t value) { writer_.Integer(number, static_cast<uint64_t>(value)); }

  template <class Fill>
  void Nested(uint32_t number, Fill fill) {
    const size_t start = writer_.StartMessage(number);
    fill();
    writer_.EndMessage(start);
  }

  WireWriter writer_;
};

}  // namespace

Result<void> DecodeProtobuf(std::string_view bytes, const Message& message, void* out) {
  WireDecoder decoder;
  if (decoder.DecodeMessage(message, bytes, out, 0)) return {};
  const Failure& failure = decoder.failure();
  return Error::InvalidArgument(
      fmt::format("malformed protobuf: {}{}: {}", message.name(), failure.path, failure.problem));
}

void AppendProtobuf(const Message& message, const void* object, std::string& out) {
  WireEncoder(out).EncodeMessage(message, object);
}

}  // namespace berth::codec
