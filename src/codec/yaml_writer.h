// Writing YAML the way kubectl shows it: keys sorted, lists not indented, quotes only where they are needed.
#pragma once

#include <string>

#include "codec/json_writer.h"
#include "codec/schema.h"

namespace berth::codec {

class Value;

// Ends with a newline. What this writes, ParseYaml reads back to the same values.
std::string EncodeYaml(const Value& value);

// The same from JSON text that is known to be well-formed, such as EncodeJson's.
std::string JsonToYaml(std::string json);

template <Described T>
std::string EncodeYaml(const T& object) {
  return JsonToYaml(EncodeJson(object));
}

}  // namespace berth::codec
