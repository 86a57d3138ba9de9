#include "codec/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/json_writer.h"

namespace berth::codec {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Document Parsed(std::string text) {
  Result<Document> document = ParseJson(std::move(text), "ship.json");
  EXPECT_TRUE(document.ok()) << (document.ok() ? "" : document.error().message);
  return document.ok() ? std::move(*document) : Document();
}

std::string ErrorOf(std::string text) {
  Result<Document> document = ParseJson(std::move(text), "f");
  return document.ok() ? "no error" : document.error().message;
}

std::string Compact(const Value& value) {
  std::string out;
  JsonWriter(out).Write(value);
  return out;
}

TEST(ParseJson, KeepsValuesOrderAndExactNumbers) {
  const std::string text =
      R"({"b":1,"a":[true,false,null,-0.5e+10,18446744073709551616,"x\n\"\u00e9\ud83d\ude00"],"c":{},"d":[],"":""})";
  const Document document = Parsed(text);
  EXPECT_EQ(Compact(document.root()),
            "{\"b\":1,\"a\":[true,false,null,-0.5e+10,18446744073709551616,\"x\\n\\\"\u00e9\U0001F600\"],\"c\":{},"
            "\"d\":[],\"\":\"\"}");
  EXPECT_EQ(document.file_name(), "ship.json");
}

TEST(ParseJson, KnowsWhereEverythingStands) {
  const Document document = Parsed("{\n  \"a\\n\": [1, {\n\"\u00e9\u00e9\": \"x\\ny\"}, true],\n\t\"b\": -12.5 }");
  const Member& a = document.root().members()[0];
  EXPECT_EQ(document.root().mark(), (Mark{1, 1}));
  EXPECT_EQ(a.key_mark, (Mark{2, 3}));
  EXPECT_EQ(a.value.mark(), (Mark{2, 10}));
  EXPECT_EQ(a.value.items()[0].mark(), (Mark{2, 11}));
  EXPECT_EQ(a.value.items()[1].mark(), (Mark{2, 14}));
  const Member& inner = a.value.items()[1].members()[0];
  EXPECT_EQ(inner.key_mark, (Mark{3, 1}));
  EXPECT_EQ(inner.value.mark(), (Mark{3, 7}));  // counted in characters, not bytes
  EXPECT_EQ(a.value.items()[2].mark(), (Mark{3, 16}));
  const Member& b = document.root().members()[1];
  EXPECT_EQ(b.key_mark, (Mark{4, 2}));
  EXPECT_EQ(b.value.mark(), (Mark{4, 7}));
}

TEST(ParseJson, SurvivesMovingTheDocument) {
  Document document = Parsed("\"short\"");
  const Document moved = std::move(document);
  EXPECT_EQ(moved.root().text(), "short");
}

TEST(ParseJson, MarksRepeatedKeysInSmallAndLargeObjects) {
  for (const int padding : {0, 100}) {
    std::string text = R"({"k":1,)";
    for (int i = 0; i < padding; ++i) text += "\"p" + std::to_string(i) + "\":0,";
    text += R"("k":2,"k":3})";
    const Document document = Parsed(text);
    const auto members = document.root().members();
    const Member &first = members.front(), &second = members[members.size() - 2], &last = members.back();
    EXPECT_FALSE(first.repeated);
    EXPECT_TRUE(first.superseded);
    EXPECT_TRUE(second.repeated);
    EXPECT_TRUE(second.superseded);
    EXPECT_TRUE(last.repeated);
    EXPECT_FALSE(last.superseded);
    EXPECT_EQ(document.root().Find("k")->text(), "3");
  }
  EXPECT_EQ(Parsed("{}").root().Find("k"), nullptr);
}

TEST(ParseJson, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "f:1:1: expected a JSON value, found nothing"},
      {" \n ", "f:2:2: expected a JSON value, found nothing"},
      {"{\"a\": 1} x", "f:1:10: unexpected text after the JSON value"},
      {"{\"a\": 1}{}", "f:1:9: unexpected text after the JSON value"},
      {"{\n  a: 1}", "f:2:3: expected a quoted field name"},
      {"{\"a\" 1}", "f:1:6: expected ':' after the field name"},
      {"{\"a\": 1 \"b\": 2}", "f:1:9: expected ',' or '}' after the field"},
      {"[1 2]", "f:1:4: expected ',' or ']' after the list item"},
      {"[1,]", "f:1:4: expected a JSON value"},
      {"{\"a\": 1,}", "f:1:9: expected a quoted field name"},
      {"[tru]", "f:1:5: expected a JSON value"},
      {"[01]", "f:1:3: expected ',' or ']' after the list item"},
      {"[1.]", "f:1:4: expected digits after the decimal point"},
      {"[1e]", "f:1:4: expected digits in the exponent"},
      {"[1e999]", "f:1:2: number out of range"},
      {"[\"\\q\"]", "f:1:3: invalid escape"},
      {"[\"a\nb\"]", "f:1:4: invalid escape or control character"},
      {"[\"\\u12x4\"]", "f:1:3: expected four hexadecimal digits"},
      {"[\"\\ud800x\"]", "f:1:3: expected a valid surrogate pair"},
      {"[\"\xff\"]", "f:1:3: invalid UTF-8 in a string"},
      {"[\"\xc3", "f:1:3: invalid UTF-8 in a string"},
      {"[\"\xf0", "f:1:3: invalid UTF-8 in a string"},
      {"[\"abc", "f:1:6: unexpected end of input, expected '\"' at the end of the string"},
      {"{\"a\": [1", "f:1:9: unexpected end of input"},
      {std::string("1\0 2", 4), "f:1:2: unexpected NUL character"},
      {std::string("[\0]", 3), "f:1:2: "},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(ErrorOf(text), StartsWith(message)) << text;
}

TEST(ParseJson, RefusesHostileNesting) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(ErrorOf(nested(kMaxDepth)), "no error");
  EXPECT_THAT(ErrorOf(nested(kMaxDepth + 1)), HasSubstr("nested deeper than 1000 levels"));
  EXPECT_THAT(ErrorOf(std::string(5'000'000, '[')), HasSubstr("nested deeper"));
}

TEST(JsonWriter, WritesCompactAndPretty) {
  const auto write = [](bool pretty) {
    std::string out;
    JsonWriter writer(out, pretty);
    writer.StartObject();
    writer.Key("text");
    writer.String("a\"\n\xff\xc3\xa9");
    writer.Key("numbers");
    writer.StartArray();
    writer.Int64(-5);
    writer.Uint64(18446744073709551615u);
    writer.Double(0.1);
    writer.Double(1e21);
    writer.Double(1.0 / 0.0);
    writer.Number("12.50");
    writer.EndArray();
    writer.Key("none");
    writer.Null();
    writer.Key("empty");
    writer.StartObject();
    writer.EndObject();
    writer.EndObject();
    return out;
  };
  EXPECT_EQ(write(false),
            "{\"text\":\"a\\\"\\n\xEF\xBF\xBD\u00e9\",\"numbers\":[-5,18446744073709551615,0.1,1e+21,null,12.50],"
            "\"none\":null,\"empty\":{}}");
  EXPECT_THAT(write(true), StartsWith("{\n    \"text\": \"a"));
  EXPECT_THAT(write(true), HasSubstr("\"empty\": {}\n}"));
}

}  // namespace
}  // namespace berth::codec
