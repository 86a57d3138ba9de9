#include "cel_cases.h"

#include <fmt/format.h>

#include <map>

#include "cel/device_environment.h"

namespace berth::parity {
namespace {

bool GateOf(const codec::Value& recorded, std::string_view gate, bool otherwise) {
  const codec::Value* gates = recorded.Find("featureGates");
  const codec::Value* found = gates ? gates->Find(gate) : nullptr;
  return found ? found->boolean() : otherwise;
}

std::vector<std::string> TextsOf(const codec::Value& list) {
  std::vector<std::string> texts;
  for (const codec::Value& item : list.items()) texts.emplace_back(item.text());
  return texts;
}

int64_t IntegerOf(const codec::Value& value) { return std::stoll(std::string(value.text())); }

cel::AttributeValue AttributeOf(const codec::Value& attribute) {
  if (const codec::Value* value = attribute.Find("int")) return IntegerOf(*value);
  if (const codec::Value* value = attribute.Find("bool")) return value->boolean();
  if (const codec::Value* value = attribute.Find("string")) return std::string(value->text());
  if (const codec::Value* value = attribute.Find("version")) return cel::VersionText{std::string(value->text())};
  if (const codec::Value* value = attribute.Find("strings")) return TextsOf(*value);
  if (const codec::Value* value = attribute.Find("versions")) return cel::VersionTexts{TextsOf(*value)};
  if (const codec::Value* value = attribute.Find("ints")) {
    std::vector<int64_t> numbers;
    for (const codec::Value& item : value->items()) numbers.push_back(IntegerOf(item));
    return numbers;
  }
  if (const codec::Value* value = attribute.Find("bools")) {
    std::vector<bool> flags;
    for (const codec::Value& item : value->items()) flags.push_back(item.boolean());
    return flags;
  }
  return std::monostate();
}

cel::DeviceInput DeviceOf(const codec::Value& recorded, const cel::DeviceFeatures& features) {
  std::vector<cel::DeviceInput::Attribute> attributes;
  if (const codec::Value* map = recorded.Find("attributes")) {
    for (const codec::Member& member : map->members()) {
      attributes.push_back({std::string(member.key), AttributeOf(member.value)});
    }
  }
  std::vector<cel::DeviceInput::Capacity> capacity;
  if (const codec::Value* map = recorded.Find("capacity")) {
    for (const codec::Member& member : map->members()) {
      capacity.push_back({std::string(member.key), std::string(TextOf(member.value, "value"))});
    }
  }
  const codec::Value* multiple = recorded.Find("allowMultipleAllocations");
  return cel::DeviceInput(features, TextOf(recorded, "driver"), multiple && multiple->boolean(), attributes, capacity);
}

const std::shared_ptr<const cel::Environment>& EnvironmentFor(const cel::DeviceFeatures& features) {
  static std::map<bool, std::shared_ptr<const cel::Environment>> environments;
  auto& environment = environments[features.list_type_attributes];
  if (!environment) environment = cel::NewDeviceEnvironment(features);
  return environment;
}

cel::Outcome Judge(const codec::Value& recorded) {
  const cel::DeviceFeatures features{GateOf(recorded, "DRAListTypeAttributes", false)};
  auto compiled = cel::Compile(TextOf(recorded, "expression"), EnvironmentFor(features));
  cel::Outcome outcome;
  if (const auto* failure = std::get_if<cel::Failure>(&compiled)) {
    outcome.failure = *failure;
    return outcome;
  }
  return Evaluate(*std::get<0>(compiled), DeviceOf(recorded, features));
}

}  // namespace

bool IsCelCase(const codec::Value& recorded) { return recorded.Find("expression") != nullptr; }

Result<std::vector<Difference>> RunCelCase(const codec::Value& recorded) {
  const codec::Value* expect = recorded.Find("expect");
  if (!expect) return Error::InvalidArgument("an expression needs expect");
  const cel::Outcome outcome = Judge(recorded);
  std::vector<Difference> differences;
  const auto compare = [&](std::string field, std::string expected, std::string got) {
    if (expected != got) differences.push_back({std::move(field), "", std::move(expected), std::move(got)});
  };
  const codec::Value* matches = expect->Find("matches");
  const std::string got_matches = outcome.failure ? "none" : outcome.matches ? "true" : "false";
  compare("matches", matches ? (matches->boolean() ? "true" : "false") : "none", got_matches);

  const codec::Value* error = expect->Find("error");
  const std::string kind = error ? std::string(TextOf(*error, "kind")) : "none";
  const std::string got_kind = outcome.failure ? std::string(FailureKindName(outcome.failure->kind)) : "none";
  const std::string got_text = outcome.failure ? outcome.failure->text : "";
  // The wording of syntax errors may differ, and a text that depends on the order of a map is not recorded.
  const bool has_text = error && error->Find("text") && kind != "syntax";
  compare("error", kind + (has_text ? fmt::format(": {}", TextOf(*error, "text")) : ""),
          got_kind + (has_text || kind != got_kind ? ": " + got_text : ""));

  if (const codec::Value* cost = expect->Find("cost")) {
    compare("cost", std::string(cost->text()), fmt::format("{}", outcome.cost));
  }
  return differences;
}

}  // namespace berth::parity
