// Environment: what expressions may refer to. Functions with their overloads, variables, types with fields.
//
// Built once, then constant and shared between threads; every Program keeps its environment alive.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/type.h"
#include "cel/value.h"

namespace berth::cel {

class Evaluation;

using Implementation = Value (*)(Evaluation&, std::span<const Value>);

// How upstream calls a function: unary and binary ones evaluate every argument, the others stop at the first error.
enum class CallStyle : uint8_t { kUnary, kBinary, kVariadic };

struct Overload {
  std::string id;
  bool member = false;
  std::vector<const Type*> arguments;
  const Type* result = nullptr;
  Implementation implementation = nullptr;
  CallStyle style = CallStyle::kVariadic;
  bool non_strict = false;  // is called with errors instead of being skipped
};

// What a value supports, as a bit mask; the operand of some functions must have a trait.
namespace traits {
enum : uint32_t {
  kNone = 0,
  kAdder = 1 << 0,
  kComparer = 1 << 1,
  kContainer = 1 << 2,
  kDivider = 1 << 3,
  kFieldTester = 1 << 4,
  kIndexer = 1 << 5,
  kIterable = 1 << 6,
  kMatcher = 1 << 7,
  kModder = 1 << 8,
  kMultiplier = 1 << 9,
  kNegator = 1 << 10,
  kReceiver = 1 << 11,
  kSizer = 1 << 12,
  kSubtractor = 1 << 13,
  kLister = kAdder | kContainer | kIndexer | kIterable | kSizer,
};
}  // namespace traits
uint32_t TraitsOf(const Value& value);

struct Function {
  std::string name;
  std::vector<Overload> overloads;
  // One implementation for all overloads, which requires a trait instead of checking the argument types.
  Implementation singleton = nullptr;
  CallStyle singleton_style = CallStyle::kUnary;
  uint32_t singleton_trait = traits::kNone;
  bool unguarded = false;  // overloads check their arguments themselves
};

class Environment {
 public:
  Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Adds overloads to the function, which may already exist.
  Function& Add(std::string_view function);
  Environment& Global(std::string_view function, std::string_view id, std::vector<const Type*> arguments,
                      const Type* result, Implementation implementation = nullptr);
  Environment& Member(std::string_view function, std::string_view id, std::vector<const Type*> arguments,
                      const Type* result, Implementation implementation = nullptr);
  void Singleton(std::string_view function, CallStyle style, uint32_t trait, Implementation implementation);

  const Function* FindFunction(std::string_view name) const;

  // The one variable of the environment, and its type.
  void DeclareVariable(std::string name, const Type* type);
  const Type* FindVariable(std::string_view name) const;

  // A type that an expression can name; `value` is what the name means at run time, null if nothing.
  void DeclareType(const Type* type, const Type* value);
  // A message by its own name, which may differ from that of its type.
  void DeclareMessage(std::string_view name, const Type* type);
  struct NamedType {
    const Type* type = nullptr;
    const Type* value = nullptr;
  };
  const NamedType* FindType(std::string_view name) const;

  // Fields of a type. A type without any has no entry.
  void DeclareField(std::string_view type, std::string field, const Type* field_type);
  bool HasFields(std::string_view type) const;
  const Type* FindField(std::string_view type, std::string_view field) const;

  // The result may be of type dyn, not only any.
  bool dynamic_result() const { return dynamic_result_; }
  void set_dynamic_result(bool value) { dynamic_result_ = value; }

  TypePool& pool() { return pool_; }

 private:
  TypePool pool_;
  std::map<std::string, Function, std::less<>> functions_;
  std::map<std::string, const Type*, std::less<>> variables_;
  std::map<std::string, NamedType, std::less<>> named_types_;
  std::map<std::string, std::map<std::string, const Type*, std::less<>>, std::less<>> fields_;
  bool dynamic_result_ = false;
};

// Libraries. Order matters where they add overloads to the same function.
void AddStandardLibrary(Environment& environment);
void AddMessages(Environment& environment);
void AddTimeLibrary(Environment& environment);
void AddStringsLibrary(Environment& environment);
void AddFormatStringLibrary(Environment& environment);
void AddListsLibrary(Environment& environment);
void AddSetsLibrary(Environment& environment);
void AddTwoVariableComprehensions(Environment& environment);
void AddOptionals(Environment& environment);
void AddKubernetesLists(Environment& environment);
void AddRegexLibrary(Environment& environment);
void AddUrlLibrary(Environment& environment);
void AddQuantityLibrary(Environment& environment);
void AddSemverLibrary(Environment& environment);
void AddIpLibrary(Environment& environment);
void AddCidrLibrary(Environment& environment);
void AddNamedFormats(Environment& environment);
void AddAuthorizationDeclarations(Environment& environment);
void AddAuthorizationSelectorDeclarations(Environment& environment);
// All of the above, in upstream's order.
void AddKubernetesLibraries(Environment& environment);

}  // namespace berth::cel
