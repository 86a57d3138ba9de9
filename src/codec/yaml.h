// YAML text into Documents, typed as Kubernetes types it (YAML 1.1 as resolved by go-yaml v2, then turned into JSON).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

// Every document of the stream; those without content (nothing or only comments between two `---`) are left out.
// Anchors, aliases and merge keys are resolved; a document that grows out of proportion by aliasing is refused. JSON is
// YAML too, so this reads either, with the laxer rules.
// Errors read "FILE:LINE:COL: what is wrong". `lines_before` is for a part of a file that is parsed on its own: so many
// lines precede it.
Result<std::vector<Document>> ParseYaml(std::string_view text, std::string file_name, uint32_t lines_before = 0);

}  // namespace berth::codec
