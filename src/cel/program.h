// Program: a compiled expression. Built once, shared between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cel/environment.h"
#include "cel/value.h"

namespace berth::cel {

enum class FailureKind : uint8_t {
  // From compilation.
  kSyntax,      // not an expression
  kCompile,     // types, names, literals
  kResultType,  // cannot be a bool
  kProgram,     // a constant cannot be computed
  // From evaluation.
  kAttribute,  // the input has an unusable value, whether or not the expression reads it
  kRuntime,
  kCost,
  kResult,  // the value is not a bool
};

struct Failure {
  FailureKind kind = FailureKind::kRuntime;
  std::string text;  // as upstream words it, without "CEL compile error: " and the like

  // From compilation: position of the first problem. Line 0 if it has none.
  int line = 0;
  int column = 0;  // in code points, from 1
};
std::string_view FailureKindName(FailureKind kind);

// The result of an evaluation.
struct Outcome {
  bool matches = false;
  std::optional<Failure> failure;
  uint64_t cost = 0;
};

// Constant keys below the environment's variable that the program reads: {"attributes", "gpu.example.com", "model"}.
// Everything else cannot change an outcome.
using Path = std::vector<std::string>;

struct Plan;

class Program {
 public:
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string& expression() const { return expression_; }
  // Evaluates with the variable bound to `variable`, which must outlive the call. Thread-safe.
  Outcome Evaluate(const Value& variable) const;
  // Null if the program may read anything: it iterates, or its keys are computed.
  const std::vector<Path>* reads() const { return reads_ ? &*reads_ : nullptr; }

 private:
  friend std::variant<std::shared_ptr<const Program>, Failure> Compile(std::string_view,
                                                                       std::shared_ptr<const Environment>);
  Program() = default;

  std::string expression_;
  std::shared_ptr<const Environment> environment_;
  std::unique_ptr<Plan> plan_;
  std::optional<std::vector<Path>> reads_;
};

std::variant<std::shared_ptr<const Program>, Failure> Compile(std::string_view expression,
                                                              std::shared_ptr<const Environment> environment);

}  // namespace berth::cel
