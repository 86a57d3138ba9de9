#include "dra/selectors.h"

namespace berth::dra {
namespace {

// Beyond this many different expressions the cache starts over.
constexpr size_t kMaxCompiled = 4096;
// And beyond this many about one device, its answers do.
constexpr size_t kMaxAnswers = 64;

cel::AttributeValue AttributeValueOf(const api::DeviceAttribute& attribute) {
  if (attribute.int_value) return *attribute.int_value;
  if (attribute.bool_value) return *attribute.bool_value;
  if (attribute.string_value) return *attribute.string_value;
  if (attribute.version_value) return cel::VersionText{*attribute.version_value};
  if (!attribute.int_values.empty()) return attribute.int_values;
  if (!attribute.bool_values.empty()) {
    std::vector<bool> values;
    for (const api::BoolValue& value : attribute.bool_values) values.push_back(value.value);
    return values;
  }
  if (!attribute.string_values.empty()) return attribute.string_values;
  if (!attribute.version_values.empty()) return cel::VersionTexts{attribute.version_values};
  return std::monostate();
}

std::unique_ptr<const cel::DeviceInput> InputOf(const cel::DeviceFeatures& features, const std::string& driver,
                                                const api::Device& device) {
  std::vector<cel::DeviceInput::Attribute> attributes;
  for (const auto& [name, attribute] : device.attributes) attributes.push_back({name, AttributeValueOf(attribute)});
  std::vector<cel::DeviceInput::Capacity> capacity;
  for (const auto& [name, amount] : device.capacity) capacity.push_back({name, amount.value.ToString()});
  return std::make_unique<const cel::DeviceInput>(features, driver, device.allow_multiple_allocations.value_or(false),
                                                  attributes, capacity);
}

}  // namespace

SelectorCache::SelectorCache(bool list_type_attributes) : features_{list_type_attributes} {}

std::shared_ptr<const CompiledSelector> SelectorCache::Compile(const std::string& expression) {
  if (const auto found = compiled_.find(expression); found != compiled_.end()) return found->second;
  if (!environment_) environment_ = cel::NewDeviceEnvironment(features_);
  if (compiled_.size() >= kMaxCompiled) compiled_.clear();
  auto compiled = std::make_shared<CompiledSelector>();
  auto outcome = cel::Compile(expression, environment_);
  if (const auto* failure = std::get_if<cel::Failure>(&outcome)) {
    compiled->error = failure->text;
  } else {
    compiled->program = std::get<0>(outcome);
  }
  return compiled_[expression] = std::move(compiled);
}

const SelectorAnswers::Answer& SelectorAnswers::Ask(const std::shared_ptr<const CompiledSelector>& selector,
                                                    const cel::DeviceFeatures& features, const std::string& driver,
                                                    const api::Device& device) {
  if (const Answer* known = Find(selector)) return *known;
  if (!input_) input_ = InputOf(features, driver, device);
  const cel::Outcome outcome = cel::Evaluate(*selector->program, *input_);
  if (answers_.size() >= kMaxAnswers) answers_.clear();
  Answer answer{outcome.matches, outcome.failure ? outcome.failure->text : std::string(), outcome.cost};
  return answers_.emplace_back(selector, std::move(answer)).second;
}

}  // namespace berth::dra
