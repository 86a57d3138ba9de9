// Checker: gives every node of a tree its type and every call its overloads, by unification.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cel/ast.h"
#include "cel/environment.h"
#include "cel/type.h"

namespace berth::cel {

// What an identifier or a call refers to.
struct Reference {
  std::string name;                        // of a variable or type
  std::vector<const Overload*> overloads;  // of a call, in the order of declaration
  const Function* function = nullptr;
};

// A checked tree. Ids index both tables.
struct Checked {
  std::vector<const Type*> types;
  std::vector<std::unique_ptr<Reference>> references;
  const Type* result = nullptr;
  TypePool pool;

  const Type* TypeOf(const Expr& expr) const { return types[static_cast<size_t>(expr.id)]; }
  const Reference* ReferenceOf(const Expr& expr) const { return references[static_cast<size_t>(expr.id)].get(); }
};

// Names in the tree are replaced by what they resolved to. Problems go to `issues`.
std::unique_ptr<Checked> Check(Ast& ast, const Environment& environment, Issues& issues);

}  // namespace berth::cel
