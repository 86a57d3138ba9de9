// An explanation as JSON: part of reports, of the page, and of a running scheduler's answers.
#pragma once

#include "codec/json_writer.h"
#include "explain/explanation.h"

namespace berth::report {

// The page expects scores as arrays in the order of the plugins.
enum class Reader { kProgram, kPage };

// One object, whose key has been written.
void WriteExplanation(codec::JsonWriter& json, const explain::Explanation& told, Reader reader);

}  // namespace berth::report
