#include "config/yaml_text.h"

#include <gtest/gtest.h>

#include "codec/json.h"
#include "codec/yaml.h"

namespace berth::config {
namespace {

std::string Print(std::string json) {
  const auto document = codec::ParseJson(std::move(json), "");
  return document ? ToYaml(document->root()) : document.error().message;
}

TEST(ToYaml, LaysOutAsKubernetesDoes) {
  EXPECT_EQ(Print(R"({"b":[{"y":1,"x":[]},[1,[2]]],"a":{"c":{}},"n":null})"),
            "a:\n  c: {}\nb:\n- x: []\n  \"y\": 1\n- - 1\n  - - 2\n\"n\": null\n");
}

TEST(ToYaml, QuotesOnlyWhereNeeded) {
  struct Case {
    const char* json;
    const char* yaml;
  } cases[] = {
      {R"("")", "\"\"\n"},          {R"("*")", "'*'\n"},         {R"("yes")", "\"yes\"\n"},
      {R"("10")", "\"10\"\n"},      {R"("a b")", "a b\n"},       {R"("a: b")", "'a: b'\n"},
      {R"("a:b")", "a:b\n"},        {R"("it's")", "it's\n"},     {R"("'q")", "'''q'\n"},
      {R"("a #b")", "'a #b'\n"},    {R"("- a")", "'- a'\n"},     {R"("-a")", "-a\n"},
      {R"("a\nb")", "\"a\\nb\"\n"}, {R"("null")", "\"null\"\n"}, {R"("http://x/")", "http://x/\n"},
      {R"("x:")", "'x:'\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Print(c.json), c.yaml) << c.json;
    const auto again = codec::ParseYaml(Print(c.json), "");
    ASSERT_TRUE(again.ok() && again->size() == 1) << c.json;
    EXPECT_TRUE(again->front().root().is_string()) << c.json;
  }
}

}  // namespace
}  // namespace berth::config
