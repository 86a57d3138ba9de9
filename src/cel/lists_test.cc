// Macros, list functions, sets, optionals.
// Outcomes and costs are those of kube-scheduler v1.36.4.
#include "cel/testing/judge.h"

namespace berth::cel {
namespace {

TEST(CelLists, Macros) {
  constexpr JudgedExpression kRows[] = {
      {"[1, 2, 3].all(x, x > 0)", "true", 16},
      {"[].all(x, x > 0)", "true", 1},
      {"[1, 2].exists(x, x == 2)", "true", 13},
      {"[1, 1].exists_one(x, x == 1)", "false", 10},
      {"[1, 2, 3].map(x, x * 2) == [2, 4, 6]", "true", 44},
      {"[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]", "true", 36},
      {"[1, 2, 3].filter(x, x > 1) == [2, 3]", "true", 34},
      {"{\"a\": 1, \"b\": 2}.all(k, k < \"c\")", "true", 11},
      {"{\"a\": 1}.map(k, k) == [\"a\"]", "true", 15},
      {"[1, 2].all(i, v, i < v)", "true", 13},
      {"[5, 6].transformList(i, v, i + v) == [5, 7]", "true", 32},
      {"[5, 6].transformList(i, v, i > 0, v) == [6]", "true", 19},
      {"{\"a\": 1}.transformMap(k, v, v + 1) == {\"a\": 2}", "true", 7},
      {"[\"a\", \"b\"].transformMap(i, v, v) == {0: \"a\", 1: \"b\"}", "true", 10},
      {"[\"a\", \"b\"].transformMapEntry(i, v, {v: i}) == {\"a\": 0, \"b\": 1}", "true", 70},
      {"[\"a\", \"a\"].transformMapEntry(i, v, {v: i}) == {}", "runtime: insert failed: key a already exists", 69},
      {"[1, 2, 2].existsOne(i, v, v == 2)", "false", 12},
      {"[1].existsOne(x, x == 1)",
       "compile: compilation failed: ERROR: <input>:1:14: undeclared reference to 'existsOne' (in container '')\n | "
       "[1].existsOne(x, x == 1)\n | .............^\nERROR: <input>:1:15: undeclared reference to 'x' (in container "
       "'')\n | [1].existsOne(x, x == 1)\n | ..............^\nERROR: <input>:1:18: undeclared reference to 'x' (in "
       "container '')\n | [1].existsOne(x, x == 1)\n | .................^",
       0},
      {"[1].all(1, true)",
       "compile: compilation failed: ERROR: <input>:1:9: argument must be a simple name\n | [1].all(1, true)\n | "
       "........^",
       0},
      {"[1].map(a.b, true)",
       "compile: compilation failed: ERROR: <input>:1:10: argument is not an identifier\n | [1].map(a.b, true)\n | "
       ".........^",
       0},
      {"[1].all(x, x, true)",
       "compile: compilation failed: ERROR: <input>:1:12: duplicate variable name: x\n | [1].all(x, x, true)\n | "
       "...........^",
       0},
      {"[1].all(__result__, true)",
       "compile: compilation failed: ERROR: <input>:1:9: iteration variable overwrites accumulator variable\n | "
       "[1].all(__result__, true)\n | ........^",
       0},
      {"has(1)",
       "compile: compilation failed: ERROR: <input>:1:5: invalid argument to has() macro\n | has(1)\n | ....^", 0},
      {"has(device)",
       "compile: compilation failed: ERROR: <input>:1:5: invalid argument to has() macro\n | has(device)\n | ....^", 0},
      {"cel.bind(1, 2, true)",
       "compile: compilation failed: ERROR: <input>:1:10: cel.bind() variable names must be simple identifiers\n | "
       "cel.bind(1, 2, true)\n | .........^",
       0},
      {"cel.bind(x, 1, cel.bind(x, x + 1, x == 2))", "true", 4},
      {"[1].all(x, [2].all(x, x == 2) && x == 1)", "true", 12},
      {"[1].all(device, device == 1)", "true", 6},
      {"cel.bind(a, [], (a + [1]).size() + a.size() == 2)", "true", 7},
      {"cel.bind(a, 1 / 0, true)", "true", 0},
      {"[int].all(t, t == int)", "program: program instantiation failed: reference to undefined type: t", 0},
      {"device.attributes[\"gpu.example.com\"].model.all(x, true)",
       "compile: compilation failed: ERROR: <input>:1:37: expression of type 'any' cannot be range of a comprehension "
       "(must be list, map, or dynamic)\n | device.attributes[\"gpu.example.com\"].model.all(x, true)\n | "
       "....................................^",
       0},
      {"[1, \"a\"] == [1]",
       "compile: compilation failed: ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, \"a\"] == "
       "[1]\n | ....^",
       0},
      {"{\"a\": 1, \"b\": \"c\"} == {}",
       "compile: compilation failed: ERROR: <input>:1:15: expected type 'int' but found 'string'\n | {\"a\": 1, \"b\": "
       "\"c\"} == {}\n | ..............^",
       0},
  };
  ExpectJudged(kRows);
}

TEST(CelLists, Extensions) {
  constexpr JudgedExpression kRows[] = {
      {"[1, 2, 3, 4].slice(1, 3) == [2, 3]", "true", 14},
      {"[1].slice(0, 2) == []", "runtime: cannot slice(0, 2), list is length 1", 12},
      {"[1].slice(-1, 0) == []", "runtime: cannot slice(-1, 0), negative indexes not supported", 12},
      {"[1].slice(1, 0) == []", "runtime: cannot slice(1, 0), start index must be less than or equal to end index", 12},
      {"[[1], [2, [3]]].flatten() == [1, 2, [3]]",
       "compile: compilation failed: ERROR: <input>:1:7: expected type 'list(int)' but found 'list(dyn)'\n | [[1], [2, "
       "[3]]].flatten() == [1, 2, [3]]\n | ......^\nERROR: <input>:1:11: expected type 'int' but found 'list(int)'\n | "
       "[[1], [2, [3]]].flatten() == [1, 2, [3]]\n | ..........^\nERROR: <input>:1:37: expected type 'int' but found "
       "'list(int)'\n | [[1], [2, [3]]].flatten() == [1, 2, [3]]\n | ....................................^",
       0},
      {"[[1], [2, [3]]].flatten(2) == [1, 2, 3]",
       "compile: compilation failed: ERROR: <input>:1:7: expected type 'list(int)' but found 'list(dyn)'\n | [[1], [2, "
       "[3]]].flatten(2) == [1, 2, 3]\n | ......^\nERROR: <input>:1:11: expected type 'int' but found 'list(int)'\n | "
       "[[1], [2, [3]]].flatten(2) == [1, 2, 3]\n | ..........^",
       0},
      {"[[1]].flatten(0) == [[1]]", "true", 12},
      {"[[1]].flatten(-1) == [1]", "runtime: level must be non-negative", 11},
      {"[[1]].flatten(1 / 0) == [1]",
       "runtime: internal error: interface conversion: ref.Val is *types.Err, not types.Int", 1},
      {"[3, 1, 2].sort() == [1, 2, 3]", "true", 30},
      {"[\"b\", \"a\"].sort() == [\"a\", \"b\"]", "true", 20},
      {"[true, false].sort() == [false, true]", "true", 20},
      {"[].sort() == []", "true", 11},
      {"[{\"a\": 1}].sort() == []",
       "compile: compilation failed: ERROR: <input>:1:16: found no matching overload for 'sort' applied to "
       "'list(map(string, int)).()'\n | [{\"a\": 1}].sort() == []\n | ...............^",
       0},
      {"[\"bb\", \"a\"].sortBy(s, s.size()) == [\"a\", \"bb\"]", "true", 51},
      {"[1, 2].sortBy(x, -x) == [2, 1]", "true", 51},
      {"[1, 2].sortBy(x, [x]) == []",
       "compile: compilation failed: ERROR: <input>:1:14: found no matching overload for '@sortByAssociatedKeys' "
       "applied to 'list(int).(list(list(int)))'\n | [1, 2].sortBy(x, [x]) == []\n | .............^",
       0},
      {"lists.range(3) == [0, 1, 2]", "true", 15},
      {"lists.range(-1) == []", "true", 11},
      {"lists.range(1000000).size() == 1000000", "cost: operation cancelled: actual cost limit exceeded", 1000011},
      {"[1, 2].reverse() == [2, 1]", "true", 14},
      {"[1, 2, 1].distinct() == [1, 2]", "true", 30},
      {"[1, 2, 3].first().value() == 1", "true", 3},
      {"[].last().hasValue()", "false", 2},
      {"device.attributes[\"gpu.example.com\"].missing.distinct() == []",
       "runtime: internal error: interface conversion: *types.Err is not traits.Lister: missing method Add", 4},
      {"device.attributes[\"gpu.example.com\"].model.sort() == []", "runtime: no such overload", 5},
      {"device.attributes[\"gpu.example.com\"].model.distinct() == []",
       "runtime: internal error: interface conversion: types.String is not traits.Lister: missing method Contains", 4},
  };
  ExpectJudged(kRows);
}

TEST(CelLists, Kubernetes) {
  constexpr JudgedExpression kRows[] = {
      {"[1, 2].sum() == 3", "true", 3},
      {"[].sum() == 0", "true", 1},
      {"[1.5, 2.5].sum() == 4.0", "true", 3},
      {"[1u].sum() == 1u", "true", 2},
      {"[duration(\"1s\"), duration(\"2s\")].sum() == duration(\"3s\")", "true", 3},
      {"[9223372036854775807, 1].sum() > 0", "runtime: integer overflow", 3},
      {"[3, 1, 2].min() == 1", "true", 4},
      {"[3, 1, 2].max() == 3", "true", 4},
      {"[].min() == 1", "runtime: min called on empty list", 1},
      {"[\"b\", \"a\"].max() == \"b\"", "true", 1},
      {"[1, 2, 2].isSorted()", "true", 3},
      {"[2, 1].isSorted()", "false", 2},
      {"[1, 2, 1].indexOf(1) == 0", "true", 4},
      {"[1, 2, 1].lastIndexOf(1) == 2", "true", 4},
      {"[1].indexOf(5) == -1", "true", 2},
      {"[\"aaaaaaaaaa\", \"b\"].indexOf(\"b\") == 1", "true", 2},
      {"device.attributes[\"gpu.example.com\"].numa.sum() == 1", "runtime: no such overload: sum(int)", 6},
      {"[timestamp(1), timestamp(0)].min() == timestamp(0)", "true", 3},
  };
  ExpectJudged(kRows);
}

TEST(CelLists, Sets) {
  constexpr JudgedExpression kRows[] = {
      {"sets.contains([1, 2, 3], [1, 3])", "true", 7},
      {"sets.contains([1], [1, 1])", "true", 3},
      {"sets.contains([], [1])", "false", 1},
      {"sets.equivalent([1, 2, 2], [2, 1])", "true", 13},
      {"sets.intersects([1, 2], [2, 3])", "true", 5},
      {"sets.intersects([], [1])", "false", 1},
      {"sets.equivalent([\"a\"], [\"a\", \"b\"])", "false", 5},
      {"sets.contains([[1]], [[1]])", "true", 2},
  };
  ExpectJudged(kRows);
}

TEST(CelLists, Optionals) {
  constexpr JudgedExpression kRows[] = {
      {"optional.of(1).value() == 1", "true", 3},
      {"optional.none().value() == 1", "runtime: optional.none() dereference", 3},
      {"optional.of(1).or(optional.of(2)).value() == 1", "true", 3},
      {"optional.none().or(optional.of(2)).value() == 2", "true", 4},
      {"optional.none().orValue(3) == 3", "true", 2},
      {"optional.of(1).orValue(1 / 0) == 1", "true", 2},
      {"{\"a\": 1}.?a.orValue(2) == 1", "true", 3},
      {"{\"a\": 1}.?b.orValue(2) == 2", "true", 2},
      {"{\"a\": {\"b\": 1}}.?a.b.orValue(2) == 1", "true", 4},
      {"{\"a\": {}}.?a.?b.orValue(2) == 2", "true", 3},
      {"{\"a\": {\"b\": 1}}.?c.b.orValue(2) == 2", "true", 2},
      {"[1][?0].orValue(5) == 1", "true", 3},
      {"[1][?5].orValue(5) == 5", "true", 2},
      {"[?optional.of(1), ?optional.none()] == [1]", "true", 13},
      {"{?\"a\": optional.none(), \"b\": 1} == {\"b\": 1}", "true", 32},
      {"optional.ofNonZeroValue(0).hasValue()", "false", 2},
      {"optional.ofNonZeroValue(\"a\").hasValue()", "true", 2},
      {"optional.of(1).optMap(x, x + 1) == optional.of(2)", "true", 9},
      {"optional.none().optMap(x, x + 1).hasValue()", "false", 4},
      {"optional.of(1).optFlatMap(x, optional.of(x + 1)) == optional.of(2)", "true", 9},
      {"optional.unwrap([optional.of(1), optional.none()]) == [1]", "true", 14},
      {"[optional.of(1)].unwrapOpt() == [1]", "true", 13},
      {"device.attributes[\"gpu.example.com\"].?missing.orValue(\"x\") == \"x\"", "true", 4},
      {"device.attributes[\"nosuch\"].?model.hasValue()", "false", 4},
      {"device.attributes[?\"nosuch\"].hasValue()", "true", 4},
      {"device.?attributes.hasValue()", "true", 3},
      {"has({\"a\": 1}.?a.b)",
       "compile: compilation failed: ERROR: <input>:1:4: type 'int' does not support field selection\n | has({\"a\": "
       "1}.?a.b)\n | ...^",
       0},
      {"optional.of(optional.of(1)).value().value() == 1", "true", 5},
      {"cel.bind(o, optional.of(quantity(\"1\")), o.value() == quantity(\"1\"))",
       "runtime: unsupported conversion to ref.Val: (*resource.Quantity)1", 6},
      {"cel.bind(o, optional.of(optional.none()), o == optional.of(null))", "true", 5},
      {"optional.of({\"a\": 1}).a == optional.of(1)", "true", 5},
      {"optional.of([1, 2])[1] == optional.of(2)", "true", 5},
      {"optional.none().optMap(1, 2)",
       "compile: compilation failed: ERROR: <input>:1:24: optMap() variable name must be a simple identifier\n | "
       "optional.none().optMap(1, 2)\n | .......................^",
       0},
  };
  ExpectJudged(kRows);
}

}  // namespace
}  // namespace berth::cel
