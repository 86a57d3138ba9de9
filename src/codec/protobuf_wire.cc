#include "codec/protobuf_wire.h"

#include <bit>
#include <cstring>
#include <protozero/buffer_string.hpp>
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

void AppendTag(std::string& out, uint32_t number, WireType type) {
  protozero::add_varint_to_buffer(&out, uint64_t{number} << 3 | static_cast<uint8_t>(type));
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

void WireWriter::Integer(uint32_t number, uint64_t value) {
  AppendTag(out_, number, WireType::kVarint);
  protozero::add_varint_to_buffer(&out_, value);
}

void WireWriter::Double(uint32_t number, double value) {
  AppendTag(out_, number, WireType::kFixed64);
  out_.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void WireWriter::Bytes(uint32_t number, std::string_view value) {
  AppendTag(out_, number, WireType::kBytes);
  protozero::add_varint_to_buffer(&out_, value.size());
  out_.append(value);
}

size_t WireWriter::StartMessage(uint32_t number) {
  AppendTag(out_, number, WireType::kBytes);
  return out_.size();
}

// The length goes before the content once it is known; contents are small, so moving them is cheaper than guessing.
void WireWriter::EndMessage(size_t start) {
  std::string length;
  protozero::add_varint_to_buffer(&length, out_.size() - start);
  out_.insert(start, length);
}

}  // namespace berth::codec
