#include "cel/device_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cel/operations.h"

namespace berth::cel {
namespace {

// includes: like ==, or `in` a list; longer lists would cost too much.
Value Includes(Evaluation& evaluation, std::span<const Value> arguments) {
  constexpr int64_t kMaxValues = 48;
  if (arguments[0].kind() != Kind::kList) return Value::Bool(IsEqual(evaluation, arguments[0], arguments[1]));
  const ListObject& list = arguments[0].list();
  for (int64_t i = 0; i < list.size(); ++i) {
    if (i >= kMaxValues) {
      return MakeError(evaluation.arena(),
                       fmt::format("'includes' function cannot be applied to lists longer than {} values", kMaxValues));
    }
    if (IsEqual(evaluation, list.Get(i), arguments[1])) return Value::Bool(true);
  }
  return Value::Bool(false);
}

// Keys are strings; any other key is not found.
template <class T>
const T* FindNamed(std::span<const T> entries, const Value& key) {
  if (key.kind() != Kind::kString) return nullptr;
  const auto found = std::lower_bound(entries.begin(), entries.end(), key.text(),
                                      [](const T& entry, std::string_view name) { return entry.name < name; });
  return found != entries.end() && found->name == key.text() ? &*found : nullptr;
}

struct NamedValue {
  std::string_view name;
  Value value;
};

class NamesMap final : public MapObject {
 public:
  explicit NamesMap(std::span<const NamedValue> entries) : entries_(entries) {}
  int64_t size() const override { return static_cast<int64_t>(entries_.size()); }
  bool Find(const Value& key, Arena&, Value* found) const override {
    const NamedValue* entry = FindNamed(entries_, key);
    if (entry != nullptr) *found = entry->value;
    return entry != nullptr;
  }
  Value KeyAt(int64_t index) const override { return Value::String(entries_[static_cast<size_t>(index)].name); }
  Value ValueAt(int64_t index, Arena&) const override { return entries_[static_cast<size_t>(index)].value; }
  bool is_hashed() const override { return false; }

 private:
  std::span<const NamedValue> entries_;
};

const NamesMap kEmptyMap{{}};

// Domains of attributes or capacities. A missing domain reads as an empty map.
class DomainsMap final : public MapObject {
 public:
  DomainsMap(std::span<const NamedValue> entries, bool with_default) : entries_(entries), with_default_(with_default) {}
  int64_t size() const override { return static_cast<int64_t>(entries_.size()); }
  bool Find(const Value& key, Arena&, Value* found) const override {
    const NamedValue* entry = FindNamed(entries_, key);
    if (entry == nullptr && !with_default_) return false;
    *found = entry == nullptr ? Value::Map(&kEmptyMap) : entry->value;
    return true;
  }
  bool Contains(const Value& key, Arena&) const override { return FindNamed(entries_, key) != nullptr; }
  Value KeyAt(int64_t index) const override { return Value::String(entries_[static_cast<size_t>(index)].name); }
  Value ValueAt(int64_t index, Arena&) const override { return entries_[static_cast<size_t>(index)].value; }
  const MapObject* Plain(Arena& arena) const override { return arena.New<DomainsMap>(entries_, false); }
  bool is_hashed() const override { return false; }

 private:
  std::span<const NamedValue> entries_;
  bool with_default_;
};

struct QualifiedValue {
  std::string_view domain;
  std::string_view name;
  Value value;
};

std::pair<std::string_view, std::string_view> SplitName(std::string_view name, std::string_view driver) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {driver, name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

// Sorts by domain and name; of equal names the last stays.
Value BuildDomains(Arena& arena, std::vector<QualifiedValue>& values) {
  std::stable_sort(values.begin(), values.end(), [](const QualifiedValue& a, const QualifiedValue& b) {
    return std::pair(a.domain, a.name) < std::pair(b.domain, b.name);
  });
  std::vector<NamedValue> domains;
  for (size_t i = 0; i < values.size();) {
    size_t end = i;
    std::vector<NamedValue> names;
    for (; end < values.size() && values[end].domain == values[i].domain; ++end) {
      if (!names.empty() && names.back().name == values[end].name) names.pop_back();
      names.push_back({values[end].name, values[end].value});
    }
    const std::span<NamedValue> kept = arena.NewArray<NamedValue>(names.size());
    std::copy(names.begin(), names.end(), kept.begin());
    domains.push_back({values[i].domain, Value::Map(arena.New<NamesMap>(std::span<const NamedValue>(kept)))});
    i = end;
  }
  const std::span<NamedValue> kept = arena.NewArray<NamedValue>(domains.size());
  std::copy(domains.begin(), domains.end(), kept.begin());
  return Value::Map(arena.New<DomainsMap>(std::span<const NamedValue>(kept), true));
}

Error BadVersion(const Error& error) { return Error::InvalidArgument("parse semantic version: " + error.message); }

// Converts one attribute; lists only where the feature is on.
class Converter {
 public:
  Converter(Arena& arena, bool lists) : arena_(arena), lists_(lists) {}

  Result<Value> operator()(std::monostate) const { return Unsupported(); }
  Result<Value> operator()(int64_t value) const { return Value::Int(value); }
  Result<Value> operator()(bool value) const { return Value::Bool(value); }
  Result<Value> operator()(const std::string& value) const { return Value::String(arena_.Copy(value)); }
  Result<Value> operator()(const VersionText& value) const { return Version(value.text); }
  Result<Value> operator()(const std::vector<int64_t>& values) const {
    return List(values, [](int64_t value) -> Result<Value> { return Value::Int(value); });
  }
  Result<Value> operator()(const std::vector<bool>& values) const {
    return List(values, [](bool value) -> Result<Value> { return Value::Bool(value); });
  }
  Result<Value> operator()(const std::vector<std::string>& values) const {
    return List(values, [&](const std::string& value) -> Result<Value> { return Value::String(arena_.Copy(value)); });
  }
  Result<Value> operator()(const VersionTexts& values) const {
    return List(values.texts, [&](const std::string& value) { return Version(value); });
  }

 private:
  static Error Unsupported() { return Error::InvalidArgument("unsupported attribute value"); }
  Result<Value> Version(const std::string& text) const {
    Result<const Semver*> version = ParseSemver(text, arena_);
    if (!version) return BadVersion(version.error());
    return Value::OfSemver(*version);
  }
  template <class Values, class Convert>
  Result<Value> List(const Values& values, const Convert& convert) const {
    if (!lists_) return Unsupported();
    const std::span<Value> items = arena_.NewArray<Value>(values.size());
    size_t i = 0;
    for (const auto& value : values) {
      Result<Value> item = convert(value);
      if (!item) return item;
      items[i++] = *item;
    }
    return Value::List(ListObject::Of(arena_, items));
  }

  Arena& arena_;
  bool lists_;
};

}  // namespace

std::shared_ptr<const Environment> NewDeviceEnvironment(const DeviceFeatures& features) {
  using namespace types;
  auto environment = std::make_shared<Environment>();
  AddKubernetesLibraries(*environment);
  TypePool& pool = environment->pool();
  const Type* device = pool.Object("kubernetes.DRADevice");
  const Type* attribute = features.list_type_attributes ? &kDyn : &kAny;
  environment->DeclareType(device, nullptr);
  environment->DeclareVariable("device", device);
  environment->DeclareField(device->name, "driver", &kString);
  environment->DeclareField(device->name, "attributes", pool.Map(&kString, pool.Map(&kString, attribute)));
  environment->DeclareField(device->name, "capacity", pool.Map(&kString, pool.Map(&kString, &kQuantity)));
  environment->DeclareField(device->name, "allowMultipleAllocations", &kBool);
  environment->Member("includes", "dra_includes_dyn_dyn", {&kDyn, &kDyn}, &kBool, Includes);
  environment->set_dynamic_result(features.list_type_attributes);
  return environment;
}

struct DeviceInput::Content {
  Arena arena;
};

DeviceInput::~DeviceInput() = default;
DeviceInput::DeviceInput(DeviceInput&&) noexcept = default;
DeviceInput& DeviceInput::operator=(DeviceInput&&) noexcept = default;

DeviceInput::DeviceInput(const DeviceFeatures& features, std::string_view driver, bool allow_multiple_allocations,
                         const std::vector<Attribute>& attributes, const std::vector<Capacity>& capacity)
    : content_(std::make_unique<Content>()) {
  Arena& arena = content_->arena;
  driver = arena.Copy(driver);
  const Converter convert(arena, features.list_type_attributes);
  std::vector<QualifiedValue> values;
  for (const Attribute& attribute : attributes) {
    Result<Value> value = std::visit(convert, attribute.value);
    if (!value) {
      if (!error_) error_ = fmt::format("attribute {}: {}", attribute.name, value.error().message);
      continue;
    }
    const auto [domain, name] = SplitName(arena.Copy(attribute.name), driver);
    values.push_back({domain, name, *value});
  }
  const Value attribute_map = BuildDomains(arena, values);
  values.clear();
  for (const Capacity& entry : capacity) {
    // The API server stores only valid ones; an unreadable one counts as nothing.
    Result<Quantity> quantity = Quantity::Parse(entry.quantity, arena);
    const auto [domain, name] = SplitName(arena.Copy(entry.name), driver);
    values.push_back(
        {domain, name, Value::OfQuantity(arena.New<QuantityObject>(quantity ? *quantity : Quantity(), false))});
  }
  const std::span<NamedValue> fields = arena.NewArray<NamedValue>(4);
  fields[0] = {"allowMultipleAllocations", Value::Bool(allow_multiple_allocations)};
  fields[1] = {"attributes", attribute_map};
  fields[2] = {"capacity", BuildDomains(arena, values)};
  fields[3] = {"driver", Value::String(driver)};
  variable_ = Value::Map(arena.New<NamesMap>(std::span<const NamedValue>(fields)));
}

Outcome Evaluate(const Program& program, const DeviceInput& device) {
  if (device.error()) {
    Outcome outcome;
    outcome.failure = Failure{FailureKind::kAttribute, *device.error()};
    return outcome;
  }
  return program.Evaluate(device.variable());
}

}  // namespace berth::cel
