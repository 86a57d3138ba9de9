// Macros: calls that stand for other expressions (has, all, exists, map, filter, cel.bind, optMap, …).
#pragma once

#include <string>
#include <vector>

#include "cel/ast.h"

namespace berth::cel {

// Ends parsing when the tree becomes too large.
struct TooManyNodes {};

class MacroExpander {
 public:
  explicit MacroExpander(Ast& ast) : ast_(ast) {}

  struct Expansion {
    Expr* expr = nullptr;  // null with an empty message: not a macro but an ordinary call
    int error_id = 0;      // the node that the message is about
    std::string message;
  };
  // `id` is that of the call; `target` is null for a global call.
  Expansion Expand(int id, const std::string& function, Expr* target, const std::vector<Expr*>& arguments);

 private:
  enum class Quantifier { kAll, kExists, kExistsOne };

  Expansion Has(Expr* argument);
  Expansion Quantify(Quantifier kind, Expr* target, const std::vector<Expr*>& arguments);
  Expansion Map(Expr* target, const std::vector<Expr*>& arguments);
  Expansion Filter(Expr* target, const std::vector<Expr*>& arguments);
  Expansion Transform(const std::string& function, Expr* target, const std::vector<Expr*>& arguments);
  Expansion Bind(const std::vector<Expr*>& arguments);
  Expansion OptionalMap(bool flat, Expr* target, const std::vector<Expr*>& arguments);
  Expansion SortBy(Expr* target, const std::vector<Expr*>& arguments);

  Expr* New(ExprKind kind);
  Expr* NewBool(bool value);
  Expr* NewInt(int64_t value);
  Expr* NewIdent(const std::string& name);
  Expr* NewAccumulator();
  Expr* NewList(std::vector<Expr*> elements);
  Expr* NewCall(std::string_view function, std::vector<Expr*> arguments, Expr* target = nullptr);
  Expr* NewLoop(Expr* range, const std::string& variable, const std::string& second, const std::string& accumulator,
                Expr* initial, Expr* condition, Expr* step, Expr* result);
  Expr* Copy(const Expr* expr);
  // Parts of all, exists and exists_one, for one and for two variables.
  Expr* NewQuantifier(Quantifier kind, Expr* range, const std::string& first, const std::string& second,
                      Expr* predicate);
  Expansion IterationVariables(const std::vector<Expr*>& arguments, std::string* first, std::string* second);

  Ast& ast_;
  int offset_ = -1;  // of the call being expanded
};

}  // namespace berth::cel
