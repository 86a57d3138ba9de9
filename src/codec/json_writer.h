// Writing JSON: by hand with JsonWriter, or a whole struct by its schema table with EncodeJson.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "codec/schema.h"

namespace berth::codec {

class Value;

// Appends JSON to a string as it is called. Calls must pair up (Start/End, Key before each value in an object); text
// is escaped, and repaired where it is not UTF-8. `pretty` indents by four, as kubectl does.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out, bool pretty = false);
  ~JsonWriter();

  void StartObject();
  void EndObject();
  void StartArray();
  void EndArray();
  void Key(std::string_view key);
  void Null();
  void Bool(bool value);
  void Int64(int64_t value);
  void Uint64(uint64_t value);
  void Double(double value);  // not-a-number and infinities, which JSON lacks, become null
  void String(std::string_view value);
  void Number(std::string_view json_number);  // text that already is a JSON number
  void Raw(std::string_view json);            // text that already is a JSON value; null when empty
  void Write(const Value& value);             // a whole tree, in its own order
  // A struct by its table.
  template <Described T>
  void Object(const T& object) {
    Object(DescriptionOf<T>(), &object);
  }
  void Object(const Message& message, const void* object);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Fields in the order of the table, map keys sorted; empty fields are left out unless the table says Always().
template <Described T>
std::string EncodeJson(const T& object, bool pretty = false) {
  std::string out;
  JsonWriter writer(out, pretty);
  writer.Object(object);
  return out;
}

}  // namespace berth::codec
