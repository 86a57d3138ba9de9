// Parser: text to tree. Precedence climbing over the grammar of CEL, with macros expanded on the way.
//
// Nesting is limited as upstream limits it, so that no later stage can run out of stack; the number of nodes is limited
// because the macro optMap doubles its target.
#pragma once

#include <memory>
#include <string_view>

#include "cel/ast.h"

namespace berth::cel {

struct Parsed {
  std::unique_ptr<Ast> ast;
  Issues issues;
  bool syntax_error = false;  // an error in the grammar; otherwise issues are about what was parsed
};

Parsed Parse(std::string_view text);

}  // namespace berth::cel
