#include "cel/unifier.h"

namespace berth::cel {
namespace {

constexpr int64_t kMaxSteps = 5000000;

bool IsDynamicOrError(const Type& type) { return type.is_dynamic() || type.kind == TypeKind::kError; }

// Types that accept null.
bool IsNullable(const Type& type) {
  if (type.nullable) return true;
  switch (type.kind) {
    case TypeKind::kOpaque:
    case TypeKind::kStruct:
    case TypeKind::kAny:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp:
    case TypeKind::kNull:
    case TypeKind::kDyn:
      return true;
    default:
      return false;
  }
}

bool IsLessSpecific(const Type& a, const Type& b) {
  if (a.is_dynamic() || a.kind == TypeKind::kParameter) return true;
  if (b.is_dynamic() || b.kind == TypeKind::kParameter) return false;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case TypeKind::kOpaque:
      if (a.name != b.name || a.parameters.size() != b.parameters.size()) return false;
      [[fallthrough]];
    case TypeKind::kList:
    case TypeKind::kMap:
      for (size_t i = 0; i < a.parameters.size(); ++i) {
        if (!IsLessSpecific(*a.parameters[i], *b.parameters[i])) return false;
      }
      return true;
    case TypeKind::kType:
      return true;
    default:
      return IsExactType(a, b);
  }
}

}  // namespace

void Unifier::Step() {
  if (++steps_ > kMaxSteps) throw TypesTooComplex{};
}

const Type* Unifier::Find(const Type* type) const {
  if (type->kind != TypeKind::kParameter) return nullptr;
  const size_t index = static_cast<size_t>(type->variable);
  return index < bindings_.size() ? bindings_[index] : nullptr;
}

void Unifier::Set(const Type* variable, const Type* type) {
  const size_t index = static_cast<size_t>(variable->variable);
  if (index >= bindings_.size()) bindings_.resize(index + 1, nullptr);
  trail_.emplace_back(variable->variable, bindings_[index]);
  bindings_[index] = type;
}

void Unifier::Undo(size_t mark) {
  while (trail_.size() > mark) {
    bindings_[static_cast<size_t>(trail_.back().first)] = trail_.back().second;
    trail_.pop_back();
  }
}

bool Unifier::Assign(const Type& to, const Type& from) {
  const size_t mark = trail_.size();
  if (Fits(&to, &from)) return true;
  Undo(mark);
  return false;
}

bool Unifier::AssignAll(std::span<const Type* const> to, std::span<const Type* const> from) {
  const size_t mark = trail_.size();
  if (FitsAll(to, from)) return true;
  Undo(mark);
  return false;
}

bool Unifier::FitsAll(std::span<const Type* const> to, std::span<const Type* const> from) {
  if (to.size() != from.size()) return false;
  for (size_t i = 0; i < to.size(); ++i) {
    if (!Fits(to[i], from[i])) return false;
  }
  return true;
}

bool Unifier::Fits(const Type* to, const Type* from) {
  Step();
  if (from->kind == TypeKind::kParameter) {
    const Substitution tried = Bind(to, from);
    if (tried.valid) return true;
    if (tried.bound) return false;
  }
  if (to->kind == TypeKind::kParameter) return Bind(from, to).valid;
  if (IsDynamicOrError(*to) || IsDynamicOrError(*from)) return true;
  if (to->kind == TypeKind::kNull) return IsNullable(*from);
  if (from->kind == TypeKind::kNull) return IsNullable(*to);
  switch (to->kind) {
    case TypeKind::kType:
      return from->kind == TypeKind::kType;
    case TypeKind::kOpaque:
    case TypeKind::kList:
    case TypeKind::kMap:
      return to->kind == from->kind && to->name == from->name && FitsAll(to->parameters, from->parameters);
    case TypeKind::kDyn:
    case TypeKind::kError:
    case TypeKind::kNull:
    case TypeKind::kParameter:
      return false;
    default:
      return IsAssignableType(*from, *to);
  }
}

Unifier::Substitution Unifier::Bind(const Type* type, const Type* variable) {
  if (type->kind == variable->kind && IsExactType(*type, *variable)) return {true, true};
  if (const Type* bound = Find(variable); bound != nullptr) {
    if (type->kind == bound->kind && IsExactType(*type, *bound)) return {true, true};
    if (Fits(type, bound)) {
      const Type* general = MostGeneral(type, bound);
      if (IsFree(variable, general)) Set(variable, general);
      return {true, true};
    }
    return {false, true};
  }
  if (IsFree(variable, type)) {
    Set(variable, type);
    return {true, false};
  }
  return {false, false};
}

const Type* Unifier::MostGeneral(const Type* a, const Type* b) { return IsLessSpecific(*a, *b) ? a : b; }

bool Unifier::IsFree(const Type* variable, const Type* within) {
  Step();
  if (IsExactType(*variable, *within)) return false;
  switch (within->kind) {
    case TypeKind::kParameter: {
      const Type* bound = Find(within);
      return bound == nullptr || IsFree(variable, bound);
    }
    case TypeKind::kOpaque:
    case TypeKind::kList:
    case TypeKind::kMap:
    case TypeKind::kType:
      for (const Type* parameter : within->parameters) {
        if (!IsFree(variable, parameter)) return false;
      }
      return true;
    default:
      return true;
  }
}

const Type* Unifier::Substitute(const Type* type, bool free_to_dyn) {
  Step();
  if (const Type* bound = Find(type); bound != nullptr) return Substitute(bound, free_to_dyn);
  if (type->kind == TypeKind::kParameter) return free_to_dyn ? &types::kDyn : type;
  if (type->parameters.empty()) return type;
  std::vector<const Type*> parameters;
  bool changed = false;
  for (const Type* parameter : type->parameters) {
    parameters.push_back(Substitute(parameter, free_to_dyn));
    changed = changed || parameters.back() != parameter;
  }
  return changed ? pool_.New({type->kind, type->name, std::move(parameters)}) : type;
}

const Type* Unifier::Instantiate(const Type* type, std::span<const Type* const> fresh) {
  if (type->kind == TypeKind::kParameter) return fresh[static_cast<size_t>(type->variable)];
  if (type->parameters.empty()) return type;
  std::vector<const Type*> parameters;
  bool changed = false;
  for (const Type* parameter : type->parameters) {
    parameters.push_back(Instantiate(parameter, fresh));
    changed = changed || parameters.back() != parameter;
  }
  return changed ? pool_.New({type->kind, type->name, std::move(parameters)}) : type;
}

}  // namespace berth::cel
