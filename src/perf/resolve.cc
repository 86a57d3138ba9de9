// Substitutes a workload's parameters into the operations of its test case.
#include <fmt/format.h>

#include <charconv>
#include <set>

#include "api/time.h"
#include "perf/config.h"

namespace berth::perf {

namespace {

// A workload's parameters, and which of them were used.
class Params {
 public:
  Params(const Suite& suite, const Workload& workload) : suite_(suite), workload_(workload) {}

  Result<int64_t> Count(const std::string& reference) {
    Result<codec::Value> value = Get(reference, codec::Value::Kind::kNumber, "a number");
    if (!value) return value.error();
    double number = 0;
    const std::string_view text = value->text();
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
    if (number < 0 || number > 1e9) {
      return Wrong(reference, *value, "expected a count of 0 to 1000000000, found " + value->Description());
    }
    return static_cast<int64_t>(number);
  }

  Result<base::Duration> Duration(const std::string& reference) {
    Result<codec::Value> value = Get(reference, codec::Value::Kind::kString, "a duration such as \"1m30s\"");
    if (!value) return value.error();
    Result<base::Duration> parsed = api::ParseDuration(value->text());
    if (!parsed)
      return Wrong(reference, *value, "expected a duration such as \"1m30s\", found " + value->Description());
    return parsed;
  }

  Result<bool> Bool(const std::string& reference) {
    Result<codec::Value> value = Get(reference, codec::Value::Kind::kBool, "true or false");
    if (!value) return value.error();
    return value->boolean();
  }

  Result<void> CheckAllUsed() const {
    std::string unused;
    for (const auto& [name, value] : workload_.params) {
      if (!used_.contains(name)) unused += (unused.empty() ? "" : ", ") + name;
    }
    if (unused.empty()) return {};
    return Error::InvalidArgument(fmt::format("{}: workload \"{}\": params: {}: defined, but no operation uses it",
                                              codec::Where(suite_.file, workload_.where), workload_.name, unused));
  }

 private:
  Result<codec::Value> Get(const std::string& reference, codec::Value::Kind kind, std::string_view expected) {
    const std::string name = reference.substr(1);
    used_.insert(name);
    const codec::FileRaw* found = workload_.params.Find(name);
    if (!found) {
      return Error::InvalidArgument(fmt::format("{}: workload \"{}\": params: {} is missing",
                                                codec::Where(suite_.file, workload_.where), workload_.name, name));
    }
    if (found->value.kind() != kind) {
      return Wrong(reference, found->value, fmt::format("expected {}, found {}", expected, found->value.Description()));
    }
    return found->value;
  }

  Error Wrong(const std::string& reference, const codec::Value& value, const std::string& what) const {
    return Error::InvalidArgument(fmt::format("{}: workload \"{}\": params.{}: {}",
                                              codec::Where(suite_.file, value.mark()), workload_.name,
                                              reference.substr(1), what));
  }

  const Suite& suite_;
  const Workload& workload_;
  std::set<std::string> used_;
};

Result<Operation> Resolve(const Suite& suite, Operation operation, Params& params) {
  if (!operation.count_param.empty()) {
    Result<int64_t> count = params.Count(operation.count_param);
    if (!count) return count.error();
    operation.count = *count;
  }
  if (!operation.max_claims_per_node_param.empty()) {
    Result<int64_t> count = params.Count(operation.max_claims_per_node_param);
    if (!count) return count.error();
    operation.max_claims_per_node = *count;
  }
  if (!operation.duration_param.empty()) {
    Result<base::Duration> duration = params.Duration(operation.duration_param);
    if (!duration) return duration.error();
    operation.duration.value = *duration;
  }
  if (!operation.steady_state_param.empty()) {
    Result<bool> steady = params.Bool(operation.steady_state_param);
    if (!steady) return steady.error();
    operation.steady_state = *steady;
  }
  if (operation.steady_state && (operation.duration.value <= base::Duration(0) || operation.skip_wait_to_completion)) {
    return Error::InvalidArgument(fmt::format("{}: {}: steadyState needs a duration, and to be waited for",
                                              codec::Where(suite.file, operation.where), operation.opcode));
  }
  return operation;
}

}  // namespace

Result<std::vector<Operation>> ResolveOperations(const Suite& suite, const TestCase& test_case,
                                                 const Workload& workload) {
  Params params(suite, workload);
  std::vector<Operation> resolved;
  for (const Operation& operation : test_case.operations) {
    Result<Operation> one = Resolve(suite, operation, params);
    if (!one) return one.error();
    if (one->code != Opcode::kCreatePodSets) {
      resolved.push_back(std::move(*one));
      continue;
    }
    for (int64_t i = 0; i < one->count.value_or(0); ++i) {
      Result<Operation> pods = Resolve(suite, *one->each, params);
      if (!pods) return pods.error();
      pods->name_space = fmt::format("{}-{}", one->namespace_prefix, i);
      resolved.push_back(std::move(*pods));
    }
  }
  if (Result<void> used = params.CheckAllUsed(); !used) return used.error();
  return resolved;
}

}  // namespace berth::perf
