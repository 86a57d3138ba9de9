#include "record/checksum.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstring>

namespace berth::record {

namespace {

using CrcTable = std::array<uint32_t, 256>;

// [n]: what a byte with n zeros behind it does to a checksum.
constexpr std::array<CrcTable, 8> MakeCrcTables() {
  std::array<CrcTable, 8> tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0u);
    tables[0][i] = crc;
  }
  for (size_t n = 1; n < tables.size(); ++n) {
    for (size_t i = 0; i < 256; ++i) tables[n][i] = (tables[n - 1][i] >> 8) ^ tables[0][tables[n - 1][i] & 0xff];
  }
  return tables;
}

constexpr std::array<CrcTable, 8> kCrcTables = MakeCrcTables();

uint64_t TakeEight(std::string_view& bytes) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t eight;
  std::memcpy(&eight, bytes.data(), sizeof(eight));
  bytes.remove_prefix(sizeof(eight));
  return eight;
}

#if defined(__x86_64__)

// Must only be called on a processor with SSE 4.2.
__attribute__((target("sse4.2"))) uint32_t Crc32cByInstruction(std::string_view bytes, uint32_t before) {
  uint64_t crc = uint32_t{~before};
  while (bytes.size() >= 8) crc = _mm_crc32_u64(crc, TakeEight(bytes));
  auto rest = static_cast<uint32_t>(crc);
  for (const char c : bytes) rest = _mm_crc32_u8(rest, static_cast<uint8_t>(c));
  return ~rest;
}

#endif

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return Crc32cByInstruction(bytes, before);
#endif
  return Crc32cByTable(bytes, before);
}

uint32_t Crc32cByTable(std::string_view bytes, uint32_t before) {
  uint32_t crc = ~before;
  while (bytes.size() >= 8) {
    const uint64_t eight = TakeEight(bytes) ^ crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kCrcTables[7 - i][eight >> (8 * i) & 0xff];
  }
  for (const char c : bytes) crc = (crc >> 8) ^ kCrcTables[0][(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

}  // namespace berth::record
