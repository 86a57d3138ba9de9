#include "record/packing.h"

#include <lz4.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "codec/protobuf_wire.h"
#include "record/format.h"

namespace berth::record {

namespace {

// A byte of LZ4 expands to at most this many: memory is not reserved for a size that cannot be true.
constexpr size_t kMostPerByte = 255;
// The longest varint.
constexpr size_t kMostLength = 10;

}  // namespace

size_t MostPacked(size_t size) {
  CHECK(size <= LZ4_MAX_INPUT_SIZE);
  return kMostLength + static_cast<size_t>(LZ4_compressBound(static_cast<int>(size)));
}

size_t PackTo(std::string_view frames, char* to) {
  const size_t most = MostPacked(frames.size());
  std::string length;
  AppendVarint(length, frames.size());
  std::memcpy(to, length.data(), length.size());
  const int packed = LZ4_compress_default(frames.data(), to + length.size(), static_cast<int>(frames.size()),
                                          static_cast<int>(most - length.size()));
  CHECK_WHY(packed > 0, "the output is as large as LZ4 may want it");
  return length.size() + static_cast<size_t>(packed);
}

std::string Pack(std::string_view frames) {
  std::string out(MostPacked(frames.size()), '\0');
  out.resize(PackTo(frames, out.data()));
  return out;
}

Result<std::string> Unpack(std::string_view packed, size_t size_limit) {
  const char* cursor = packed.data();
  const char* const end = packed.data() + packed.size();
  uint64_t size = 0;
  const bool has_size = codec::ReadVarint(cursor, end, size);
  const auto left = static_cast<size_t>(end - cursor);
  if (!has_size || size > std::min<uint64_t>(size_limit, LZ4_MAX_INPUT_SIZE) || size > left * kMostPerByte) {
    return Error::InvalidArgument("a block cannot be unpacked: its size is wrong");
  }
  std::string out(size, '\0');
  const int read = LZ4_decompress_safe(cursor, out.data(), static_cast<int>(left), static_cast<int>(size));
  if (read < 0) return Error::InvalidArgument("a block cannot be unpacked: it is damaged");
  if (static_cast<uint64_t>(read) != size) {
    return Error::InvalidArgument("a block cannot be unpacked: it has fewer bytes than it says");
  }
  return out;
}

}  // namespace berth::record
