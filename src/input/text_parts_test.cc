#include "input/text_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::input {
namespace {

using Form = TextPart::Form;

struct Cut {
  Form form;
  uint32_t lines_before;
  size_t first_item;
  std::string text;
  friend bool operator==(const Cut&, const Cut&) = default;
  friend void PrintTo(const Cut& cut, std::ostream* out) {
    *out << static_cast<int>(cut.form) << " after " << cut.lines_before << " lines, item " << cut.first_item << ": "
         << cut.text;
  }
};

std::vector<Cut> Cuts(std::string_view text, size_t part_size = 1) {
  std::vector<Cut> cuts;
  for (const TextPart& part : SplitText(text, part_size)) {
    cuts.push_back({part.form, part.lines_before, part.first_item, std::string(part.text)});
  }
  return cuts;
}

TEST(TextParts, DocumentsAreCutAtTheirMarks) {
  const struct {
    std::string_view text;
    std::vector<Cut> cuts;
  } cases[] = {
      {"", {}},
      {"a: 1\n", {{Form::kYaml, 0, 0, "a: 1\n"}}},
      {"a: 1\n---\nb: 2\n", {{Form::kYaml, 0, 0, "a: 1\n"}, {Form::kYaml, 1, 0, "---\nb: 2\n"}}},
      {"--- # x\na: 1\n---", {{Form::kYaml, 0, 0, "--- # x\na: 1\n"}, {Form::kYaml, 2, 0, "---"}}},
      {"a: |\n  x\n---\r\nb: 2", {{Form::kYaml, 0, 0, "a: |\n  x\n"}, {Form::kYaml, 2, 0, "---\r\nb: 2"}}},
      {"a: |\n  ---\n  x\n", {{Form::kYaml, 0, 0, "a: |\n  ---\n  x\n"}}},
      {"----\n---x\n", {{Form::kYaml, 0, 0, "----\n---x\n"}}},
      {"%YAML 1.1\n---\na: 1\n---\nb: 1\n", {{Form::kYaml, 0, 0, "%YAML 1.1\n---\na: 1\n---\nb: 1\n"}}},
      {" {\"a\": 1}\n", {{Form::kJson, 0, 0, " {\"a\": 1}\n"}}},
      {"{a: 1}\n---\n{b: 2}\n", {{Form::kYaml, 0, 0, "{a: 1}\n"}, {Form::kYaml, 1, 0, "---\n{b: 2}\n"}}},
  };
  for (const auto& [text, cuts] : cases) EXPECT_THAT(Cuts(text), ::testing::ElementsAreArray(cuts)) << text;
}

TEST(TextParts, SmallDocumentsGoTogether) {
  EXPECT_THAT(
      Cuts("a: 1\n---\nb: 2\n---\nc: 3\n", 16),
      ::testing::ElementsAre(Cut{Form::kYaml, 0, 0, "a: 1\n---\nb: 2\n"}, Cut{Form::kYaml, 3, 0, "---\nc: 3\n"}));
}

TEST(TextParts, ItemsOfAListAreCut) {
  EXPECT_THAT(
      Cuts("apiVersion: v1\nitems:\n- a: 1\n  b:\n  - 2\n- a: 2\nkind: List\n"),
      ::testing::ElementsAre(Cut{Form::kItems, 2, 0, "- a: 1\n  b:\n  - 2\n"}, Cut{Form::kItems, 5, 1, "- a: 2\n"}));
  EXPECT_THAT(Cuts("kind: List\napiVersion: v1\nitems:\n\n  # first\n  - a: 1\n  - a: 2\n"),
              ::testing::ElementsAre(Cut{Form::kItems, 5, 0, "  - a: 1\n"}, Cut{Form::kItems, 6, 1, "  - a: 2\n"}));
}

TEST(TextParts, WhatIsNoPlainListStaysWhole) {
  for (const std::string_view text : {
           "apiVersion: v1\nkind: PodList\nitems:\n- a: 1\n- a: 2\n",
           "apiVersion: v1\nkind: List\nitems:\n- a: 1\nitem: 5\n",
           "apiVersion: v1\nkind: List\nkind: List\nitems:\n- a: 1\n",
           "apiVersion: v1\nkind: List\nitems: [a: 1]\n",
           "apiVersion: v1\nkind: List\nitems:\n",
           "items:\n- a: 1\n",
       }) {
    EXPECT_THAT(Cuts(text), ::testing::ElementsAre(Cut{Form::kYaml, 0, 0, std::string(text)})) << text;
  }
}

}  // namespace
}  // namespace berth::input
