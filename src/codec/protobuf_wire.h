// The protobuf wire format, field by field: for messages written or read by hand, such as envelopes and custom scalars.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::codec {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Walks the fields of one message:
//   WireReader reader(bytes);
//   while (reader.Next()) { if (reader.number() == 1) name = reader.bytes(); }
//   if (!reader.ok()) ...malformed...
// Borrows the bytes.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : cursor_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // False at the end and on malformed input; ok() distinguishes them.
  bool Next();
  bool ok() const { return problem_ == nullptr; }
  // What is wrong, once Next() has returned false and ok() is false.
  const char* problem() const { return problem_; }

  uint32_t number() const { return number_; }
  WireType type() const { return type_; }
  // A varint, fixed64 or fixed32 as it came; zero for kBytes.
  uint64_t integer() const { return integer_; }
  // The content of a kBytes field; empty for the others.
  std::string_view bytes() const { return bytes_; }

 private:
  bool Fail(const char* problem);

  const char* cursor_;
  const char* end_;
  uint32_t number_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t integer_ = 0;
  std::string_view bytes_;
  const char* problem_ = nullptr;
};

// Appends fields to a string.
class WireWriter {
 public:
  explicit WireWriter(std::string& out) : out_(out) {}

  void Integer(uint32_t number, uint64_t value);  // a varint; cast signed numbers through int64_t
  void Double(uint32_t number, double value);
  void Bytes(uint32_t number, std::string_view value);
  // A nested message: what is appended to out() between the two becomes its content.
  size_t StartMessage(uint32_t number);
  // Writes the length before `start`, where one byte is reserved for it.
  void EndMessage(size_t start);

  std::string& out() { return out_; }

 private:
  std::string& out_;
};

// Reads a varint and moves the cursor behind it; false when there is none or it is too long.
bool ReadVarint(const char*& cursor, const char* end, uint64_t& value);

}  // namespace berth::codec
