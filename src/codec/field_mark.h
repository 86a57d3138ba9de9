// From what an error names, a field's path or a text, to its position in the file.
#pragma once

#include <string_view>

#include "codec/value.h"

namespace berth::codec {

// The value at `path` ("profiles[0].plugins.score"), or its nearest ancestor that the file has.
Mark FieldMark(const Value& root, std::string_view path);

// The value itself; null when the file has none there.
const Value* FindField(const Value& root, std::string_view path);

// The first string in the document that equals `text`; line 0 if there is none. For errors that name a thing, not a
// path.
Mark TextMark(const Value& root, std::string_view text);

}  // namespace berth::codec
