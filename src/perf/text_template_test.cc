#include "perf/text_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::perf {
namespace {

using ::testing::HasSubstr;

std::string Expand(std::string_view text, int64_t index = 7, int64_t count = 20) {
  const Result<TextTemplate> parsed = TextTemplate::Parse(text, "pod.yaml");
  if (!parsed) return parsed.error().message;
  const Result<std::string> expanded = parsed->Expand(index, count);
  return expanded ? *expanded : expanded.error().message;
}

TEST(TextTemplate, ExpandsWhatUpstreamsTemplatesUse) {
  const std::pair<const char*, const char*> kTable[] = {
      {"", ""},
      {"name: web", "name: web"},
      {"pod-{{.Index}}", "pod-7"},
      {"pod-{{ .Index }}-of-{{ .Count }}!", "pod-7-of-20!"},
      {"8{{ Mod .Index 3 }}", "81"},
      {"{{DivideInt .Index 5}}", "1"},
      {"{{ DivideInt 30000 .Count }}Mi", "1500Mi"},
      {"{{DivideFloat .Index 2}}", "3.5"},
      {"{{DivideFloat 8 2}}", "4"},
      {"{{AddInt .Index 1 2}} {{SubtractInt .Index 10}} {{MultiplyInt .Index 2}}", "10 -3 14"},
      {"{{AddFloat .Index 0.5}} {{SubtractFloat 1 .25}} {{MultiplyFloat 0.5 3}}", "7.5 0.75 1.5"},
      {"{{ Mod (AddInt .Index 1) 5 }}", "3"},
      {"{{ .Index | Mod 20 }}", "6"},
      {"a  {{- .Index -}}  b", "a7b"},
      {"a{{/* nothing to see */}}b", "ab"},
  };
  for (const auto& [text, expanded] : kTable) EXPECT_EQ(Expand(text), expanded) << text;
}

TEST(TextTemplate, KnowsWhenAllObjectsAreAlike) {
  EXPECT_TRUE(TextTemplate::Parse("name: web", "f")->is_constant());
  EXPECT_FALSE(TextTemplate::Parse("name: web-{{.Index}}", "f")->is_constant());
}

TEST(TextTemplate, NamesFileLineAndConstructOfWhatItCannotDo) {
  const std::tuple<const char*, const char*, const char*> kTable[] = {
      {"a\n{{ if .Index }}x{{ end }}", "pod.yaml:2: ", "\"if\""},
      {"{{ range .Things }}", "pod.yaml:1: ", "\"range\""},
      {"\n\n{{ .Name }}", "pod.yaml:3: ", "\".Name\""},
      {"{{ printf \"%d\" .Index }}", "pod.yaml:1: ", "\"printf\""},
      {"{{ Mod .Index }}", "pod.yaml:1: ", "Mod with 1 arguments instead of 2"},
      {"{{ }}", "pod.yaml:1: ", "an empty expression"},
      {"{{ (.Index }}", "pod.yaml:1: ", "{{ (.Index }}"},
      {"{{ .Index .Count }}", "pod.yaml:1: ", "\".Count \""},
      {"a\n{{ .Index", "pod.yaml:2: ", "without \"}}\""},
      {"x\n{{ Mod .Index 0 }}", "pod.yaml:2: ", "division by zero"},
  };
  for (const auto& [text, where, what] : kTable) {
    EXPECT_THAT(Expand(text), ::testing::AllOf(::testing::StartsWith(where), HasSubstr(what))) << text;
  }
}

}  // namespace
}  // namespace berth::perf
