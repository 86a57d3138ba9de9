// CRC-32C (Castagnoli), as storage formats use it: finds any torn or changed part of a block.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::record {

// `before`: the checksum of the bytes that precede these.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);
// The same result without the processor's CRC instruction, for processors that have none.
uint32_t Crc32cByTable(std::string_view bytes, uint32_t before = 0);

}  // namespace berth::record
