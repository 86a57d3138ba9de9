// Selectors: device selectors, compiled once and shared, and their results for devices.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "api/resource_claim.h"
#include "cel/device_environment.h"

namespace berth::dra {

struct CompiledSelector {
  std::shared_ptr<const cel::Program> program;  // null: `error` says why
  std::string error;
};

class SelectorCache {
 public:
  explicit SelectorCache(bool list_type_attributes);

  std::shared_ptr<const CompiledSelector> Compile(const std::string& expression);
  const cel::DeviceFeatures& features() const { return features_; }

 private:
  const cel::DeviceFeatures features_;
  std::shared_ptr<const cel::Environment> environment_;  // built on first use
  std::unordered_map<std::string, std::shared_ptr<const CompiledSelector>> compiled_;
};

// The results of selectors for one version of one device; evaluated on demand, because an error counts only if the
// search gets there. Scheduling thread only.
class SelectorAnswers {
 public:
  struct Answer {
    bool matches = false;
    std::string error;  // of the evaluation; empty when there was none
    uint64_t cost = 0;  // in CEL's units
  };
  // The earlier result; null if it was not evaluated, or too long ago.
  const Answer* Find(const std::shared_ptr<const CompiledSelector>& selector) const {
    for (const auto& [known, answer] : answers_) {
      if (known == selector) return &answer;
    }
    return nullptr;
  }
  const Answer& Ask(const std::shared_ptr<const CompiledSelector>& selector, const cel::DeviceFeatures& features,
                    const std::string& driver, const api::Device& device);

 private:
  std::unique_ptr<const cel::DeviceInput> input_;
  std::vector<std::pair<std::shared_ptr<const CompiledSelector>, Answer>> answers_;
};

}  // namespace berth::dra
