#include <string>
#include <string_view>

#include "framework/plugin.h"

namespace berth::framework {
namespace {

// With its length before it, no text can run into the next.
void AppendSized(std::string& out, std::string_view text) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

}  // namespace

void SignatureBuilder::Add(std::string_view key, std::string_view value) {
  fragments_.Set(std::string(key), std::string(value));
}

std::string SignatureBuilder::Build() const {
  std::string signature;
  for (const auto& [key, value] : fragments_) {
    AppendSized(signature, key);
    AppendSized(signature, value);
  }
  return signature;
}

}  // namespace berth::framework
