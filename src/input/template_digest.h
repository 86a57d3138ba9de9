// The parts of a pod template that are not kept, since scheduling does not read them, but that cause a rollout when
// they change: command, arguments and environment of its containers.
#pragma once

#include <cstdint>

#include "codec/value.h"

namespace berth::input {

// Equal for objects that are equal in these parts; 0 when they are unknown, as in a snapshot, which omits them. `text`
// is that of a workload; `is_new`: a person wrote it, and so completely.
uint64_t TemplateDigest(const codec::Value& text, bool is_new);

}  // namespace berth::input
