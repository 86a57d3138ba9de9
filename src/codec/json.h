// JSON text into a Document.
#pragma once

#include <string>

#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

// One JSON value and nothing after it but space. Text must be valid UTF-8. `file_name` is for messages only; errors
// read "FILE:LINE:COL: what is wrong".
Result<Document> ParseJson(std::string text, std::string file_name);

}  // namespace berth::codec
