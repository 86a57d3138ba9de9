// Unifier: assigns types to type variables so that two types match.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "cel/type.h"

namespace berth::cel {

class Unifier {
 public:
  explicit Unifier(TypePool& pool) : pool_(pool) {}

  const Type* NewVariable() { return pool_.Variable(next_++); }
  // Binds variables if the types match, otherwise none.
  bool Assign(const Type& to, const Type& from);
  bool AssignAll(std::span<const Type* const> to, std::span<const Type* const> from);
  // The type with bound variables replaced, and free ones by dyn if requested.
  const Type* Substitute(const Type* type, bool free_to_dyn);
  // `type` with declared parameters (A, B) replaced: fresh[variable].
  const Type* Instantiate(const Type* type, std::span<const Type* const> fresh);
  static const Type* MostGeneral(const Type* a, const Type* b);

 private:
  bool Fits(const Type* to, const Type* from);
  bool FitsAll(std::span<const Type* const> to, std::span<const Type* const> from);
  struct Substitution {
    bool valid;
    bool bound;
  };
  Substitution Bind(const Type* type, const Type* variable);
  bool IsFree(const Type* variable, const Type* within);
  const Type* Find(const Type* type) const;
  void Set(const Type* variable, const Type* type);
  void Undo(size_t mark);
  void Step();

  TypePool& pool_;
  int next_ = kFirstFreeVariable;
  std::vector<const Type*> bindings_;
  std::vector<std::pair<int, const Type*>> trail_;
  int64_t steps_ = 0;
};

}  // namespace berth::cel
