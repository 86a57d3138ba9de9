#include "plugins/dynamic_resources/device_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "dra/capacity.h"
#include "dra/constraints.h"

namespace berth::plugins {
namespace {

using Kind = DeviceVerdict::Kind;

std::string ValueText(const api::DeviceAttribute& attribute) {
  if (attribute.string_value) return fmt::format("\"{}\"", *attribute.string_value);
  if (attribute.int_value) return fmt::format("{}", *attribute.int_value);
  if (attribute.bool_value) return *attribute.bool_value ? "true" : "false";
  if (attribute.version_value) return *attribute.version_value;
  return "a list";
}

std::string CapacityText(const api::Device& device, const std::string& driver, const std::string& domain,
                         const std::string& name) {
  const api::DeviceCapacity* found = device.capacity.Find(domain + "/" + name);
  if (!found && domain == driver) found = device.capacity.Find(name);
  return found ? fmt::format("{} = {}", name, found->value.ToString()) : fmt::format("no capacity {}", name);
}

// What of the device the expression looked at: "model = \"a100\", memory = 40Gi".
std::string ValuesSeen(const cel::Program& program, const dra::Pool::Device& device) {
  constexpr size_t kMaxShown = 6;
  const std::string& driver = device.slice->spec().driver;
  const api::Device& object = device.object();
  std::vector<std::string> texts;
  if (const std::vector<cel::Path>* reads = program.reads()) {
    for (const cel::Path& path : *reads) {
      if (path.size() == 1 && path[0] == "driver") texts.push_back(fmt::format("driver = \"{}\"", driver));
      if (path.size() < 3) continue;
      if (path[0] == "attributes") texts.push_back(AttributeText(object, driver, path[1] + "/" + path[2]));
      if (path[0] == "capacity") texts.push_back(CapacityText(object, driver, path[1], path[2]));
    }
  } else {
    for (const auto& [name, attribute] : object.attributes) {
      texts.push_back(fmt::format("{} = {}", name, ValueText(attribute)));
    }
    for (const auto& [name, amount] : object.capacity) {
      texts.push_back(fmt::format("{} = {}", name, amount.value.ToString()));
    }
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  if (texts.size() > kMaxShown) texts.resize(kMaxShown);
  return texts.empty() ? "no attributes" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string TaintText(const api::DeviceTaint& taint) {
  return taint.value.empty() ? fmt::format("{}:{}", taint.key, taint.effect)
                             : fmt::format("{}={}:{}", taint.key, taint.value, taint.effect);
}

std::string Amount(api::Quantity::Nanos nanos) {
  constexpr int64_t kNano = 1'000'000'000;
  constexpr std::pair<const char*, int64_t> kUnits[] = {
      {"Ti", int64_t{1} << 40}, {"Gi", int64_t{1} << 30}, {"Mi", int64_t{1} << 20}, {"Ki", int64_t{1} << 10}};
  const auto whole = static_cast<int64_t>(nanos / kNano);
  for (const auto& [unit, size] : kUnits) {
    if (whole != 0 && whole % size == 0) return fmt::format("{}{}", whole / size, unit);
  }
  return fmt::format("{}", whole);
}

}  // namespace

std::string AttributeText(const api::Device& device, const std::string& driver, const std::string& full_name) {
  const api::DeviceAttribute* found = dra::FindAttribute(device, driver, full_name);
  const std::string name = full_name.starts_with(driver + "/") ? full_name.substr(driver.size() + 1) : full_name;
  return found ? fmt::format("{} = {}", name, ValueText(*found)) : fmt::format("no attribute {}", name);
}

std::optional<DeviceVerdict> DeviceJudge::AskSelectors(const std::vector<api::DeviceSelector>& selectors,
                                                       std::string_view whose, const dra::Pool::Device& device) const {
  for (size_t i = 0; i < selectors.size(); ++i) {
    const std::string expression = selectors[i].cel ? selectors[i].cel->expression : std::string();
    const auto compiled = inventory_.selectors().Compile(expression);
    const auto told = [&](std::string why) {
      return DeviceVerdict{Kind::kSelector, fmt::format("{} selector `{}` {}", whose, expression, why), i, {}};
    };
    if (!compiled->program) return told("does not compile");
    const dra::SelectorAnswers::Answer& answer =
        device.answers().Ask(compiled, inventory_.selectors().features(), device.slice->spec().driver, device.object());
    if (!answer.error.empty()) return told("fails: " + answer.error);
    if (!answer.matches) return told("is false: " + ValuesSeen(*compiled->program, device));
  }
  return std::nullopt;
}

std::string DeviceJudge::ShortCounters(const dra::Pool& pool, const dra::Pool::Device& device) const {
  if (device.consumes.empty()) return {};
  const std::vector<dra::Pool::Amount>& left = pool.AvailableCounters(inventory_.devices());
  size_t next = 0;
  for (const api::DeviceCounterConsumption& consumption : device.object().consumes_counters) {
    for (const auto& [name, counter] : consumption.counters) {
      if (next >= device.consumes.size()) return {};
      const dra::Pool::Consumption& wanted = device.consumes[next++];
      if (left[wanted.counter] >= wanted.amount) continue;
      return fmt::format("counter {} of {}: needs {}, {} left of {}", name, consumption.counter_set,
                         counter.value.ToString(), Amount(std::max<dra::Pool::Amount>(left[wanted.counter], 0)),
                         Amount(pool.counters[wanted.counter]));
    }
  }
  const bool overdrawn = std::any_of(left.begin(), left.end(), [](const auto& amount) { return amount < 0; });
  return overdrawn ? "another counter of the pool is overdrawn" : "";
}

std::string DeviceJudge::ShortCapacity(const dra::RequestView& request, const dra::Pool::Device& device) const {
  if (!inventory_.features().consumable_capacity) return {};
  const dra::ConsumedCapacity* used = inventory_.devices().Consumed(device.id);
  if (dra::CapacitySuffices(request.capacity, device.object(), used, nullptr)) return {};
  if (request.capacity) {
    for (const auto& [name, amount] : request.capacity->requests) {
      if (!device.object().capacity.Contains(name)) return fmt::format("no capacity {}", name);
    }
  }
  const dra::ConsumedCapacity wanted = dra::ConsumptionOf(request.capacity, device.object());
  for (const auto& [name, capacity] : device.object().capacity) {
    api::Quantity left = capacity.value;
    if (const api::Quantity* amount = used ? used->Find(name) : nullptr) left.Sub(*amount);
    if (*wanted.Find(name) > left) {
      return fmt::format("capacity {}: needs {}, {} left of {}", name, wanted.Find(name)->ToString(), left.ToString(),
                         capacity.value.ToString());
    }
  }
  return "its request policy does not allow the amount that is asked for";
}

DeviceVerdict DeviceJudge::Judge(const dra::RequestView& request, const dra::Pool& pool,
                                 const dra::Pool::Device& device) const {
  const api::Device& object = device.object();
  const auto device_class = inventory_.classes().find(*request.device_class_name);
  if (device_class == inventory_.classes().end()) return {Kind::kOther, "the class does not exist", 0, {}};
  if (auto verdict = AskSelectors(device_class->second->spec.selectors, "class", device)) {
    verdict->kind = Kind::kClass;
    return *verdict;
  }
  if (auto verdict = AskSelectors(*request.selectors, "request", device)) return *verdict;
  if (!request.admin_access && inventory_.devices().IsDedicated(device.id)) {
    const auto holder = holders_.find({device.slice->spec().driver, device.slice->spec().pool.name, object.name});
    return {Kind::kTaken, "taken by " + (holder == holders_.end() ? "a claim on its way" : holder->second), 0, {}};
  }
  if (inventory_.features().device_taints && !dra::IsTolerated(object, *request.tolerations)) {
    DeviceVerdict verdict{Kind::kTaint, "", 0, {}};
    for (const api::DeviceTaint& taint : object.taints) {
      api::Device alone;
      alone.taints = {taint};
      if (dra::IsTolerated(alone, *request.tolerations)) continue;
      verdict.why += (verdict.why.empty() ? "taint " : ", ") + TaintText(taint);
      verdict.taints.push_back(taint);
    }
    verdict.why += " is not tolerated";
    return verdict;
  }
  if (std::string why = ShortCapacity(request, device); !why.empty()) return {Kind::kCapacity, std::move(why), 0, {}};
  if (std::string why = ShortCounters(pool, device); !why.empty()) return {Kind::kCounter, std::move(why), 0, {}};
  return {};
}

}  // namespace berth::plugins
