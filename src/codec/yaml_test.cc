#include "codec/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/json.h"
#include "codec/json_writer.h"
#include "codec/yaml_writer.h"

namespace berth::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Every document of the stream as JSON, or the one error.
std::vector<std::string> Jsons(std::string_view text) {
  Result<std::vector<Document>> documents = ParseYaml(text, "f");
  if (!documents) return {documents.error().message};
  std::vector<std::string> jsons;
  for (const Document& document : *documents) JsonWriter(jsons.emplace_back()).Write(document.root());
  return jsons;
}

std::string Json(std::string_view text) {
  const std::vector<std::string> jsons = Jsons(text);
  EXPECT_EQ(jsons.size(), 1u) << text;
  return jsons.empty() ? "" : jsons.front();
}

TEST(ParseYaml, TypesPlainScalarsAsKubernetesDoes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      // bools
      {"y", "true"},
      {"Y", "true"},
      {"yes", "true"},
      {"Yes", "true"},
      {"YES", "true"},
      {"on", "true"},
      {"On", "true"},
      {"ON", "true"},
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"n", "false"},
      {"N", "false"},
      {"no", "false"},
      {"No", "false"},
      {"NO", "false"},
      {"off", "false"},
      {"Off", "false"},
      {"OFF", "false"},
      {"false", "false"},
      {"False", "false"},
      {"yEs", "\"yEs\""},
      {"tRUE", "\"tRUE\""},
      // nulls
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"", "null"},
      {"nULL", "\"nULL\""},
      // integers
      {"0", "0"},
      {"5", "5"},
      {"-5", "-5"},
      {"+5", "5"},
      {"010", "8"},
      {"0o10", "8"},
      {"-010", "-8"},
      {"0x1F", "31"},
      {"0X1f", "31"},
      {"-0x10", "-16"},
      {"0b101", "5"},
      {"-0b101", "-5"},
      {"1_000", "1000"},
      {"0x_ff", "255"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      // floats
      {"08", "8"},
      {"09.5", "9.5"},
      {"1.0", "1"},
      {"1.", "1"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"+1.5", "1.5"},
      {"1e3", "1000"},
      {"1E3", "1000"},
      {"1e-7", "1e-7"},
      {"1.10", "1.1"},
      {"100e-3", "0.1"},
      {"1_0.5", "10.5"},
      {"18446744073709551616", "18446744073709552000"},
      {"1e21", "1e+21"},
      {"-0.0", "-0"},
      {"123456789012345678901234567890", "1.2345678901234568e+29"},
      // strings
      {"1e999", "\"1e999\""},
      {"0x", "\"0x\""},
      {"0b2", "\"0b2\""},
      {"1.2.3", "\"1.2.3\""},
      {"100m", "\"100m\""},
      {"1Gi", "\"1Gi\""},
      {"12:30:45", "\"12:30:45\""},
      {"2024-01-01", "\"2024-01-01\""},
      {"2001-12-14T21:59:43Z", "\"2001-12-14T21:59:43Z\""},
      {".", "\".\""},
      {"._5", "\"._5\""},
      {"+-5", "\"+-5\""},
      {"1e", "\"1e\""},
      {"<<", "\"<<\""},
      {"=", "\"=\""},
      {"v1", "\"v1\""},
      // quotes make strings
      {"\"5\"", "\"5\""},
      {"'yes'", "\"yes\""},
      {"\"\"", "\"\""},
      {"'~'", "\"~\""},
      // tags
      {"!!str 5", "\"5\""},
      {"!!str yes", "\"yes\""},
      {"!!str", "\"\""},
      {"!!int \"5\"", "5"},
      {"!!int 010", "8"},
      {"!!float 5", "5"},
      {"!!float \"1e3\"", "1000"},
      {"!!bool \"yes\"", "true"},
      {"!!null \"\"", "null"},
      {"!!binary aGVsbG8=", "\"hello\""},
      {"!custom 5", "\"5\""},
      {"! 5", "\"5\""},
      {"!!timestamp 2024-01-01", "\"2024-01-01\""},
  };
  for (const auto& [scalar, json] : cases) {
    EXPECT_EQ(Json("k: " + scalar + "\n"), "{\"k\":" + json + "}") << scalar;
  }
}

TEST(ParseYaml, TurnsKeysIntoText) {
  EXPECT_EQ(Json("1: a\n010: b\n1.50: c\ntrue: d\nno: e\n'2': f\n1e7: g\n2024-01-01: h\n"),
            R"({"1":"a","8":"b","1.5":"c","true":"d","false":"e","2":"f","1e+07":"g","2024-01-01":"h"})");
  EXPECT_EQ(Json("~: a"), "f:1:1: expected a scalar as key, found null");
  EXPECT_EQ(Json("a: 1\n? [x]\n: y"), "f:2:3: expected a scalar as key, found a list");
  EXPECT_EQ(Json("? {x: y}\n: y"), "f:1:3: expected a scalar as key, found a mapping");
}

TEST(ParseYaml, ReadsEveryDocumentWithContent) {
  EXPECT_THAT(Jsons("---\na: 1\n---\n# nothing\n---\n---\nb: 2\n...\n---\nnull\n"),
              ElementsAre(R"({"a":1})", R"({"b":2})", "null"));
  EXPECT_THAT(Jsons(""), IsEmpty());
  EXPECT_THAT(Jsons("# only a comment\n"), IsEmpty());
  EXPECT_EQ(Json("{\"json\": [1, \"two\\/\", {\"x\": null}]}"), R"({"json":[1,"two/",{"x":null}]})");
}

TEST(ParseYaml, KnowsWhereEverythingStands) {
  Result<std::vector<Document>> documents = ParseYaml("a:\n  - x: yes\n    \u00e9: 'q'\n---\nb: |\n  text\n", "f");
  ASSERT_TRUE(documents.ok());
  const Member& a = (*documents)[0].root().members()[0];
  EXPECT_EQ(a.key_mark, (Mark{1, 1}));
  const Value& item = a.value.items()[0];
  EXPECT_EQ(item.mark(), (Mark{2, 5}));
  EXPECT_EQ(item.members()[0].value.mark(), (Mark{2, 8}));
  EXPECT_EQ(item.members()[1].key_mark, (Mark{3, 5}));
  EXPECT_EQ(item.members()[1].value.mark(), (Mark{3, 8}));
  EXPECT_EQ((*documents)[1].root().members()[0].value.mark(), (Mark{5, 4}));
}

TEST(ParseYaml, ResolvesAnchorsAndMergeKeys) {
  EXPECT_EQ(Json("a: &x {p: 1}\nb: *x\nc: [*x, &y 5, *y]\n"), R"({"a":{"p":1},"b":{"p":1},"c":[{"p":1},5,5]})");
  EXPECT_EQ(Json("base: &b {p: 1, q: 2}\nd:\n  <<: *b\n  q: 3\n"), R"({"base":{"p":1,"q":2},"d":{"p":1,"q":3}})");
  EXPECT_EQ(Json("m: &m {p: 1}\nb: &b {p: 2, q: 2}\nd:\n  <<: [*m, *b]\n"),
            R"({"m":{"p":1},"b":{"p":2,"q":2},"d":{"q":2,"p":1}})");
  EXPECT_EQ(Json("d:\n  <<: {p: 1}\n  '<<': 2\n"), R"({"d":{"p":1,"<<":2}})");
  EXPECT_EQ(Json("a: &x [&x 1, *x]\nb: *x\n"), R"({"a":[1,1],"b":1})");
  EXPECT_EQ(Json("- &k key\n- {*k : v}\n"), R"(["key",{"key":"v"}])");
}

TEST(ParseYaml, MarksWhatAMergeOverridesAsRepeated) {
  Result<std::vector<Document>> documents = ParseYaml("<<: {p: 1}\np: 2\n", "f");
  ASSERT_TRUE(documents.ok());
  const auto members = (*documents)[0].root().members();
  ASSERT_EQ(members.size(), 2u);
  EXPECT_TRUE(members[0].superseded);
  EXPECT_TRUE(members[1].repeated);
}

TEST(ParseYaml, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a: 1\n b: 2\n", "f:2:3: mapping values are not allowed in this context"},
      {"a: [1, 2\nb: 3\n", "f:2:"},
      {"a:\n\tb: 1\n", "f:2:1: found character that cannot start any token"},
      {"a: *nobody\n", "f:1:4: unknown anchor 'nobody'"},
      {"a: &x [*x]\n", "f:1:8: anchor 'x' contains itself"},
      {"a: !!int ship\n", "f:1:4: cannot read !!str `ship` as !!int"},
      {"a: !!bool 5\n", "f:1:4: cannot read !!int `5` as !!bool"},
      {"a: !!timestamp ship\n", "f:1:4: cannot read !!str `ship` as !!timestamp"},
      {"a: !!binary '*'\n", "f:1:4: expected base64 text after !!binary"},
      {"a: .inf\n", "f:1:4: .inf is not a number that JSON can hold"},
      {"a: .NaN\n", "f:1:4: .NaN is not a number"},
      {"<<: 5\n", "f:1:5: expected a mapping or a list of mappings to merge, found number 5"},
      {"<<: [{a: 1}, x]\n", "f:1:5: expected a mapping or a list of mappings to merge"},
      {"a: &l [{p: 1}]\nb:\n  <<: *l\n", "f:3:7: expected a mapping or a list of mappings to merge, found a list"},
      {"a: 1\nb: \"\xff\"\n", "f:2:5: invalid leading UTF-8 octet"},
      {std::string("a: 1\nb: \"\0\"\n", 11), "f:2:5: control characters are not allowed"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(Jsons(text), ElementsAre(StartsWith(message))) << text;
  EXPECT_THAT(Json("a:\n\tb: 1\n"), HasSubstr("tabs cannot indent"));
}

TEST(ParseYaml, RefusesBillionLaughs) {
  std::string laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) laughs += below + (k < 9 ? ", " : "]\n");
  }
  EXPECT_THAT(Json(laughs), HasSubstr("grows out of proportion by its aliases"));
}

TEST(ParseYaml, RefusesHostileNesting) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_THAT(Json(nested(100'000)), HasSubstr("nested deeper"));
  // Aliases add up to depth, too.
  EXPECT_THAT(Json("a: &a " + nested(600) + "\nb: " + std::string(600, '[') + "*a" + std::string(600, ']')),
              HasSubstr("nested deeper"));
}

TEST(EncodeYaml, WritesAsKubectlDoes) {
  Result<Document> document = ParseJson(R"({"b": [{"y": 1, "x": "two"}, [1, 2], "s", []], "a": {"k": {}, "m": null},
    "quoted": ["yes", "5", "", "a: b", " x", "#c", "caf\u00e9", "1e3", "~", "12:30", "-", "--- x", "x:"],
    "plain": ["-v", "--v=5", "a/b", "100m", "k8s.io/x", "a:b"], "text": "one\n  two\n\nthree\n", "cut": "one\ntwo",
    "1": true})",
                                        "f");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(EncodeYaml(document->root()), R"("1": true
a:
  k: {}
  m: null
b:
- x: two
  "y": 1
- - 1
  - 2
- s
- []
cut: |-
  one
  two
plain:
- -v
- --v=5
- a/b
- 100m
- k8s.io/x
- a:b
quoted:
- "yes"
- "5"
- ""
- 'a: b'
- ' x'
- '#c'
- "café"
- "1e3"
- "~"
- "12:30"
- '-'
- '--- x'
- 'x:'
text: |
  one
    two

  three
)");
}

TEST(EncodeYaml, ReadsBackTheSame) {
  std::string strings;
  for (const char* text : {"",
                           " ",
                           "\\n",
                           "a\\n",
                           "\\na",
                           "a\\n\\n",
                           " a\\nb",
                           "a \\n b ",
                           "\\ta\\tb",
                           "a\\r\\nb",
                           "'",
                           "\\\"",
                           "\\\\",
                           "\\u0000",
                           "\\u007f",
                           "\\u0085",
                           "\\u2028",
                           "\\ufeff",
                           "\\ud83d\\ude00",
                           "- a",
                           "? a",
                           ": a",
                           "{}",
                           "[]",
                           "a, b",
                           "&a",
                           "*a",
                           "!a",
                           "|",
                           ">",
                           "%a",
                           "@a",
                           "`a",
                           "<<",
                           "=",
                           "0x1F",
                           "1_000",
                           "2024-01-01",
                           "...",
                           "a #b",
                           "a: b",
                           "a:",
                           "null",
                           "off",
                           "a\\n---\\nb",
                           "a\\n#b"}) {
    strings += (strings.empty() ? "\"" : ",\"") + std::string(text) + "\"";
  }
  const std::string long_key(300, 'k');
  const std::vector<std::string> jsons = {
      "[" + strings + "]",
      "{\"list\":[" + strings + "],\"x\":{\"" + long_key + "\":{\"a\":1},\"" + long_key + "z\":[1]}}",
      R"({"":[[[]],{},{"a":[{"b":{"c":[]}}]}],"a b":"x","n":[1.5,-10000000000000000000,true,null]})",
      R"("top\nlevel")",
      "[]",
      "5",
  };
  for (const std::string& json : jsons) {
    Result<Document> document = ParseJson(json, "f");
    ASSERT_TRUE(document.ok()) << document.error().message;
    std::string canonical;
    JsonWriter(canonical).Write(document->root());
    const std::string yaml = EncodeYaml(document->root());
    EXPECT_EQ(Json(yaml), canonical) << yaml;
  }
}

}  // namespace
}  // namespace berth::codec
