// FieldBuffer: a WireWriter for messages of a few small fields that are written often. It collects the fields in an
// array and appends them to the string in one piece, because an append per field costs several times as much.
//
// The string is complete when the buffer has been destroyed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/protobuf_wire.h"

namespace berth::codec {

class FieldBuffer {
 public:
  explicit FieldBuffer(std::string& out) : out_(out) {}
  ~FieldBuffer() { Flush(); }
  FieldBuffer(const FieldBuffer&) = delete;
  FieldBuffer& operator=(const FieldBuffer&) = delete;

  void Integer(uint32_t number, uint64_t value) { Head(number, WireType::kVarint, value); }
  void Bytes(uint32_t number, std::string_view value) {
    Head(number, WireType::kBytes, value.size());
    Text(value);
  }
  // A field whose value is the concatenation of `parts`.
  template <class... Parts>
  void Joined(uint32_t number, const Parts&... parts) {
    Head(number, WireType::kBytes, (std::string_view(parts).size() + ...));
    (Text(parts), ...);
  }

 private:
  static constexpr size_t kLongestHead = 20;  // two varints

  void Head(uint32_t number, WireType type, uint64_t value) {
    if (buffer_.size() - used_ < kLongestHead) Flush();
    Varint(uint64_t{number} << 3 | static_cast<uint8_t>(type));
    Varint(value);
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) buffer_[used_++] = static_cast<char>(value | 0x80);
    buffer_[used_++] = static_cast<char>(value);
  }
  void Text(std::string_view text) {
    if (text.size() > buffer_.size() - used_) {
      Flush();
      if (text.size() > buffer_.size()) {
        out_.append(text);
        return;
      }
    }
    used_ += text.copy(buffer_.data() + used_, text.size());
  }
  void Flush() {
    out_.append(buffer_.data(), used_);
    used_ = 0;
  }

  std::string& out_;
  size_t used_ = 0;
  std::array<char, 240> buffer_;
};

}  // namespace berth::codec
