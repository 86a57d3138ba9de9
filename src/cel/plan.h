// Plan: a checked tree turned into nodes. Constants are folded, which may fail: int("x") is an error of the program,
// not of its evaluation.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/result.h"
#include "cel/checker.h"
#include "cel/nodes.h"

namespace berth::cel {

struct Plan {
  Arena arena;  // constants
  std::vector<std::unique_ptr<Node>> nodes;
  std::deque<Attribute> attributes;
  const Node* root = nullptr;
  int max_id = 0;
  int folds = 0;
  std::vector<const FoldNode*> bindings;  // cel.bind and similar, by fold; null for loops
};

Result<std::unique_ptr<Plan>> MakePlan(const Ast& ast, const Checked& checked, const Environment& environment);

// Evaluates a call with literal arguments, to check the literals. Empty if it succeeds.
std::string TryConstantCall(const Environment& environment, std::string_view function, const Literal& argument);

Value LiteralValue(const Literal& literal, Arena& arena);

}  // namespace berth::cel
