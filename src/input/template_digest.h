// What of a pod template is not kept, as it does not matter to scheduling, but makes a rollout when it changes:
// command, arguments and environment of its containers.
#pragma once

#include <cstdint>

#include "codec/value.h"

namespace berth::input {

// Equal for objects that are alike in this; 0 when it is unknown, as in a snapshot, which leaves all of it out.
// `text` is that of a workload; `is_new`: a person wrote it, who writes all there is.
uint64_t TemplateDigest(const codec::Value& text, bool is_new);

}  // namespace berth::input
