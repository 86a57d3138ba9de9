// Kubernetes' own types: quantities, versions, addresses, URLs, named formats; optionals; and the names of the
// authorization library, which no device selector can use but which the checker knows.
#include <fmt/format.h>

#include "cel/ast.h"
#include "cel/environment.h"
#include "cel/named_format.h"
#include "cel/operations.h"

namespace berth::cel {
namespace {

using Arguments = std::span<const Value>;

Value Failed(Evaluation& evaluation, const Error& error) { return MakeError(evaluation.arena(), error.message); }

Value NewQuantity(Evaluation& evaluation, const Quantity& quantity, bool computed) {
  return Value::OfQuantity(evaluation.arena().New<QuantityObject>(quantity, computed));
}

Value ToQuantity(Evaluation& evaluation, Arguments arguments) {
  Result<Quantity> quantity = Quantity::Parse(arguments[0].text(), evaluation.arena());
  return quantity ? NewQuantity(evaluation, *quantity, false) : Failed(evaluation, quantity.error());
}
Value IsQuantity(Evaluation& evaluation, Arguments arguments) {
  return Value::Bool(Quantity::Parse(arguments[0].text(), evaluation.arena()).ok());
}
Value QuantitySign(Evaluation&, Arguments arguments) { return Value::Int(arguments[0].quantity().quantity.Sign()); }
int CompareQuantities(Arguments arguments) {
  return arguments[0].quantity().quantity.Compare(arguments[1].quantity().quantity);
}
Value QuantityGreater(Evaluation&, Arguments arguments) { return Value::Bool(CompareQuantities(arguments) > 0); }
Value QuantityLess(Evaluation&, Arguments arguments) { return Value::Bool(CompareQuantities(arguments) < 0); }
Value QuantityCompare(Evaluation&, Arguments arguments) { return Value::Int(CompareQuantities(arguments)); }
Value QuantityDouble(Evaluation&, Arguments arguments) {
  return Value::Double(arguments[0].quantity().quantity.AsApproximateDouble());
}
Value QuantityInt(Evaluation&, Arguments arguments) {
  int64_t value = 0;
  return arguments[0].quantity().quantity.AsInt(&value) ? Value::Int(value)
                                                        : Value::Error("cannot convert value to integer");
}
Value QuantityIsInt(Evaluation&, Arguments arguments) {
  int64_t value = 0;
  return Value::Bool(arguments[0].quantity().quantity.AsInt(&value));
}
Quantity OperandOf(const Value& value) {
  return value.kind() == Kind::kInt ? Quantity::FromInt(value.as_int()) : value.quantity().quantity;
}
Value QuantityAdd(Evaluation& evaluation, Arguments arguments) {
  return NewQuantity(evaluation, arguments[0].quantity().quantity.Add(OperandOf(arguments[1]), evaluation.arena()),
                     true);
}
Value QuantitySub(Evaluation& evaluation, Arguments arguments) {
  return NewQuantity(evaluation, arguments[0].quantity().quantity.Sub(OperandOf(arguments[1]), evaluation.arena()),
                     true);
}

Result<const Semver*> ReadSemver(Evaluation& evaluation, Arguments arguments) {
  const bool loose = arguments.size() == 2 && arguments[1].as_bool();
  return loose ? ParseLooseSemver(arguments[0].text(), evaluation.arena())
               : ParseSemver(arguments[0].text(), evaluation.arena());
}
Value ToSemver(Evaluation& evaluation, Arguments arguments) {
  Result<const Semver*> version = ReadSemver(evaluation, arguments);
  return version ? Value::OfSemver(*version) : Failed(evaluation, version.error());
}
Value IsSemver(Evaluation& evaluation, Arguments arguments) {
  return Value::Bool(ReadSemver(evaluation, arguments).ok());
}
int CompareSemvers(Arguments arguments) { return arguments[0].semver().Compare(arguments[1].semver()); }
Value SemverGreater(Evaluation&, Arguments arguments) { return Value::Bool(CompareSemvers(arguments) > 0); }
Value SemverLess(Evaluation&, Arguments arguments) { return Value::Bool(CompareSemvers(arguments) < 0); }
Value SemverCompare(Evaluation&, Arguments arguments) { return Value::Int(CompareSemvers(arguments)); }
Value SemverMajor(Evaluation&, Arguments arguments) {
  return Value::Int(static_cast<int64_t>(arguments[0].semver().major));
}
Value SemverMinor(Evaluation&, Arguments arguments) {
  return Value::Int(static_cast<int64_t>(arguments[0].semver().minor));
}
Value SemverPatch(Evaluation&, Arguments arguments) {
  return Value::Int(static_cast<int64_t>(arguments[0].semver().patch));
}

Value NewIp(Evaluation& evaluation, const IpAddress& address) {
  return Value::OfIp(evaluation.arena().New<IpAddress>(address));
}
Value ToIp(Evaluation& evaluation, Arguments arguments) {
  Result<IpAddress> address = ParseIp(arguments[0].text());
  return address ? NewIp(evaluation, *address) : Failed(evaluation, address.error());
}
Value IsIp(Evaluation&, Arguments arguments) { return Value::Bool(ParseIp(arguments[0].text()).ok()); }
Value IsCanonicalIp(Evaluation& evaluation, Arguments arguments) {
  Result<IpAddress> address = ParseIp(arguments[0].text());
  if (!address) return Failed(evaluation, address.error());
  return Value::Bool(address->ToString() == arguments[0].text());
}
Value IpFamily(Evaluation&, Arguments arguments) { return Value::Int(arguments[0].ip().v6 ? 6 : 4); }
template <bool (IpAddress::*kTest)() const>
Value IpTest(Evaluation&, Arguments arguments) {
  return Value::Bool((arguments[0].ip().*kTest)());
}
Value IpToString(Evaluation& evaluation, Arguments arguments) {
  return MakeString(evaluation, arguments[0].ip().ToString());
}

Value NewCidr(Evaluation& evaluation, const Cidr& cidr) { return Value::OfCidr(evaluation.arena().New<Cidr>(cidr)); }
Value ToCidr(Evaluation& evaluation, Arguments arguments) {
  Result<Cidr> cidr = ParseCidr(arguments[0].text());
  if (cidr) return NewCidr(evaluation, *cidr);
  // Upstream says this twice.
  return MakeError(evaluation.arena(),
                   "network address parse error during conversion from string: " + cidr.error().message);
}
Value IsCidr(Evaluation&, Arguments arguments) { return Value::Bool(ParseCidr(arguments[0].text()).ok()); }
Value CidrContainsIp(Evaluation&, Arguments arguments) {
  return Value::Bool(arguments[0].cidr().Contains(arguments[1].ip()));
}
Value CidrContainsIpText(Evaluation&, Arguments arguments) {
  Result<IpAddress> address = ParseIp(arguments[1].text());
  // Upstream drops the parser's message.
  return address ? Value::Bool(arguments[0].cidr().Contains(*address)) : NoSuchOverload();
}
bool CidrContains(const Cidr& a, const Cidr& b) { return a.Overlaps(b) && a.bits <= b.bits; }
Value CidrContainsCidr(Evaluation&, Arguments arguments) {
  return Value::Bool(CidrContains(arguments[0].cidr(), arguments[1].cidr()));
}
Value CidrContainsCidrText(Evaluation& evaluation, Arguments arguments) {
  const Value other = ToCidr(evaluation, arguments.subspan(1));
  return other.is_error() ? other : Value::Bool(CidrContains(arguments[0].cidr(), other.cidr()));
}
Value CidrIp(Evaluation& evaluation, Arguments arguments) { return NewIp(evaluation, arguments[0].cidr().address); }
Value CidrPrefixLength(Evaluation&, Arguments arguments) { return Value::Int(arguments[0].cidr().bits); }
Value CidrMasked(Evaluation& evaluation, Arguments arguments) {
  return NewCidr(evaluation, arguments[0].cidr().Masked());
}
Value CidrToString(Evaluation& evaluation, Arguments arguments) {
  return MakeString(evaluation, arguments[0].cidr().ToString());
}

Value ToUrl(Evaluation& evaluation, Arguments arguments) {
  Result<const Url*> url = ParseUrl(arguments[0].text(), evaluation.arena());
  if (url) return Value::OfUrl(*url);
  return MakeError(evaluation.arena(), "URL parse error during conversion from string: " + url.error().message);
}
Value IsUrl(Evaluation&, Arguments arguments) { return Value::Bool(CheckRequestUri(arguments[0].text()).ok()); }
Value UrlScheme(Evaluation&, Arguments arguments) { return Value::String(arguments[0].url().scheme); }
Value UrlHost(Evaluation&, Arguments arguments) { return Value::String(arguments[0].url().host); }
Value UrlHostname(Evaluation& evaluation, Arguments arguments) {
  return MakeString(evaluation, arguments[0].url().Hostname());
}
Value UrlPort(Evaluation& evaluation, Arguments arguments) { return MakeString(evaluation, arguments[0].url().Port()); }
Value UrlPath(Evaluation& evaluation, Arguments arguments) {
  return MakeString(evaluation, arguments[0].url().EscapedPath());
}
Value UrlQuery(Evaluation& evaluation, Arguments arguments) {
  std::vector<std::pair<std::string, std::vector<std::string>>> grouped;
  for (auto& [key, value] : arguments[0].url().Query()) {
    evaluation.Work(1 + grouped.size());
    auto found = grouped.begin();
    while (found != grouped.end() && found->first != key) ++found;
    if (found == grouped.end()) found = grouped.insert(found, {key, {}});
    found->second.push_back(std::move(value));
  }
  const std::span<MapEntry> entries = evaluation.arena().NewArray<MapEntry>(grouped.size());
  for (size_t i = 0; i < grouped.size(); ++i) {
    entries[i] = {MakeString(evaluation, grouped[i].first), MakeStringList(evaluation, grouped[i].second)};
  }
  return Value::Map(LiteralMap::Of(evaluation.arena(), entries));
}

Value NamedFormatFunction(Evaluation& evaluation, Arguments arguments) {
  const NamedFormat* format = FindNamedFormat(arguments[0].text());
  return format == nullptr ? Value::OptionalNone() : MakeOptional(evaluation, Value::OfFormat(format));
}
Value ValidateFormat(Evaluation& evaluation, Arguments arguments) {
  const std::vector<std::string> messages = arguments[0].format().validate(arguments[1].text());
  return messages.empty() ? Value::OptionalNone() : MakeOptional(evaluation, MakeStringList(evaluation, messages));
}
Value OptionalOfFunction(Evaluation& evaluation, Arguments arguments) { return MakeOptional(evaluation, arguments[0]); }
Value OptionalOfNonZero(Evaluation& evaluation, Arguments arguments) {
  return IsZeroValue(arguments[0]) ? Value::OptionalNone() : MakeOptional(evaluation, arguments[0]);
}
Value OptionalNoneFunction(Evaluation&, Arguments) { return Value::OptionalNone(); }
Value OptionalValue(Evaluation&, Arguments arguments) {
  return arguments[0].optional() == nullptr ? Value::Error("optional.none() dereference") : *arguments[0].optional();
}
Value OptionalHasValue(Evaluation&, Arguments arguments) { return Value::Bool(arguments[0].optional() != nullptr); }
Value First(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  return list.size() == 0 ? Value::OptionalNone() : MakeOptional(evaluation, list.Get(0));
}
Value Last(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  return list.size() == 0 ? Value::OptionalNone() : MakeOptional(evaluation, list.Get(list.size() - 1));
}
Value Unwrap(Evaluation& evaluation, Arguments arguments) {
  const ListObject& list = arguments[0].list();
  std::vector<Value> values;
  evaluation.Work(static_cast<uint64_t>(list.size()));
  for (int64_t i = 0; i < list.size(); ++i) {
    const Value element = list.Get(i);
    if (element.kind() != Kind::kOptional) {
      return MakeError(evaluation.arena(),
                       fmt::format("value {} is not optional", Display(element, evaluation.arena())));
    }
    if (element.optional() != nullptr) values.push_back(*element.optional());
  }
  return MakeList(evaluation, values);
}

// Formats by key, one function each.
template <size_t kIndex>
Value FormatConstant(Evaluation&, Arguments) {
  static constexpr const char* kKeys[] = {"dns1123Label",
                                          "dns1123Subdomain",
                                          "dns1035Label",
                                          "qualifiedName",
                                          "dns1123LabelPrefix",
                                          "dns1123SubdomainPrefix",
                                          "dns1035LabelPrefix",
                                          "labelValue",
                                          "uri",
                                          "uuid",
                                          "byte",
                                          "date",
                                          "datetime"};
  return Value::OfFormat(FindNamedFormat(kKeys[kIndex]));
}

// No value has one of these types, so such a function is never called.
Value Unreachable(Evaluation&, Arguments) { return NoSuchOverload(); }

}  // namespace

void AddQuantityLibrary(Environment& environment) {
  using namespace types;
  environment.Global("quantity", "string_to_quantity", {&kString}, &kQuantity, ToQuantity);
  environment.Global("isQuantity", "is_quantity_string", {&kString}, &kBool, IsQuantity);
  environment.Global("sign", "quantity_sign", {&kQuantity}, &kInt, QuantitySign);
  environment.Member("isGreaterThan", "quantity_is_greater_than", {&kQuantity, &kQuantity}, &kBool, QuantityGreater);
  environment.Member("isLessThan", "quantity_is_less_than", {&kQuantity, &kQuantity}, &kBool, QuantityLess);
  environment.Member("compareTo", "quantity_compare_to", {&kQuantity, &kQuantity}, &kInt, QuantityCompare);
  environment.Member("asApproximateFloat", "quantity_get_float", {&kQuantity}, &kDouble, QuantityDouble);
  environment.Member("asInteger", "quantity_get_int", {&kQuantity}, &kInt, QuantityInt);
  environment.Member("isInteger", "quantity_is_integer", {&kQuantity}, &kBool, QuantityIsInt);
  environment.Member("add", "quantity_add", {&kQuantity, &kQuantity}, &kQuantity, QuantityAdd)
      .Member("add", "quantity_add_int", {&kQuantity, &kInt}, &kQuantity, QuantityAdd);
  environment.Member("sub", "quantity_sub", {&kQuantity, &kQuantity}, &kQuantity, QuantitySub)
      .Member("sub", "quantity_sub_int", {&kQuantity, &kInt}, &kQuantity, QuantitySub);
}

void AddSemverLibrary(Environment& environment) {
  using namespace types;
  environment.Global("semver", "string_to_semver", {&kString}, &kSemver, ToSemver)
      .Global("semver", "string_bool_to_semver", {&kString, &kBool}, &kSemver, ToSemver);
  environment.Global("isSemver", "is_semver_string", {&kString}, &kBool, IsSemver)
      .Global("isSemver", "is_semver_string_bool", {&kString, &kBool}, &kBool, IsSemver);
  environment.Member("isGreaterThan", "semver_is_greater_than", {&kSemver, &kSemver}, &kBool, SemverGreater);
  environment.Member("isLessThan", "semver_is_less_than", {&kSemver, &kSemver}, &kBool, SemverLess);
  environment.Member("compareTo", "semver_compare_to", {&kSemver, &kSemver}, &kInt, SemverCompare);
  environment.Member("major", "semver_major", {&kSemver}, &kInt, SemverMajor);
  environment.Member("minor", "semver_minor", {&kSemver}, &kInt, SemverMinor);
  environment.Member("patch", "semver_patch", {&kSemver}, &kInt, SemverPatch);
}

void AddIpLibrary(Environment& environment) {
  using namespace types;
  environment.DeclareType(&kIp, &kIp);
  environment.Global("ip", "string_to_ip", {&kString}, &kIp, ToIp);
  environment.Member("family", "ip_family", {&kIp}, &kInt, IpFamily);
  environment.Global("ip.isCanonical", "ip_is_canonical", {&kString}, &kBool, IsCanonicalIp);
  environment.Member("isUnspecified", "ip_is_unspecified", {&kIp}, &kBool, IpTest<&IpAddress::IsUnspecified>);
  environment.Member("isLoopback", "ip_is_loopback", {&kIp}, &kBool, IpTest<&IpAddress::IsLoopback>);
  environment.Member("isLinkLocalMulticast", "ip_is_link_local_multicast", {&kIp}, &kBool,
                     IpTest<&IpAddress::IsLinkLocalMulticast>);
  environment.Member("isLinkLocalUnicast", "ip_is_link_local_unicast", {&kIp}, &kBool,
                     IpTest<&IpAddress::IsLinkLocalUnicast>);
  environment.Member("isGlobalUnicast", "ip_is_global_unicast", {&kIp}, &kBool, IpTest<&IpAddress::IsGlobalUnicast>);
  environment.Global("isIP", "is_ip", {&kString}, &kBool, IsIp);
  environment.Global("string", "ip_to_string", {&kIp}, &kString, IpToString);
}

void AddCidrLibrary(Environment& environment) {
  using namespace types;
  environment.DeclareType(&kCidr, &kCidr);
  environment.Global("cidr", "string_to_cidr", {&kString}, &kCidr, ToCidr);
  environment.Member("containsIP", "cidr_contains_ip_string", {&kCidr, &kString}, &kBool, CidrContainsIpText)
      .Member("containsIP", "cidr_contains_ip_ip", {&kCidr, &kIp}, &kBool, CidrContainsIp);
  environment.Member("containsCIDR", "cidr_contains_cidr_string", {&kCidr, &kString}, &kBool, CidrContainsCidrText)
      .Member("containsCIDR", "cidr_contains_cidr", {&kCidr, &kCidr}, &kBool, CidrContainsCidr);
  environment.Member("ip", "cidr_ip", {&kCidr}, &kIp, CidrIp);
  environment.Member("prefixLength", "cidr_prefix_length", {&kCidr}, &kInt, CidrPrefixLength);
  environment.Member("masked", "cidr_masked", {&kCidr}, &kCidr, CidrMasked);
  environment.Global("isCIDR", "is_cidr", {&kString}, &kBool, IsCidr);
  environment.Global("string", "cidr_to_string", {&kCidr}, &kString, CidrToString);
}

void AddUrlLibrary(Environment& environment) {
  using namespace types;
  TypePool& pool = environment.pool();
  environment.Global("url", "string_to_url", {&kString}, &kUrl, ToUrl);
  environment.Member("getScheme", "url_get_scheme", {&kUrl}, &kString, UrlScheme);
  environment.Member("getHost", "url_get_host", {&kUrl}, &kString, UrlHost);
  environment.Member("getHostname", "url_get_hostname", {&kUrl}, &kString, UrlHostname);
  environment.Member("getPort", "url_get_port", {&kUrl}, &kString, UrlPort);
  environment.Member("getEscapedPath", "url_get_escaped_path", {&kUrl}, &kString, UrlPath);
  environment.Member("getQuery", "url_get_query", {&kUrl}, pool.Map(&kString, pool.List(&kString)), UrlQuery);
  environment.Global("isURL", "is_url_string", {&kString}, &kBool, IsUrl);
}

void AddNamedFormats(Environment& environment) {
  using namespace types;
  TypePool& pool = environment.pool();
  environment.Member("validate", "format-validate", {&kFormat, &kString}, pool.Optional(pool.List(&kString)),
                     ValidateFormat);
  environment.Global("format.named", "format-named", {&kString}, pool.Optional(&kFormat), NamedFormatFunction);
  constexpr std::pair<const char*, Implementation> kConstants[] = {
      {"format.dns1123Label", FormatConstant<0>},
      {"format.dns1123Subdomain", FormatConstant<1>},
      {"format.dns1035Label", FormatConstant<2>},
      {"format.qualifiedName", FormatConstant<3>},
      {"format.dns1123LabelPrefix", FormatConstant<4>},
      {"format.dns1123SubdomainPrefix", FormatConstant<5>},
      {"format.dns1035LabelPrefix", FormatConstant<6>},
      {"format.labelValue", FormatConstant<7>},
      {"format.uri", FormatConstant<8>},
      {"format.uuid", FormatConstant<9>},
      {"format.byte", FormatConstant<10>},
      {"format.date", FormatConstant<11>},
      {"format.datetime", FormatConstant<12>},
  };
  for (const auto& [name, implementation] : kConstants) environment.Global(name, name, {}, &kFormat, implementation);
}

void AddOptionals(Environment& environment) {
  using namespace types;
  TypePool& pool = environment.pool();
  const Type* optional = pool.Optional(&kA);
  const Type* list = pool.List(&kA);
  const Type* map = pool.Map(&kA, &kB);
  const Type* value = pool.Optional(&kB);
  const Type* optionals = pool.List(optional);
  environment.DeclareType(&kOptional, &kOptional);
  environment.Global("optional.of", "optional_of", {&kA}, optional, OptionalOfFunction);
  environment.Global("optional.ofNonZeroValue", "optional_ofNonZeroValue", {&kA}, optional, OptionalOfNonZero);
  environment.Global("optional.none", "optional_none", {}, optional, OptionalNoneFunction);
  environment.Member("value", "optional_value", {optional}, &kA, OptionalValue);
  environment.Member("hasValue", "optional_hasValue", {optional}, &kBool, OptionalHasValue);
  environment.Member("or", "optional_or_optional", {optional, optional}, optional);
  environment.Member("orValue", "optional_orValue_value", {optional, &kA}, &kA);
  environment.Global(operators::kOptionalSelect, "select_optional_field", {&kDyn, &kString}, optional);
  environment.Global(operators::kOptionalIndex, "list_optindex_optional_int", {list, &kInt}, optional)
      .Global(operators::kOptionalIndex, "optional_list_optindex_optional_int", {pool.Optional(list), &kInt}, optional)
      .Global(operators::kOptionalIndex, "map_optindex_optional_value", {map, &kA}, value)
      .Global(operators::kOptionalIndex, "optional_map_optindex_optional_value", {pool.Optional(map), &kA}, value);
  environment.Global(operators::kIndex, "optional_list_index_int", {pool.Optional(list), &kInt}, optional)
      .Global(operators::kIndex, "optional_map_index_value", {pool.Optional(map), &kA}, value);
  environment.Member("last", "list_last", {list}, optional, Last);
  environment.Member("first", "list_first", {list}, optional, First);
  environment.Global("optional.unwrap", "optional_unwrap", {optionals}, list, Unwrap);
  environment.Member("unwrapOpt", "optional_unwrapOpt", {optionals}, list, Unwrap);
}

namespace {

const Type kAuthorizer{TypeKind::kStruct, "kubernetes.authorization.Authorizer", {}};
const Type kPathCheck{TypeKind::kStruct, "kubernetes.authorization.PathCheck", {}};
const Type kGroupCheck{TypeKind::kStruct, "kubernetes.authorization.GroupCheck", {}};
const Type kResourceCheck{TypeKind::kStruct, "kubernetes.authorization.ResourceCheck", {}};
const Type kDecision{TypeKind::kStruct, "kubernetes.authorization.Decision", {}};

}  // namespace

void AddAuthorizationDeclarations(Environment& environment) {
  using namespace types;
  environment.Member("path", "authorizer_path", {&kAuthorizer, &kString}, &kPathCheck, Unreachable);
  environment.Member("group", "authorizer_group", {&kAuthorizer, &kString}, &kGroupCheck, Unreachable);
  environment.Member("serviceAccount", "authorizer_serviceaccount", {&kAuthorizer, &kString, &kString}, &kAuthorizer,
                     Unreachable);
  environment.Member("resource", "groupcheck_resource", {&kGroupCheck, &kString}, &kResourceCheck, Unreachable);
  environment.Member("subresource", "resourcecheck_subresource", {&kResourceCheck, &kString}, &kResourceCheck,
                     Unreachable);
  environment.Member("namespace", "resourcecheck_namespace", {&kResourceCheck, &kString}, &kResourceCheck, Unreachable);
  environment.Member("name", "resourcecheck_name", {&kResourceCheck, &kString}, &kResourceCheck, Unreachable);
  environment.Member("check", "pathcheck_check", {&kPathCheck, &kString}, &kDecision, Unreachable)
      .Member("check", "resourcecheck_check", {&kResourceCheck, &kString}, &kDecision, Unreachable);
  environment.Member("errored", "decision_errored", {&kDecision}, &kBool, Unreachable);
  environment.Member("error", "decision_error", {&kDecision}, &kString, Unreachable);
  environment.Member("allowed", "decision_allowed", {&kDecision}, &kBool, Unreachable);
  environment.Member("reason", "decision_reason", {&kDecision}, &kString, Unreachable);
}

void AddAuthorizationSelectorDeclarations(Environment& environment) {
  using namespace types;
  environment.Member("fieldSelector", "authorizer_fieldselector", {&kResourceCheck, &kString}, &kResourceCheck,
                     Unreachable);
  environment.Member("labelSelector", "authorizer_labelselector", {&kResourceCheck, &kString}, &kResourceCheck,
                     Unreachable);
}

}  // namespace berth::cel
