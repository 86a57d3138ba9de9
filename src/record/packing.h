// Frames in fewer bytes, compressed with LZ4: it costs a fifth of what zlib's fastest level does. What repeats in a
// recording (names, UIDs, whole messages but for a few bytes) is close together, and LZ4 looks no further.
//
//   packed      length of the frames (varint), one block of LZ4
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::record {

std::string Pack(std::string_view frames);
// The same into `to`, which must have room for MostPacked(frames.size()) bytes. Returns the size of the result.
size_t PackTo(std::string_view frames, char* to);
size_t MostPacked(size_t size);
// An error if it was not made by Pack, or unpacks to more than `size_limit` bytes.
Result<std::string> Unpack(std::string_view packed, size_t size_limit);

}  // namespace berth::record
