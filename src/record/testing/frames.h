// Frames whose payload is at hand.
#pragma once

#include <string>
#include <string_view>

#include "record/format.h"

namespace berth::record {

inline void AppendFrame(std::string& frames, uint32_t type, std::string_view payload) {
  const size_t start = StartFrame(frames, type);
  frames += payload;
  EndFrame(frames, start);
}

}  // namespace berth::record
