// From the path in an error ("profiles[0].plugins.score") to the place in the file.
#pragma once

#include <string_view>

#include "codec/value.h"

namespace berth::config {

// The value at `path`, or the nearest parent that was written.
codec::Mark PlaceOf(const codec::Value& root, std::string_view path);

// The first text in the document that reads `text`; nowhere if there is none. For errors that name a thing, not a path.
codec::Mark PlaceOfText(const codec::Value& root, std::string_view text);

}  // namespace berth::config
