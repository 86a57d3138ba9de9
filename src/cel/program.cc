#include "cel/program.h"

#include <fmt/format.h>

#include "cel/checker.h"
#include "cel/parser.h"
#include "cel/plan.h"
#include "cel/reads.h"
#include "cel/validators.h"

namespace berth::cel {

std::string_view FailureKindName(FailureKind kind) {
  switch (kind) {
    case FailureKind::kSyntax:
      return "syntax";
    case FailureKind::kCompile:
      return "compile";
    case FailureKind::kResultType:
      return "resultType";
    case FailureKind::kProgram:
      return "program";
    case FailureKind::kAttribute:
      return "attribute";
    case FailureKind::kRuntime:
      return "runtime";
    case FailureKind::kCost:
      return "cost";
    case FailureKind::kResult:
      return "result";
  }
  return "";
}

Program::~Program() = default;

namespace {

Failure CompileFailure(FailureKind kind, const Issues& issues, const Source& source) {
  Failure failure{kind, "compilation failed: " + issues.ToString(source)};
  for (const Issue& issue : issues.items()) {
    if (issue.location.line <= 0) continue;
    const bool earlier = failure.line == 0 || issue.location.line < failure.line ||
                         (issue.location.line == failure.line && issue.location.column + 1 < failure.column);
    if (!earlier) continue;
    failure.line = issue.location.line;
    failure.column = issue.location.column + 1;
  }
  return failure;
}

// Why upstream cannot turn a value into Go's bool.
std::string BoolConversionMessage(const Value& value) {
  switch (value.kind()) {
    case Kind::kBytes:
      return "type conversion error from Bytes to 'bool'";
    case Kind::kDouble:
      return "type conversion error from Double to 'bool'";
    case Kind::kDuration:
      return "type conversion error from 'Duration' to 'bool'";
    case Kind::kTimestamp:
      return "type conversion error from 'Timestamp' to 'bool'";
    case Kind::kInt:
      return "unsupported type conversion from 'int' to bool";
    case Kind::kUint:
      return "unsupported type conversion from 'uint' to bool";
    case Kind::kNull:
      return "type conversion error from 'null_type' to 'bool'";
    case Kind::kString:
      return "unsupported native conversion from string to 'bool'";
    case Kind::kList:
      return "type conversion error from list to 'bool'";
    case Kind::kMap:
      return "type conversion error from map to 'bool'";
    case Kind::kType:
      return "type conversion not supported for 'type'";
    case Kind::kOptional:
      return value.optional() == nullptr ? "optional.none() dereference" : BoolConversionMessage(*value.optional());
    case Kind::kQuantity:
      return "type conversion error from 'Quantity' to 'bool'";
    case Kind::kSemver:
      return "type conversion error from 'Semver' to 'bool'";
    case Kind::kIp:
      return "type conversion error from 'IP' to 'bool'";
    case Kind::kCidr:
      return "type conversion error from 'CIDR' to 'bool'";
    case Kind::kUrl:
      return "type conversion error from 'URL' to 'bool'";
    case Kind::kFormat:
      return "type conversion error from 'Format' to 'bool'";
    default:
      return std::string(value.text());
  }
}

void SetResult(const Value& value, Outcome& outcome) {
  const Value* inner = &value;
  while (inner->kind() == Kind::kOptional && inner->optional() != nullptr) inner = inner->optional();
  if (inner->kind() == Kind::kBool) {
    outcome.matches = inner->as_bool();
  } else if (value.is_error()) {
    outcome.failure = Failure{FailureKind::kRuntime, std::string(value.text())};
  } else {
    outcome.failure =
        Failure{FailureKind::kResult, fmt::format("CEL result of type {} could not be converted to bool: {}",
                                                  TypeName(value), BoolConversionMessage(value))};
  }
}

}  // namespace

Outcome Program::Evaluate(const Value& variable) const {
  // Kept between runs to reuse its memory.
  thread_local Evaluation evaluation;
  Outcome outcome;
  evaluation.Begin(plan_->max_id, plan_->folds, variable);
  try {
    SetResult(plan_->root->Eval(evaluation), outcome);
  } catch (const Cancelled& cancelled) {
    const bool limit = std::string_view(cancelled.text) == kCostLimitExceeded;
    outcome.failure = Failure{limit ? FailureKind::kCost : FailureKind::kRuntime, cancelled.text};
  }
  outcome.cost = evaluation.cost();
  return outcome;
}

std::variant<std::shared_ptr<const Program>, Failure> Compile(std::string_view expression,
                                                              std::shared_ptr<const Environment> environment) {
  Parsed parsed = Parse(expression);
  const Source& source = parsed.ast->source();
  if (!parsed.issues.empty()) {
    return CompileFailure(parsed.syntax_error ? FailureKind::kSyntax : FailureKind::kCompile, parsed.issues, source);
  }
  Issues issues;
  const std::unique_ptr<Checked> checked = Check(*parsed.ast, *environment, issues);
  if (issues.empty()) Validate(*parsed.ast, *checked, *environment, issues);
  if (!issues.empty()) return CompileFailure(FailureKind::kCompile, issues, source);

  const TypeKind result = checked->result->kind;
  const bool dynamic = result == TypeKind::kAny || (result == TypeKind::kDyn && environment->dynamic_result());
  if (result != TypeKind::kBool && !dynamic) {
    return Failure{FailureKind::kResultType,
                   fmt::format("must evaluate to bool or the unknown type, not {}", TypeString(*checked->result))};
  }
  Result<std::unique_ptr<Plan>> plan = MakePlan(*parsed.ast, *checked, *environment);
  if (!plan) return Failure{FailureKind::kProgram, "program instantiation failed: " + plan.error().message};

  auto program = std::shared_ptr<Program>(new Program());
  program->expression_ = expression;
  program->environment_ = std::move(environment);
  program->plan_ = *std::move(plan);
  program->reads_ = FindReads(*program->plan_);
  return std::shared_ptr<const Program>(std::move(program));
}

}  // namespace berth::cel
