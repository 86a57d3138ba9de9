// String functions, patterns, literals, format().
// Outcomes and costs are those of kube-scheduler v1.36.4.
#include "cel/testing/judge.h"

namespace berth::cel {
namespace {

TEST(CelStrings, Unicode) {
  constexpr JudgedExpression kRows[] = {
      {"\"größe\".size() == 5", "true", 2},
      {"\"a😀b\".size() == 3", "true", 2},
      {"\"größe\".charAt(2) == \"ö\"", "true", 2},
      {"\"größe\".charAt(5) == \"\"", "true", 1},
      {"\"größe\".charAt(6) == \"\"", "runtime: index out of range: 6", 1},
      {"\"größe\".charAt(-1) == \"\"", "runtime: index out of range: -1", 1},
      {"\"a😀b\".indexOf(\"b\") == 2", "true", 1},
      {"\"größe\".lastIndexOf(\"e\") == 4", "true", 1},
      {"\"größe\".substring(1, 3) == \"rö\"", "true", 2},
      {"\"größe\".upperAscii() == \"GRößE\"", "true", 2},
      {"\"GRÖßE\".lowerAscii() == \"grÖße\"", "true", 2},
      {"\"a😀b\".split(\"\") == [\"a\", \"😀\", \"b\"]", "true", 2},
      {"\"größe\".replace(\"\", \"-\") == \"-g-r-ö-ß-e-\"", "true", 3},
      {"\" x \".trim() == \"x\"", "true", 2},
      {"\"é\" < \"f\"", "false", 1},
      {"\"😀\".startsWith(\"😀\")", "true", 1},
      {"\"größe\".contains(\"öß\")", "true", 1},
  };
  ExpectJudged(kRows);
}

TEST(CelStrings, Searching) {
  constexpr JudgedExpression kRows[] = {
      {"\"abcabc\".indexOf(\"c\") == 2", "true", 1},
      {"\"abcabc\".indexOf(\"c\", 3) == 5", "true", 1},
      {"\"abcabc\".indexOf(\"\", 4) == 4", "true", 1},
      {"\"abcabc\".indexOf(\"x\") == -1", "true", 1},
      {"\"abc\".indexOf(\"a\", 10) == -1", "true", 1},
      {"\"abc\".indexOf(\"a\", -1) == 0", "runtime: index out of range: -1", 1},
      {"\"abcabc\".lastIndexOf(\"c\") == 5", "true", 1},
      {"\"abcabc\".lastIndexOf(\"c\", 4) == 2", "true", 1},
      {"\"abc\".lastIndexOf(\"\") == 3", "true", 1},
      {"\"abc\".lastIndexOf(\"abcd\") == -1", "true", 1},
      {"\"abc\".lastIndexOf(\"c\", 5) == -1", "true", 1},
      {"\"abc\".lastIndexOf(\"a\", -1) == 0", "runtime: index out of range: -1", 1},
      {"\"\".lastIndexOf(\"a\") == -1", "true", 1},
      {"\"abc\".substring(4) == \"\"", "runtime: index out of range: 4", 1},
      {"\"abc\".substring(2, 1) == \"\"", "runtime: invalid substring range. start: 2, end: 1", 1},
      {"\"abc\".substring(1, 9) == \"\"", "runtime: index out of range: 9", 1},
      {"\"abc\".substring(3) == \"\"", "true", 1},
  };
  ExpectJudged(kRows);
}

TEST(CelStrings, ReplaceSplitJoin) {
  constexpr JudgedExpression kRows[] = {
      {"\"aaa\".replace(\"a\", \"b\") == \"bbb\"", "true", 2},
      {"\"aaa\".replace(\"a\", \"b\", 2) == \"bba\"", "true", 2},
      {"\"aaa\".replace(\"a\", \"b\", 0) == \"aaa\"", "true", 2},
      {"\"aaa\".replace(\"a\", \"b\", -1) == \"bbb\"", "true", 2},
      {"\"abc\".replace(\"\", \"x\", 2) == \"xaxbc\"", "true", 2},
      {"\"a,b,c\".split(\",\") == [\"a\", \"b\", \"c\"]", "true", 2},
      {"\"a,b,c\".split(\",\", 2) == [\"a\", \"b,c\"]", "true", 2},
      {"\"a,b,c\".split(\",\", 0) == []", "true", 1},
      {"\"a,b,c\".split(\",\", 1) == [\"a,b,c\"]", "true", 2},
      {"\"\".split(\",\") == [\"\"]", "true", 1},
      {"\"\".split(\"\") == []", "true", 0},
      {"[\"a\", \"b\"].join() == \"ab\"", "true", 2},
      {"[\"a\", \"b\"].join(\"-\") == \"a-b\"", "true", 2},
      {"[].join(\"-\") == \"\"", "true", 0},
      {"dyn([\"a\", 1]).join(\"-\") == \"a-1\"",
       "compile: compilation failed: ERROR: <input>:1:11: expected type 'string' but found 'int'\n | dyn([\"a\", "
       "1]).join(\"-\") == \"a-1\"\n | ..........^",
       0},
      {"[1].join(\"-\") == \"1\"",
       "compile: compilation failed: ERROR: <input>:1:9: found no matching overload for 'join' applied to "
       "'list(int).(string)'\n | [1].join(\"-\") == \"1\"\n | ........^",
       0},
  };
  ExpectJudged(kRows);
}

TEST(CelStrings, Regex) {
  constexpr JudgedExpression kRows[] = {
      {"\"abc123\".matches(\"[0-9]+$\")", "true", 2},
      {"\"abc\".matches(\"^b\")", "false", 1},
      {"\"abc\".matches(\"(\")",
       "compile: compilation failed: ERROR: <input>:1:15: invalid matches argument\n | \"abc\".matches(\"(\")\n | "
       "..............^",
       0},
      {"matches(\"abc\", \"b\")", "true", 1},
      {"matches(\"(\", \"b\")",
       "compile: compilation failed: ERROR: <input>:1:9: invalid matches argument\n | matches(\"(\", \"b\")\n | "
       "........^",
       0},
      {"\"ab12cd34\".find(\"[0-9]+\") == \"12\"", "true", 3},
      {"\"abc\".find(\"[0-9]\") == \"\"", "true", 2},
      {"\"ab12cd34\".findAll(\"[0-9]+\") == [\"12\", \"34\"]", "true", 3},
      {"\"ab12cd34\".findAll(\"[0-9]+\", 1) == [\"12\"]", "true", 3},
      {"\"ab12cd34\".findAll(\"[0-9]+\", 0) == []", "true", 2},
      {"\"abc\".findAll(\"x*\") == [\"\", \"\", \"\", \"\"]", "true", 2},
      {"\"baac\".findAll(\"a*\") == [\"\", \"aa\", \"\"]", "true", 2},
      {"\"größe\".findAll(\".\") == [\"g\", \"r\", \"ö\", \"ß\", \"e\"]", "true", 2},
      {"\"a\".find(\"[\") == \"\"",
       "program: program instantiation failed: error parsing regexp: missing closing ]: `[`", 0},
      {"\"a\".find(device.driver + \"(\") == \"\"",
       "runtime: Illegal regex: error parsing regexp: missing closing ): `gpu.example.com(`", 8},
      {"device.attributes[\"gpu.example.com\"].model.matches(\"^A100.*GB$\")", "true", 10},
      {"device.attributes[\"gpu.example.com\"].numa.matches(\"1\")", "runtime: no such overload", 5},
      {"\"a\".matches(\"\\\\pN|a\")", "true", 2},
      {"\"A\".matches(\"(?i)a\")", "true", 2},
      {"\"a\".matches(\"a{1001}\")",
       "compile: compilation failed: ERROR: <input>:1:13: invalid matches argument\n | \"a\".matches(\"a{1001}\")\n | "
       "............^",
       0},
      {"\"a\".matches(\"(?P<n>a)\")", "true", 2},
  };
  ExpectJudged(kRows);
}

TEST(CelStrings, Quote) {
  constexpr JudgedExpression kRows[] = {
      {"strings.quote(\"a\\n\\\"b\\\"\") == \"\\\"a\\\\n\\\\\\\"b\\\\\\\"\\\"\"", "true", 2},
      {"strings.quote(\"é\") == \"\\\"é\\\"\"", "true", 2},
      {"strings.quote(\"\\a\\b\\f\\r\\t\\v\\\\\") == \"x\"", "false", 2},
  };
  ExpectJudged(kRows);
}

TEST(CelStrings, Literals) {
  constexpr JudgedExpression kRows[] = {
      {"\"\\x41\\u00e9\\U0001F600\\101\" == \"Aé😀A\"", "true", 1},
      {"'a\"b' == \"a\\\"b\"", "true", 1},
      {"\"\"\"a\nb\"\"\" == \"a\\nb\"", "true", 1},
      {"r'a\\d' == 'a\\\\d'", "true", 1},
      {"b\"\\xff\\377\" == b\"\\377\\xff\"", "true", 1},
      {"R\"\\n\".size() == 2", "true", 2},
      {"b'''é''' == bytes(\"é\")", "true", 1},
      {"\"\\?\" == \"?\"", "true", 1},
      {"\"\\`\" == \"`\"", "true", 1},
      {"0x1F == 31 && 0xffu == 255u && -0x10 == -16", "true", 3},
      {".5 == 0.5 && 1e3 == 1000.0 && 1.5E-1 == 0.15", "true", 3},
      {"\"\\ud800\" == \"\"",
       "compile: compilation failed: ERROR: <input>:1:1: invalid unicode code point\n | \"\\ud800\" == \"\"\n | ^", 0},
      {"1 == 1 // comment\n && true", "true", 1},
      {"[1, 2,] == [1, 2] && {\"a\": 1,} == {\"a\": 1}", "true", 2},
  };
  ExpectJudged(kRows);
}

TEST(CelStrings, Format) {
  constexpr JudgedExpression kRows[] = {
      {"\"%s %d\".format([\"a\", 1]) == \"a 1\"", "true", 2},
      {"\"%%\".format([]) == \"%\"", "true", 2},
      {"\"%s\".format([1.5]) == \"1.5\"", "true", 2},
      {"\"%s\".format([true]) == \"true\"", "true", 2},
      {"\"%s\".format([null]) == \"null\"", "true", 2},
      {"\"%s\".format([[1, \"a\", 2.5]]) == \"[1, \\\"a\\\", 2.500000]\"", "true", 3},
      {"\"%s\".format([{\"b\": 1, \"a\": [true]}]) == \"{\\\"a\\\":[true], \\\"b\\\":1}\"", "true", 3},
      {"\"%s\".format([timestamp(\"2024-01-01T00:00:00Z\")]) == \"2024-01-01T00:00:00Z\"", "true", 3},
      {"\"%s\".format([[duration(\"90s\")]]) == \"[duration(\\\"90s\\\")]\"", "true", 3},
      {"\"%s\".format([int]) == \"int\"", "true", 2},
      {"\"%s\".format([b\"ab\"]) == \"ab\"", "true", 2},
      {"\"%d %d\".format([-5, 5u]) == \"-5 5\"", "true", 2},
      {"\"%x %X %x %x\".format([255, 255, \"ab\", b\"\\xff\"]) == \"ff FF 6162 ff\"", "true", 4},
      {"\"%b %b %b\".format([5, true, -5]) == \"101 1 -101\"", "true", 2},
      {"\"%o\".format([8]) == \"10\"", "true", 2},
      {"\"%f\".format([1234.5]) == \"1,234.500000\"", "true", 3},
      {"\"%.2f\".format([-1234567.891]) == \"-1,234,567.89\"", "true", 3},
      {"\"%e\".format([1234.5]) == \"1.234500×10⁰³\"", "true", 3},
      {"\"%.20e\".format([0.1]) == \"      1.000000×10⁻⁰¹\"", "true", 3},
      {"\"%f %f\".format([\"NaN\", \"-Infinity\"]) == \"NaN -∞\"", "true", 2},
      {"\"%d\".format([1.5]) == \"1\"",
       "compile: compilation failed: ERROR: <input>:1:14: error during formatting: decimal clause can only be used on "
       "integers, was given double\n | \"%d\".format([1.5]) == \"1\"\n | .............^",
       0},
      {"\"%s\".format([]) == \"\"",
       "compile: compilation failed: ERROR: <input>:1:12: index 0 out of range\n | \"%s\".format([]) == \"\"\n | "
       "...........^",
       0},
      {"\"%s\".format([1, 2]) == \"1\"",
       "compile: compilation failed: ERROR: <input>:1:12: too many arguments supplied to string.format (expected 1, "
       "got 2)\n | \"%s\".format([1, 2]) == \"1\"\n | ...........^",
       0},
      {"\"%z\".format([1]) == \"\"",
       "compile: compilation failed: ERROR: <input>:1:12: could not parse formatting clause: unrecognized formatting "
       "clause \"z\"\n | \"%z\".format([1]) == \"\"\n | ...........^",
       0},
      {"\"%\".format([1]) == \"\"",
       "compile: compilation failed: ERROR: <input>:1:11: unexpected end of string\n | \"%\".format([1]) == \"\"\n | "
       "..........^",
       0},
      {"\"%.f\".format([1.0]) == \"\"",
       "compile: compilation failed: ERROR: <input>:1:13: could not parse formatting clause: error while parsing "
       "precision: error while converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax\n | "
       "\"%.f\".format([1.0]) == \"\"\n | ............^",
       0},
      {"\"%s\".format([optional.of(1)]) == \"\"",
       "compile: compilation failed: ERROR: <input>:1:25: error during formatting: string clause can only be used on "
       "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type\n "
       "| \"%s\".format([optional.of(1)]) == \"\"\n | ........................^",
       0},
      {"\"%d\".format([device.attributes[\"gpu.example.com\"].numa]) == \"1\"",
       "compile: compilation failed: ERROR: <input>:1:50: error during formatting: decimal clause can only be used on "
       "integers, was given google.protobuf.Any\n | \"%d\".format([device.attributes[\"gpu.example.com\"].numa]) == "
       "\"1\"\n | .................................................^",
       0},
      {"\"%d\".format([dyn(\"a\")]) == \"1\"",
       "runtime: error during formatting: decimal clause can only be used on integers, was given string", 2},
      {"device.driver.format([]) == \"gpu.example.com\"", "true", 6},
  };
  ExpectJudged(kRows);
}

}  // namespace
}  // namespace berth::cel
