// Splits a file's text into parts that are parsed separately: several threads can share a large file, and no tree of
// all of it is ever needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace berth::input {

struct TextPart {
  enum class Form : uint8_t {
    kYaml,   // documents
    kItems,  // items of a v1 List, "- …" each
    kJson,
  };
  Form form = Form::kYaml;
  std::string_view text;
  uint32_t lines_before = 0;
  size_t first_item = 0;  // of kItems: its index in the list
  // For kItems: the document they were cut from. When one of its parts cannot be parsed, only the whole shows what is
  // wrong, or that nothing is: a quoted text may cross the cut.
  std::string_view whole = {};
  uint32_t lines_before_whole = 0;
};

// Parts have about this many bytes, unless a single document or item is larger.
inline constexpr size_t kPartSize = size_t{256} << 10;

// In the order of the text, which they cover except for the lines around a list's items. They refer to `text`.
std::vector<TextPart> SplitText(std::string_view text, size_t part_size = kPartSize);

// Each document of a YAML text separately.
std::vector<TextPart> SplitDocuments(std::string_view text, uint32_t lines_before);

}  // namespace berth::input
