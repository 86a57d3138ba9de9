// Types: what the checker works with, and what type(x) returns.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

enum class TypeKind : uint8_t {
  kDyn,
  kAny,
  kBool,
  kBytes,
  kDouble,
  kDuration,
  kError,
  kInt,
  kList,
  kMap,
  kNull,
  kOpaque,
  kString,
  kStruct,
  kTimestamp,
  kType,
  kParameter,
  kUint,
};

struct Type {
  TypeKind kind = TypeKind::kDyn;
  std::string name;  // the run-time name: "int", "google.protobuf.Duration"
  std::vector<const Type*> parameters;
  int variable = -1;      // kParameter: its number
  int weight = 1;         // how many types it is made of, itself included
  bool nullable = false;  // a protobuf wrapper: null or a value

  bool is_dynamic() const { return kind == TypeKind::kDyn || kind == TypeKind::kAny; }
};

// Types without parameters, and the parameters A and B of declarations.
namespace types {
extern const Type kDyn, kAny, kBool, kBytes, kDouble, kDuration, kError, kInt, kNull, kString, kTimestamp, kType, kUint;
extern const Type kQuantity, kSemver, kUrl, kFormat, kIp, kCidr, kOptional;
extern const Type kA, kB;
// As type(x) returns them: without parameters.
extern const Type kList, kMap;
}  // namespace types

// Types can grow without limit when they contain each other twice; this ends their construction. Upstream has no such
// limit and would never return.
struct TypesTooComplex {};

// Owns types that are made during checking.
class TypePool {
 public:
  const Type* List(const Type* element) { return New({TypeKind::kList, "list", {element}}); }
  const Type* Map(const Type* key, const Type* value) { return New({TypeKind::kMap, "map", {key, value}}); }
  const Type* Optional(const Type* value) { return New({TypeKind::kOpaque, "optional_type", {value}}); }
  const Type* TypeOf(const Type* type) { return New({TypeKind::kType, "type", {type}}); }
  const Type* Object(std::string name) { return New({TypeKind::kStruct, std::move(name), {}}); }
  const Type* Variable(int number);
  const Type* New(Type type);

 private:
  std::deque<Type> types_;
};

// Declared variables (A, B) come before those the checker creates.
inline constexpr int kFirstFreeVariable = 2;

// As the checker's messages print it: "list(int)", "any", "timestamp".
std::string FormatType(const Type& type);
// As "must evaluate to bool, not …" prints it: "google.protobuf.Any".
std::string TypeString(const Type& type);
bool IsExactType(const Type& a, const Type& b);
// Like IsExactType, but the names of type parameters do not matter.
bool IsEquivalentType(const Type& a, const Type& b);
// Whether a value of type `from` is accepted where `type` is expected, without any inference.
bool IsAssignableType(const Type& type, const Type& from);
inline bool IsOptionalType(const Type& type) { return type.kind == TypeKind::kOpaque && type.name == "optional_type"; }

}  // namespace berth::cel
