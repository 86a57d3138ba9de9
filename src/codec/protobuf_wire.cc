#include "codec/protobuf_wire.h"

#include <bit>
#include <cstring>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace berth::codec {
namespace {

template <class Fixed>
Fixed ReadLittleEndian(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  Fixed value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

constexpr size_t kLongestVarint = 10;

// Behind the varint. There must be room.
char* PutVarint(char* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}

char* PutTag(char* to, uint32_t number, WireType type) {
  return PutVarint(to, uint64_t{number} << 3 | static_cast<uint8_t>(type));
}

}  // namespace

bool ReadVarint(const char*& cursor, const char* end, uint64_t& value) {
  try {
    value = protozero::decode_varint(&cursor, end);
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

bool WireReader::Fail(const char* problem) {
  problem_ = problem;
  cursor_ = end_;
  return false;
}

bool WireReader::Next() {
  if (cursor_ == end_) return false;
  uint64_t tag = 0;
  if (!ReadVarint(cursor_, end_, tag)) return Fail("malformed field number");
  if (tag >> 3 == 0 || tag >> 3 >= uint64_t{1} << 29) return Fail("field number out of range");
  number_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<WireType>(tag & 7);
  integer_ = 0;
  bytes_ = {};
  const auto left = static_cast<size_t>(end_ - cursor_);
  switch (type_) {
    case WireType::kVarint:
      return ReadVarint(cursor_, end_, integer_) || Fail("malformed integer");
    case WireType::kFixed64:
      if (left < 8) return Fail("truncated 64-bit value");
      integer_ = ReadLittleEndian<uint64_t>(cursor_);
      cursor_ += 8;
      return true;
    case WireType::kFixed32:
      if (left < 4) return Fail("truncated 32-bit value");
      integer_ = ReadLittleEndian<uint32_t>(cursor_);
      cursor_ += 4;
      return true;
    case WireType::kBytes: {
      uint64_t size = 0;
      if (!ReadVarint(cursor_, end_, size)) return Fail("malformed length");
      if (size > static_cast<uint64_t>(end_ - cursor_)) return Fail("length goes beyond the end");
      bytes_ = {cursor_, static_cast<size_t>(size)};
      cursor_ += size;
      return true;
    }
  }
  return Fail("unknown wire type");
}

// The head of a field is put together first: a string is quicker to append to once than byte by byte.
void WireWriter::Integer(uint32_t number, uint64_t value) {
  char field[2 * kLongestVarint];
  char* const end = PutVarint(PutTag(field, number, WireType::kVarint), value);
  out_.append(field, static_cast<size_t>(end - field));
}

void WireWriter::Double(uint32_t number, double value) {
  char field[kLongestVarint + sizeof(value)];
  char* const end = PutTag(field, number, WireType::kFixed64);
  std::memcpy(end, &value, sizeof(value));
  out_.append(field, static_cast<size_t>(end - field) + sizeof(value));
}

void WireWriter::Bytes(uint32_t number, std::string_view value) {
  char head[2 * kLongestVarint];
  char* const end = PutVarint(PutTag(head, number, WireType::kBytes), value.size());
  out_.append(head, static_cast<size_t>(end - head));
  out_.append(value);
}

// Room for a length of one byte, which most have.
size_t WireWriter::StartMessage(uint32_t number) {
  char head[kLongestVarint + 1];
  char* const end = PutTag(head, number, WireType::kBytes);
  *end = 0;
  out_.append(head, static_cast<size_t>(end - head) + 1);
  return out_.size();
}

// A longer length is known only now, and moves what follows it.
void WireWriter::EndMessage(size_t start) {
  char length[kLongestVarint];
  const auto size = static_cast<size_t>(PutVarint(length, out_.size() - start) - length);
  out_[start - 1] = length[0];
  if (size > 1) out_.insert(start, length + 1, size - 1);
}

}  // namespace berth::codec
