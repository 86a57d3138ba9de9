// Operators, equality, conversions, indexing.
// Outcomes and costs are those of kube-scheduler v1.36.4.
#include "cel/testing/judge.h"

namespace berth::cel {
namespace {

TEST(CelOperators, CrossTypeNumbers) {
  constexpr JudgedExpression kRows[] = {
      {"1 < 1.5", "true", 1},
      {"1u < 2", "true", 1},
      {"2.5 > 2u", "true", 1},
      {"-1 < 0u", "true", 1},
      {"9223372036854775807 < 9223372036854775808u", "true", 1},
      {"9223372036854775807 < 9223372036854775807.0", "false", 1},
      {"18446744073709551615u > 1.0e18", "true", 1},
      {"dyn(1) == dyn(1.0)", "true", 1},
      {"dyn(1u) == dyn(1)", "true", 1},
      {"dyn(1.5) == dyn(1)", "false", 1},
      {"1 == 1.0",
       "compile: compilation failed: ERROR: <input>:1:3: found no matching overload for '_==_' applied to '(int, "
       "double)'\n | 1 == 1.0\n | ..^",
       0},
      {"dyn(1) in [1.0, 2.0]", "true", 0},
      {"device.attributes[\"gpu.example.com\"].numa == 1.0", "true", 5},
      {"device.attributes[\"gpu.example.com\"].numa in [1.0]", "true", 4},
      {"{1: \"a\"}[dyn(1.0)] == \"a\"", "true", 3},
      {"{1u: \"a\"}[dyn(1)] == \"a\"", "true", 3},
      {"{1: \"a\"}[dyn(1.5)] == \"a\"", "runtime: no such key: 1.5", 3},
      {"[1, 2][dyn(1.0)] == 2", "true", 3},
      {"[1, 2][dyn(0.5)] == 2", "runtime: unsupported index value 0.5 in list", 3},
      {"double(\"NaN\") == double(\"NaN\")", "false", 1},
      {"double(\"NaN\") < 1.0", "runtime: NaN values cannot be ordered", 1},
      {"[double(\"NaN\")] == [double(\"NaN\")]", "false", 1},
  };
  ExpectJudged(kRows);
}

TEST(CelOperators, Arithmetic) {
  constexpr JudgedExpression kRows[] = {
      {"9223372036854775807 + 1 > 0", "runtime: integer overflow", 2},
      {"-9223372036854775808 - 1 < 0", "runtime: integer overflow", 2},
      {"-(-9223372036854775808) > 0", "runtime: integer overflow", 2},
      {"9223372036854775807 * 2 > 0", "runtime: integer overflow", 2},
      {"7 / 2 == 3 && -7 / 2 == -3", "true", 4},
      {"-7 % 3 == -1", "true", 2},
      {"1 / 0 == 1", "runtime: division by zero", 2},
      {"1 % 0 == 1", "runtime: modulus by zero", 2},
      {"1u - 2u == 0u", "runtime: unsigned integer overflow", 2},
      {"18446744073709551615u + 1u == 0u", "runtime: unsigned integer overflow", 2},
      {"1.0 / 0.0 == double(\"inf\")", "true", 2},
      {"0.0 / 0.0 != 0.0", "true", 2},
      {"\"a\" + \"b\" == \"ab\"", "true", 2},
      {"b\"a\" + b\"b\" == b\"ab\"", "true", 2},
      {"[1] + [2] == [1, 2]", "true", 2},
      {"dyn(1) + dyn(\"a\") == 1", "runtime: no such overload", 2},
      {"dyn(true) + dyn(1) == 1", "runtime: no such overload: _+_", 2},
      {"dyn(\"a\") * dyn(2) == \"aa\"", "runtime: no such overload", 2},
      {"-dyn(\"a\") == 1", "runtime: no such overload", 2},
      {"-dyn(true) == 1", "runtime: no such overload", 2},
      {"timestamp(\"2024-01-01T00:00:00Z\") + duration(\"24h\") == timestamp(\"2024-01-02T00:00:00Z\")", "true", 2},
      {"timestamp(\"2024-01-01T00:00:00Z\") - timestamp(\"2023-12-31T23:00:00Z\") == duration(\"1h\")", "true", 2},
      {"timestamp(\"9999-12-31T23:59:59Z\") + duration(\"1s\") > timestamp(0)", "runtime: timestamp overflow", 2},
      {"timestamp(\"9999-12-31T23:59:59Z\") - timestamp(\"0001-01-01T00:00:00Z\") > duration(\"1s\")",
       "runtime: integer overflow", 2},
      {"duration(\"2562047h\") + duration(\"2562047h\") > duration(\"1s\")", "runtime: integer overflow", 2},
  };
  ExpectJudged(kRows);
}

TEST(CelOperators, ErrorAbsorption) {
  constexpr JudgedExpression kRows[] = {
      {"1 / 0 > 0 || true", "true", 2},
      {"true || 1 / 0 > 0", "true", 0},
      {"1 / 0 > 0 && false", "false", 2},
      {"false && 1 / 0 > 0", "false", 0},
      {"1 / 0 > 0 || false", "runtime: division by zero", 2},
      {"1 / 0 > 0 && true", "runtime: division by zero", 2},
      {"1 / 0 > 0 || 1 % 0 > 0", "runtime: division by zero", 4},
      {"dyn(1) || true", "true", 0},
      {"dyn(1) || false", "runtime: no such overload", 0},
      {"dyn(1) && dyn(\"a\")", "runtime: no such overload", 0},
      {"[1, 0].all(x, 1 / x > 0)", "runtime: division by zero", 13},
      {"[0, 2].all(x, 1 / x > 0)", "false", 13},
      {"[0, 1].exists(x, 1 / x == 1)", "true", 15},
      {"[0, 2].exists(x, 1 / x == 1)", "runtime: division by zero", 15},
      {"[0, 1].exists_one(x, 1 / x == 1)", "runtime: division by zero", 10},
      {"true ? true : 1 / 0 > 0", "true", 0},
      {"1 / 0 > 0 ? true : false", "runtime: division by zero", 2},
      {"!dyn(\"a\")", "runtime: no such overload", 1},
  };
  ExpectJudged(kRows);
}

TEST(CelOperators, EqualityAcrossTypes) {
  constexpr JudgedExpression kRows[] = {
      {"dyn(1) == dyn(\"1\")", "false", 1},
      {"dyn(1) != dyn(\"1\")", "true", 1},
      {"device.attributes[\"gpu.example.com\"].driverVersion == \"1.2.3-rc.1\"", "runtime: no such overload", 5},
      {"device.attributes[\"gpu.example.com\"].driverVersion != \"1.2.3-rc.1\"", "true", 5},
      {"\"1.2.3-rc.1\" == device.attributes[\"gpu.example.com\"].driverVersion", "false", 5},
      {"device.capacity[\"gpu.example.com\"].memory == quantity(\"40Gi\")", "true", 6},
      {"quantity(\"2\") == quantity(\"1\").add(1)", "runtime: no such overload", 4},
      {"quantity(\"1\").add(1) == quantity(\"2\")", "true", 4},
      {"quantity(\"1\").add(1) == quantity(\"1\").add(1)", "runtime: no such overload", 5},
      {"[quantity(\"1\")] == [quantity(\"0\").add(1)]", "true", 24},
      {"ip(\"1.2.3.4\") == dyn(1)", "runtime: no such overload", 2},
      {"null == null", "true", 1},
      {"dyn(null) == dyn(1)", "false", 1},
      {"optional.of(1) == optional.of(1)", "true", 3},
      {"optional.none() == optional.of(1)", "false", 3},
      {"{\"a\": 1} == {\"a\": 1}", "true", 1},
      {"{\"a\": 1} == {\"b\": 1}", "false", 1},
      {"{\"a\": [1, 2]} == {\"a\": [1, 2]}", "true", 1},
      {"[[1], [2]] == [[1], [2]]", "true", 1},
      {"type(1) == type(2)", "true", 1},
      {"type(1) == type(\"a\")", "false", 1},
      {"b\"a\" == b\"a\"", "true", 1},
      {"true > false", "true", 1},
  };
  ExpectJudged(kRows);
}

TEST(CelOperators, Conversions) {
  constexpr JudgedExpression kRows[] = {
      {"string(1.5) == \"1.5\"", "true", 1},
      {"string(1e21) == \"1e+21\"", "true", 1},
      {"string(123456.0) == \"123456\"", "true", 1},
      {"string(1234567.0) == \"1.234567e+06\"", "true", 2},
      {"string(0.00001) == \"1e-05\"", "true", 1},
      {"string(-0.0) == \"-0\"", "true", 1},
      {"string(duration(\"1h30m\")) == \"5400s\"", "true", 1},
      {"string(duration(\"1.5s\")) == \"1.5s\"", "true", 1},
      {"string(timestamp(\"2024-01-01T01:00:00.5+01:00\")) == \"2024-01-01T01:00:00.5+01:00\"", "true", 3},
      {"string(b\"abc\") == \"abc\"", "true", 1},
      {"string(b\"\\xff\") == \"x\"",
       "program: program instantiation failed: invalid UTF-8 in bytes, cannot convert to string", 0},
      {"int(\"-12\") == -12", "true", 1},
      {"int(\"1.5\") == 1", "program: program instantiation failed: type conversion error from 'string' to 'int'", 0},
      {"int(1.9) == 1", "true", 1},
      {"int(-1.9) == -1", "true", 1},
      {"int(1e19) == 1", "program: program instantiation failed: integer overflow", 0},
      {"int(timestamp(\"1970-01-01T00:01:00Z\")) == 60", "true", 1},
      {"int(duration(\"1s\")) == 1000000000", "true", 1},
      {"uint(-1) == 0u", "program: program instantiation failed: unsigned integer overflow", 0},
      {"uint(\"5\") == 5u", "true", 1},
      {"uint(1.9) == 1u", "true", 1},
      {"double(\"1e3\") == 1000.0", "true", 1},
      {"double(\"0x1p-2\") == 0.25", "true", 1},
      {"double(\"infinity\") > 1.0", "true", 1},
      {"bool(\"t\") && bool(\"TRUE\") && bool(\"1\")", "true", 0},
      {"bool(\"yes\")", "program: program instantiation failed: type conversion error from 'string' to 'bool'", 0},
      {"bytes(\"é\") == b\"\\xc3\\xa9\"", "true", 1},
      {"type(device) == map", "true", 3},
      {"string(type(1)) == \"int\"",
       "compile: compilation failed: ERROR: <input>:1:7: found no matching overload for 'string' applied to "
       "'(type(int))'\n | string(type(1)) == \"int\"\n | ......^",
       0},
      {"string(int) == \"int\"",
       "compile: compilation failed: ERROR: <input>:1:7: found no matching overload for 'string' applied to "
       "'(type(int))'\n | string(int) == \"int\"\n | ......^",
       0},
      {"duration(\"1h1m1s1ms1us1ns\") == duration(\"3661.001001001s\")", "true", 1},
      {"duration(\"1d\") == duration(\"24h\")",
       "compile: compilation failed: ERROR: <input>:1:10: invalid duration argument\n | duration(\"1d\") == "
       "duration(\"24h\")\n | .........^",
       0},
      {"duration(1) == duration(\"1s\")",
       "compile: compilation failed: ERROR: <input>:1:10: invalid duration argument\n | duration(1) == "
       "duration(\"1s\")\n | .........^",
       0},
      {"timestamp(\"2024-02-30T00:00:00Z\") > timestamp(0)",
       "compile: compilation failed: ERROR: <input>:1:11: invalid timestamp argument\n | "
       "timestamp(\"2024-02-30T00:00:00Z\") > timestamp(0)\n | ..........^",
       0},
      {"string(quantity(\"1\")) == \"1\"",
       "compile: compilation failed: ERROR: <input>:1:7: found no matching overload for 'string' applied to "
       "'(kubernetes.Quantity)'\n | string(quantity(\"1\")) == \"1\"\n | ......^",
       0},
      {"string(ip(\"::1\")) == \"::1\"", "true", 3},
      {"dyn([1]) == [1]", "true", 1},
  };
  ExpectJudged(kRows);
}

TEST(CelOperators, Indexing) {
  constexpr JudgedExpression kRows[] = {
      {"{\"a\": 1}[\"a\"] == 1", "true", 3},
      {"{\"a\": 1}.b == 1", "runtime: no such key: b", 3},
      {"{\"a\": 1}[\"b\"] == 1", "runtime: no such key: b", 3},
      {"[1][0] == 1", "true", 3},
      {"[1][1] == 1", "runtime: index out of bounds: 1", 3},
      {"[1][-1] == 1", "runtime: index out of bounds: -1", 3},
      {"device.attributes[\"nosuch\"].x == 1", "runtime: no such key: x", 5},
      {"device.attributes[\"nosuch\"].size() == 0", "true", 5},
      {"\"nosuch\" in device.attributes", "false", 3},
      {"has(device.attributes.nosuch)", "true", 2},
      {"device.attributes[\"gpu.example.com\"].missing == 1", "runtime: no such key: missing", 5},
      {"device.attributes[\"gpu.example.com\"].model.foo == 1", "runtime: no such key: foo", 6},
      {"has(device.attributes[\"gpu.example.com\"].model.foo)", "false", 4},
      {"device.attributes[\"gpu.example.com\"].model[0] == \"A\"", "runtime: no such key: 0", 6},
      {"device.capacity[\"gpu.example.com\"][\"memory\"].isGreaterThan(quantity(\"1Gi\"))", "true", 6},
      {"device.attributes[device.driver].model.startsWith(\"A100\")", "true", 7},
      {"{\"a\": {\"b\": [1, 2]}}.a.b[1] == 2", "true", 5},
      {"(true ? {\"a\": 1} : {\"a\": 2}).a == 1", "true", 2},
      {"cel.bind(k, \"model\", device.attributes[\"gpu.example.com\"][k].size() > 0)", "true", 6},
      {"{\"a\": 1}[dyn(null)] == 1", "program: program instantiation failed: invalid qualifier type: types.Null", 0},
      {"{\"a\": 1}[dyn(device.attributes[\"gpu.example.com\"].driverVersion)] == 1",
       "runtime: invalid qualifier type: cel.Semver", 8},
      {"dyn([1]).foo == 1", "runtime: unsupported index type 'string' in list", 3},
      {"dyn(device).foo == 1", "runtime: no such key: foo", 5},
      {"dyn(device).driver == \"gpu.example.com\"", "true", 6},
  };
  ExpectJudged(kRows);
}

TEST(CelOperators, Membership) {
  constexpr JudgedExpression kRows[] = {
      {"1 in [1, 2]", "true", 0},
      {"3 in [1, 2]", "false", 0},
      {"1 in []", "false", 0},
      {"device.attributes[\"gpu.example.com\"].numa in [1, 2]", "true", 4},
      {"device.attributes[\"gpu.example.com\"].driverVersion in [\"a\"]",
       "runtime: internal error: runtime error: hash of unhashable type cel.Semver", 4},
      {"device.attributes[\"gpu.example.com\"].missing in [\"a\"]", "runtime: no such key: missing", 4},
      {"\"a\" in {\"a\": 1}", "true", 1},
      {"\"model\" in device.attributes[\"gpu.example.com\"]", "true", 4},
      {"b\"a\" in [b\"a\", b\"b\"]", "true", 2},
      {"[1] in [[1], [2]]", "true", 2},
      {"quantity(\"1\") in [quantity(\"1\"), quantity(\"2\")]", "true", 15},
      {"1 in dyn([1, 2])", "true", 1},
      {"1 in dyn(1)", "runtime: no such overload", 1},
      {"1 in [1, 2].map(x, x)", "true", 29},
      {"device.driver in [\"x\", \"gpu.example.com\"]", "true", 2},
  };
  ExpectJudged(kRows);
}

TEST(CelOperators, Messages) {
  constexpr JudgedExpression kRows[] = {
      {"google.protobuf.Int64Value{value: 1} == 1", "true", 41},
      {"google.protobuf.Int32Value{value: 3000000000} == 1",
       "runtime: field type conversion error for google.protobuf.Int32Value.value value type: integer overflow", 41},
      {"google.protobuf.Int64Value{} == 0", "true", 41},
      {"google.protobuf.Value{} == null", "true", 41},
      {"google.protobuf.Value{number_value: 1.5} == 1.5", "true", 41},
      {"google.protobuf.Struct{fields: {\"a\": 1}} == {\"a\": 1.0}", "true", 41},
      {"google.protobuf.ListValue{values: [1, 2]} == [1.0, 2.0]", "true", 41},
      {"google.protobuf.Duration{seconds: 1, nanos: 5} == duration(\"1.000000005s\")", "true", 41},
      {"google.protobuf.Timestamp{seconds: 1} == timestamp(1)", "true", 41},
      {"google.protobuf.FloatValue{value: 0.1} == 0.1", "false", 41},
      {"google.protobuf.Int64Value{value: 1} == null", "false", 41},
      {"kubernetes.DRADevice{driver: \"x\"}.driver == \"x\"", "runtime: unknown type 'kubernetes.DRADevice'", 42},
  };
  ExpectJudged(kRows);
}

}  // namespace
}  // namespace berth::cel
