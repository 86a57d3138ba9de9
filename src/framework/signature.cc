#include <cstdint>
#include <string>
#include <string_view>

#include "framework/plugin.h"

namespace berth::framework {
namespace {

// With its length before it, no text can run into the next.
void AppendSized(std::string& out, std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

}  // namespace

// Signing is on the path of every pod: one buffer, large enough as a rule.
SignatureBuilder::SignatureBuilder() {
  text_.reserve(1024);
  keys_.reserve(32);
}

void SignatureBuilder::Add(std::string_view key, std::string_view value) {
  const std::string_view text = text_;
  for (const Key& known : keys_) {
    if (text.substr(known.begin, known.size) == key) return;
  }
  AppendSized(text_, key);
  keys_.push_back({text_.size() - key.size(), key.size()});
  AppendSized(text_, value);
}

}  // namespace berth::framework
