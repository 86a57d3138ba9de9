#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "framework/plugin.h"

namespace berth::framework {
namespace {

// Prefixed with its length, so that no text can run into the next.
void AppendSized(std::string& out, std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(text);
}

}  // namespace

// Every pod is signed: one buffer, usually large enough.
SignatureBuilder::SignatureBuilder() {
  text_.reserve(1024);
  keys_.reserve(32);
}

void SignatureBuilder::Add(std::string_view key, std::string_view value) {
  const char* const text = text_.data();
  for (const Key& known : keys_) {
    if (known.size == key.size() && std::memcmp(text + known.begin, key.data(), key.size()) == 0) return;
  }
  keys_.push_back({text_.size() + sizeof(uint32_t), key.size()});
  AppendSized(text_, key);
  AppendSized(text_, value);
}

}  // namespace berth::framework
