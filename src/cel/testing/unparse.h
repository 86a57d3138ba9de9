// Prints a tree as text that parses to the same tree.
#pragma once

#include <string>

#include "cel/ast.h"

namespace berth::cel {

// For a tree as the parser made it: macros are printed as written, not as expanded.
std::string Unparse(const Expr& expr);

// Whether two trees are equal except for ids and positions.
bool IsSameTree(const Expr& a, const Expr& b);

}  // namespace berth::cel
