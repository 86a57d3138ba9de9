#include "cel/environment.h"

#include "base/check.h"

namespace berth::cel {
namespace {

CallStyle StyleOf(size_t arguments) {
  return arguments == 1 ? CallStyle::kUnary : arguments == 2 ? CallStyle::kBinary : CallStyle::kVariadic;
}

}  // namespace

uint32_t TraitsOf(const Value& value) {
  using namespace traits;
  switch (value.kind()) {
    case Kind::kBool:
      return kComparer | kNegator;
    case Kind::kBytes:
      return kAdder | kComparer | kSizer;
    case Kind::kDouble:
      return kAdder | kComparer | kDivider | kMultiplier | kNegator | kSubtractor;
    case Kind::kDuration:
      return kAdder | kComparer | kNegator | kReceiver | kSubtractor;
    case Kind::kInt:
      return kAdder | kComparer | kDivider | kModder | kMultiplier | kNegator | kSubtractor;
    case Kind::kList:
      return kLister;
    case Kind::kMap:
      return kContainer | kIndexer | kIterable | kSizer;
    case Kind::kString:
      return kAdder | kComparer | kMatcher | kReceiver | kSizer;
    case Kind::kTimestamp:
      return kAdder | kComparer | kReceiver | kSubtractor;
    case Kind::kUint:
      return kAdder | kComparer | kDivider | kModder | kMultiplier | kSubtractor;
    case Kind::kSemver:
    case Kind::kFormat:
      return kFieldTester | kIndexer;
    default:
      return kNone;
  }
}

Function& Environment::Add(std::string_view function) {
  Function& entry = functions_[std::string(function)];
  entry.name = function;
  return entry;
}

Environment& Environment::Global(std::string_view function, std::string_view id, std::vector<const Type*> arguments,
                                 const Type* result, Implementation implementation) {
  const CallStyle style = StyleOf(arguments.size());
  Add(function).overloads.push_back({std::string(id), false, std::move(arguments), result, implementation, style});
  return *this;
}

Environment& Environment::Member(std::string_view function, std::string_view id, std::vector<const Type*> arguments,
                                 const Type* result, Implementation implementation) {
  const CallStyle style = StyleOf(arguments.size());
  Add(function).overloads.push_back({std::string(id), true, std::move(arguments), result, implementation, style});
  return *this;
}

void Environment::Singleton(std::string_view function, CallStyle style, uint32_t trait, Implementation implementation) {
  Function& entry = Add(function);
  entry.singleton = implementation;
  entry.singleton_style = style;
  entry.singleton_trait = trait;
}

const Function* Environment::FindFunction(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

void Environment::DeclareVariable(std::string name, const Type* type) { variables_[std::move(name)] = type; }

const Type* Environment::FindVariable(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : found->second;
}

void Environment::DeclareType(const Type* type, const Type* value) {
  named_types_[type->name] = {pool_.TypeOf(type), value};
}

void Environment::DeclareMessage(std::string_view name, const Type* type) {
  named_types_[std::string(name)] = {pool_.TypeOf(type), nullptr};
}

const Environment::NamedType* Environment::FindType(std::string_view name) const {
  const auto found = named_types_.find(name);
  return found == named_types_.end() ? nullptr : &found->second;
}

void Environment::DeclareField(std::string_view type, std::string field, const Type* field_type) {
  fields_[std::string(type)][std::move(field)] = field_type;
}

bool Environment::HasFields(std::string_view type) const { return fields_.find(type) != fields_.end(); }

const Type* Environment::FindField(std::string_view type, std::string_view field) const {
  const auto fields = fields_.find(type);
  if (fields == fields_.end()) return nullptr;
  const auto found = fields->second.find(field);
  return found == fields->second.end() ? nullptr : found->second;
}

void AddKubernetesLibraries(Environment& environment) {
  AddStandardLibrary(environment);
  AddMessages(environment);
  AddTimeLibrary(environment);
  AddUrlLibrary(environment);
  AddRegexLibrary(environment);
  AddKubernetesLists(environment);
  AddAuthorizationDeclarations(environment);
  AddOptionals(environment);
  AddQuantityLibrary(environment);
  AddStringsLibrary(environment);
  AddFormatStringLibrary(environment);
  AddSetsLibrary(environment);
  AddIpLibrary(environment);
  AddCidrLibrary(environment);
  AddNamedFormats(environment);
  AddAuthorizationSelectorDeclarations(environment);
  AddTwoVariableComprehensions(environment);
  AddSemverLibrary(environment);
  AddListsLibrary(environment);
}

}  // namespace berth::cel
