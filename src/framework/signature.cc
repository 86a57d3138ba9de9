#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "framework/plugin.h"

namespace berth::framework {
namespace {

// Prefixed with its length, so that no text can run into the next.
char* WriteSized(char* out, std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  out = std::copy_n(reinterpret_cast<const char*>(&size), sizeof size, out);
  return std::copy(text.begin(), text.end(), out);
}

}  // namespace

// Every pod is signed: one buffer, usually large enough.
SignatureBuilder::SignatureBuilder() {
  text_.reserve(1024);
  keys_.reserve(32);
}

void SignatureBuilder::Add(std::string_view key, std::string_view value) {
  const std::string_view text = text_;
  for (const Key& known : keys_) {
    if (text.substr(known.begin, known.size) == key) return;
  }
  const size_t begin = text_.size();
  text_.resize(begin + 2 * sizeof(uint32_t) + key.size() + value.size());
  WriteSized(WriteSized(text_.data() + begin, key), value);
  keys_.push_back({begin + sizeof(uint32_t), key.size()});
}

}  // namespace berth::framework
