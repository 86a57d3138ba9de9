#include "perf/config.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "codec/decode.h"
#include "codec/gzip.h"
#include "codec/yaml.h"
#include "perf/config_schema.h"

namespace berth::perf {

namespace {

constexpr codec::DecodeOptions kStrict{.strict = true, .yaml = true};

// Collects all problems of one file.
class SuiteReader {
 public:
  explicit SuiteReader(Suite& suite) : suite_(suite) {}

  Result<void> Read() {
    const codec::Value& root = suite_.document.root();
    if (!root.is_array()) {
      Report({}, root.mark(), fmt::format("expected a list of test cases, found {}", root.Description()));
    } else if (root.items().empty()) {
      Report({}, root.mark(), "no test cases defined");
    }
    std::set<std::string> names;
    for (size_t i = 0; i < root.items().size(); ++i) {
      TestCase test_case = ReadTestCase(root.items()[i], fmt::format("[{}]", i));
      if (!names.insert(test_case.name).second) {
        Report(fmt::format("[{}].name", i), root.items()[i].mark(),
               fmt::format("\"{}\" is the name of an earlier test case", test_case.name));
      }
      suite_.cases.push_back(std::move(test_case));
    }
    return codec::ToResult(suite_.file, problems_);
  }

 private:
  void Report(std::string path, codec::Mark where, std::string message) {
    problems_.push_back({std::move(path), where, std::move(message)});
  }

  TestCase ReadTestCase(const codec::Value& value, const std::string& path) {
    TestCase test_case;
    codec::Decode(value, test_case, kStrict, problems_, path);
    if (test_case.name.empty()) Report(path + ".name", value.mark(), "missing");
    for (size_t i = 0; i < test_case.workload_template.size(); ++i) {
      test_case.operations.push_back(
          ReadOperation(test_case.workload_template[i].value, fmt::format("{}.workloadTemplate[{}]", path, i)));
    }
    if (test_case.operations.empty()) {
      Report(path + ".workloadTemplate", value.mark(), "no operations");
    } else if (!CollectsMetrics(test_case)) {
      Report(path + ".workloadTemplate", test_case.operations.front().where,
             "no operation collects metrics (collectMetrics: true, or stopCollectingMetrics)");
    }
    ReadWorkloads(value, path, test_case);
    return test_case;
  }

  void ReadWorkloads(const codec::Value& value, const std::string& path, TestCase& test_case) {
    if (test_case.workload_values.empty()) Report(path + ".workloads", value.mark(), "no workloads");
    std::set<std::string> names;
    for (size_t i = 0; i < test_case.workload_values.size(); ++i) {
      const codec::Value& raw = test_case.workload_values[i].value;
      const std::string here = fmt::format("{}.workloads[{}]", path, i);
      Workload workload;
      workload.where = raw.mark();
      codec::Decode(raw, workload, kStrict, problems_, here);
      if (workload.name.empty()) Report(here + ".name", raw.mark(), "missing");
      if (!names.insert(workload.name).second) {
        Report(here + ".name", raw.mark(), fmt::format("\"{}\" is the name of an earlier workload", workload.name));
      }
      if (SelectorOf(test_case, workload).data_bucket.empty())
        Report(here + ".thresholdMetricSelector", raw.mark(), "dataBucket: missing, expected Average, Perc50 …");
      test_case.workloads.push_back(std::move(workload));
    }
  }

  Operation ReadOperation(const codec::Value& value, const std::string& path, std::string_view only = {}) {
    Operation operation;
    operation.where = value.mark();
    const codec::Value* opcode = value.Find("opcode");
    if (!opcode || !opcode->is_string()) {
      Report(path + ".opcode", value.mark(),
             opcode ? "expected a string, found " + opcode->Description() : std::string("missing"));
      return operation;
    }
    operation.opcode = opcode->text();
    const OpcodeEntry* entry = FindOpcode(opcode->text());
    if (!entry || (!only.empty() && entry->name != only)) {
      Report(path + ".opcode", opcode->mark(),
             fmt::format("unknown opcode \"{}\", expected {}{}", opcode->text(), only.empty() ? "one of " : "",
                         only.empty() ? KnownOpcodes() : only));
      return operation;
    }
    operation.code = entry->code;
    codec::Decode(value, entry->fields(), &operation, kStrict, problems_, path);
    Check(operation, path);
    if (operation.code == Opcode::kCreatePodSets) ReadPodsOfSet(operation, path);
    return operation;
  }

  void ReadPodsOfSet(Operation& operation, const std::string& path) {
    const codec::Value& value = operation.create_pods_op.value;
    if (value.is_null()) return Report(path + ".createPodsOp", operation.where, "missing");
    operation.each = std::make_shared<const Operation>(ReadOperation(value, path + ".createPodsOp", "createPods"));
  }

  void Check(const Operation& operation, const std::string& path) {
    const auto require = [&](bool holds, std::string_view field, std::string_view what) {
      if (!holds) Report(fmt::format("{}.{}", path, field), operation.where, std::string(what));
    };
    require(operation.count.value_or(0) >= 0, "count", "must not be negative");
    for (const auto& [field, param] :
         {std::pair("countParam", &operation.count_param), std::pair("durationParam", &operation.duration_param),
          std::pair("steadyStateParam", &operation.steady_state_param),
          std::pair("maxClaimsPerNodeParam", &operation.max_claims_per_node_param)}) {
      require(param->empty() || (param->size() > 1 && param->front() == '$'), field,
              fmt::format("expected the name of a parameter such as $initNodes, found \"{}\"", *param));
    }
    switch (operation.code) {
      case Opcode::kCreateAny:
      case Opcode::kUpdateAny:
        require(!operation.template_path.empty(), "templatePath", "missing");
        require(operation.update_per_second >= 0, "updatePerSecond", "must not be negative");
        return;
      case Opcode::kCreatePods:
        require(!operation.collect_metrics || !operation.skip_wait_to_completion, "collectMetrics",
                "cannot be true together with skipWaitToCompletion");
        require(!operation.steady_state || !operation.skip_wait_to_completion, "steadyState",
                "cannot be true together with skipWaitToCompletion");
        return;
      case Opcode::kCreateNodes:
        require(!operation.label_node_prepare_strategy || !operation.label_node_prepare_strategy->label_values.empty(),
                "labelNodePrepareStrategy.labelValues", "missing");
        return;
      case Opcode::kDeletePods:
        require(operation.delete_pods_per_second >= 0, "deletePodsPerSecond", "must not be negative");
        return;
      case Opcode::kChurn:
        return CheckChurn(operation, require);
      case Opcode::kBarrier: {
        const std::string& stage = operation.stage_requirement;
        require(stage.empty() || stage == "Scheduled" || stage == "Attempted", "stageRequirement",
                fmt::format("expected Scheduled or Attempted, found \"{}\"", stage));
        return;
      }
      case Opcode::kCreateResourceClaims:
        require(operation.name_space && !operation.name_space->empty(), "namespace", "missing");
        return require(!operation.template_path.empty(), "templatePath", "missing");
      case Opcode::kCreateResourceDriver:
        require(operation.max_claims_per_node.value_or(0) >= 0, "maxClaimsPerNode", "must not be negative");
        require(!operation.driver_name.empty(), "driverName", "missing");
        return require(!operation.nodes.empty(), "nodes", "missing");
      case Opcode::kStartCollectingMetrics:
        return require(!operation.namespaces.empty(), "namespaces", "missing");
      default:
        return;
    }
  }

  template <class Require>
  static void CheckChurn(const Operation& operation, const Require& require) {
    const bool recreate = operation.mode == "recreate";
    require(recreate || operation.mode == "create", "mode",
            fmt::format("expected create or recreate, found \"{}\"", operation.mode));
    require(operation.number >= 0, "number", "must not be negative");
    require(!recreate || operation.number != 0, "number", "must not be 0 when mode is recreate");
    require(operation.interval_milliseconds >= 0, "intervalMilliseconds", "must not be negative");
    require(!operation.template_paths.empty(), "templatePaths", "missing");
  }

  static bool CollectsMetrics(const TestCase& test_case) {
    for (const Operation& operation : test_case.operations) {
      if (operation.collect_metrics || operation.code == Opcode::kStopCollectingMetrics) return true;
      if (operation.each && operation.each->collect_metrics) return true;
    }
    return false;
  }

  Suite& suite_;
  std::vector<codec::Diagnostic> problems_;
};

}  // namespace

std::string Suite::PathOf(const std::string& path) const {
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

ThresholdMetricSelector SelectorOf(const TestCase& test_case, const Workload& workload) {
  if (workload.threshold_metric_selector) return *workload.threshold_metric_selector;
  if (test_case.default_threshold_metric_selector) return *test_case.default_threshold_metric_selector;
  return {"SchedulingThroughput", {}, "Average", false};
}

Result<Suite> ReadSuite(const std::string& file) {
  Result<std::string> text = codec::ReadFile(file);
  if (!text) return text.error();
  return ParseSuite(*text, file);
}

Result<Suite> ParseSuite(std::string_view text, std::string file) {
  Result<std::vector<codec::Document>> documents = codec::ParseYaml(text, file);
  if (!documents) return documents.error();
  if (documents->size() != 1) {
    return Error::InvalidArgument(fmt::format("{}: expected one document, found {}", file, documents->size()));
  }
  Suite suite;
  suite.file = std::move(file);
  suite.document = std::move(documents->front());
  if (Result<void> read = SuiteReader(suite).Read(); !read) return read.error();
  return suite;
}

}  // namespace berth::perf
