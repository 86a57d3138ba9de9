// An explanation as JSON: part of reports, of the page, and of what a running scheduler says.
#pragma once

#include "codec/json_writer.h"
#include "explain/explanation.h"

namespace berth::report {

// A page reads scores as arrays in the order of the plugins.
enum class Reader { kProgram, kPage };

// One object, whose Key has been written.
void WriteExplanation(codec::JsonWriter& json, const explain::Explanation& told, Reader reader);

}  // namespace berth::report
