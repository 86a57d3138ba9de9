#include "cel/ast.h"

#include <algorithm>

namespace berth::cel {

bool QualifiedName(const Expr& expr, std::string* name) {
  std::vector<const std::string*> parts;
  const Expr* at = &expr;
  while (at->kind == ExprKind::kSelect && !at->test_only) {
    parts.push_back(&at->name);
    at = at->target;
  }
  if (at->kind != ExprKind::kIdent) return false;
  *name = at->name;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    *name += '.';
    *name += **part;
  }
  return true;
}

}  // namespace berth::cel
