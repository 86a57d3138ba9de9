#include "cel/type.h"

namespace berth::cel {
namespace types {

const Type kDyn{TypeKind::kDyn, "dyn", {}};
const Type kAny{TypeKind::kAny, "google.protobuf.Any", {}};
const Type kBool{TypeKind::kBool, "bool", {}};
const Type kBytes{TypeKind::kBytes, "bytes", {}};
const Type kDouble{TypeKind::kDouble, "double", {}};
const Type kDuration{TypeKind::kDuration, "google.protobuf.Duration", {}};
const Type kError{TypeKind::kError, "error", {}};
const Type kInt{TypeKind::kInt, "int", {}};
const Type kNull{TypeKind::kNull, "null_type", {}};
const Type kString{TypeKind::kString, "string", {}};
const Type kTimestamp{TypeKind::kTimestamp, "google.protobuf.Timestamp", {}};
const Type kType{TypeKind::kType, "type", {}};
const Type kUint{TypeKind::kUint, "uint", {}};
const Type kQuantity{TypeKind::kStruct, "kubernetes.Quantity", {}};
const Type kSemver{TypeKind::kStruct, "kubernetes.Semver", {}};
const Type kUrl{TypeKind::kStruct, "kubernetes.URL", {}};
const Type kFormat{TypeKind::kStruct, "kubernetes.NamedFormat", {}};
const Type kIp{TypeKind::kOpaque, "net.IP", {}};
const Type kCidr{TypeKind::kOpaque, "net.CIDR", {}};
const Type kOptional{TypeKind::kOpaque, "optional_type", {}};
const Type kA{TypeKind::kParameter, "A", {}, 0};
const Type kB{TypeKind::kParameter, "B", {}, 1};
const Type kList{TypeKind::kList, "list", {&kDyn}};
const Type kMap{TypeKind::kMap, "map", {&kDyn, &kDyn}};

}  // namespace types

const Type* TypePool::New(Type type) {
  constexpr int kMaxWeight = 2000;
  for (const Type* parameter : type.parameters) type.weight += parameter->weight;
  if (type.weight > kMaxWeight) throw TypesTooComplex{};
  return &types_.emplace_back(std::move(type));
}

const Type* TypePool::Variable(int number) {
  return New({TypeKind::kParameter, "_var" + std::to_string(number - kFirstFreeVariable), {}, number});
}

std::string FormatType(const Type& type) {
  switch (type.kind) {
    case TypeKind::kAny:
      return "any";
    case TypeKind::kDuration:
      return "duration";
    case TypeKind::kError:
      return "!error!";
    case TypeKind::kNull:
      return "null";
    case TypeKind::kTimestamp:
      return "timestamp";
    default:
      break;
  }
  if (type.nullable) return "wrapper(" + type.name + ")";
  if (type.parameters.empty()) return type.name;
  std::string text = type.name + "(";
  for (size_t i = 0; i < type.parameters.size(); ++i) {
    if (i > 0) text += ", ";
    text += FormatType(*type.parameters[i]);
  }
  return text + ")";
}

std::string TypeString(const Type& type) {
  if (type.kind == TypeKind::kParameter) return "<" + type.name + ">";
  if (type.nullable) return "wrapper(" + type.name + ")";
  if (type.parameters.empty()) return type.name;
  std::string text = type.name + "(";
  for (size_t i = 0; i < type.parameters.size(); ++i) {
    if (i > 0) text += ", ";
    text += TypeString(*type.parameters[i]);
  }
  return text + ")";
}

namespace {

bool SameType(const Type& a, const Type& b, bool by_parameter_name) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.parameters.size() != b.parameters.size()) return false;
  if ((by_parameter_name || a.kind != TypeKind::kParameter) && a.name != b.name) return false;
  for (size_t i = 0; i < a.parameters.size(); ++i) {
    if (!SameType(*a.parameters[i], *b.parameters[i], by_parameter_name)) return false;
  }
  return true;
}

}  // namespace

bool IsExactType(const Type& a, const Type& b) { return SameType(a, b, true); }
bool IsEquivalentType(const Type& a, const Type& b) { return SameType(a, b, false); }

bool IsAssignableType(const Type& type, const Type& from) {
  if (&type == &from || type.is_dynamic() || type.kind == TypeKind::kParameter) return true;
  if (type.nullable && from.kind == TypeKind::kNull) return true;
  if (type.kind != from.kind || type.name != from.name || type.parameters.size() != from.parameters.size()) {
    return false;
  }
  for (size_t i = 0; i < type.parameters.size(); ++i) {
    if (!IsAssignableType(*type.parameters[i], *from.parameters[i])) return false;
  }
  return true;
}

}  // namespace berth::cel
