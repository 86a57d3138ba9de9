// berth bench perf: workloads in the format of kube-scheduler's scheduler_perf.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <utility>

#include "api/time.h"
#include "commands.h"
#include "configuration_source.h"
#include "flags.h"
#include "perf/runner.h"

namespace berth::cmd {

namespace {

constexpr char kBenchPerfUsage[] =
    R"(Run workloads in the format of kube-scheduler's scheduler_perf (performance-config.yaml), as they are, against a cluster
in memory and in real time, and report how many pods were scheduled per second.

Usage:
  berth bench perf FILE... [flags]

Exit status: 0 all ran, 2 a threshold was missed or a workload did not complete, 1 bad usage or input, or a workload that
needs something berth does not support.
)";

constexpr char kBenchPerfExamples[] = R"(  berth bench perf bench/workloads/misc/performance-config.yaml --label short
  berth bench perf misc/performance-config.yaml --workload SchedulingBasic/5000Nodes -o json
  berth bench perf misc/performance-config.yaml --label performance,-short --data-items-dir results
)";

struct BenchPerfOptions {
  perf::RunOptions run;
  std::string timeout = "10m";
  std::string output = "table";
  std::string data_items_dir;
  bool list = false;
};

// Numbers of very different size, each with three significant digits.
std::string Figure(double value) { return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value); }

const perf::DataItem* FindAttempts(const perf::Collection& collection) {
  for (const perf::DataItem& item : collection.items) {
    const auto result = item.labels.find("result");
    if (item.labels.find("Metric")->second == "scheduler_scheduling_attempt_duration_seconds" &&
        result != item.labels.end() && result->second == "scheduled") {
      return &item;
    }
  }
  return nullptr;
}

void PrintHeader(size_t width) {
  fmt::print("{:<{}}  {:>7}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}  {:>6}  {}\n", "WORKLOAD", width, "PODS", "PODS/S",
             "P50", "P99", "AVG MS", "TIME", "KEPT", "THRESHOLD");
}

// The share of decisions that reused results of similar pods, over the whole workload.
std::string Kept(const perf::WayCounts& ways) {
  if (ways.all == 0) return "-";
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(ways.kept) / static_cast<double>(ways.all));
}

// Why the others were made from scratch, the most frequent reason first.
std::string FromScratch(const perf::WayCounts& ways) {
  std::vector<std::pair<uint64_t, std::string_view>> reasons;
  for (size_t way = 0; way < ways.from_scratch.size(); ++way) {
    if (ways.from_scratch[way] == 0) continue;
    reasons.emplace_back(ways.from_scratch[way], engine::NameOf(static_cast<engine::LongWay>(way)));
  }
  std::ranges::stable_sort(reasons, std::greater<>(), [](const auto& reason) { return reason.first; });
  std::string text;
  for (const auto& [count, reason] : reasons) {
    const double share = 100.0 * static_cast<double>(count) / static_cast<double>(ways.all);
    text += fmt::format("{}{:.1f}% {}", text.empty() ? "" : ", ", share, reason);
  }
  return text;
}

void PrintRow(const perf::Collection& collection, const perf::WayCounts& ways, size_t width) {
  const perf::ThroughputSummary& throughput = collection.throughput;
  const perf::DataItem* attempts = FindAttempts(collection);
  std::string threshold = "-";
  for (const perf::DataItem& item : collection.items) {
    for (const auto& [bucket, value] : item.data) {
      if (bucket.ends_with("Threshold"))
        threshold = fmt::format("{} {}", Figure(value), collection.missed.empty() ? "met" : "MISSED");
    }
  }
  fmt::print("{:<{}}  {:>7}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}  {:>6}  {}\n", collection.name, width, throughput.pods,
             Figure(throughput.average), Figure(throughput.perc50), Figure(throughput.perc99),
             attempts ? Figure(attempts->data.at("Average")) : "-",
             fmt::format("{:.3f}s", std::chrono::duration<double>(collection.duration).count()), Kept(ways), threshold);
}

struct Totals {
  bool unsupported = false;
  bool unfinished = false;
  std::set<std::string> notes;  // already printed
  std::vector<perf::DataItem> items;
};

void Report(const perf::WorkloadResult& result, const BenchPerfOptions& options, size_t width, Totals& totals) {
  for (const perf::Collection& collection : result.collections) {
    if (options.output == "table") PrintRow(collection, result.ways, width);
    totals.items.insert(totals.items.end(), collection.items.begin(), collection.items.end());
  }
  if (const std::string reasons = FromScratch(result.ways); options.output == "table" && !reasons.empty()) {
    fmt::print("  from scratch: {}\n", reasons);
  }
  std::fflush(stdout);
  // A note that applies to many workloads is printed once.
  for (const std::string& note : result.notes) {
    if (totals.notes.insert(note).second) fmt::print(stderr, "note: {} (first in {})\n", note, result.name);
  }
  for (const perf::Collection& collection : result.collections) {
    for (const std::string& missed : collection.missed) fmt::print(stderr, "threshold missed: {}\n", missed);
    totals.unfinished = totals.unfinished || !collection.missed.empty();
  }
  if (!result.error) return;
  fmt::print(stderr, "{}: {}: {}\n", result.error->code == ErrorCode::kUnsupported ? "not run" : "failed", result.name,
             result.error->message);
  (result.error->code == ErrorCode::kDeadlineExceeded ? totals.unfinished : totals.unsupported) = true;
}

Result<void> RunFile(const std::string& file, const framework::Registry& registry, const BenchPerfOptions& options,
                     Totals& totals) {
  Result<perf::Suite> suite = perf::ReadSuite(file);
  if (!suite) return suite.error();
  perf::RunOptions run = options.run;
  if (run.topic.empty()) run.topic = perf::TopicOf(file);
  Result<std::vector<perf::Chosen>> chosen = perf::Choose(*suite, run);
  if (!chosen) return chosen.error();
  if (options.list) {
    for (const perf::Chosen& one : *chosen) fmt::print("{}/{}\n", one.test_case->name, one.workload->name);
    return {};
  }
  size_t width = 8;
  for (const perf::Chosen& one : *chosen)
    width = std::max(width,
                     one.test_case->name.size() + one.workload->name.size() + std::string_view("//namespace-0").size());
  if (options.output == "table") PrintHeader(width);
  Totals of_file;
  for (const perf::Chosen& one : *chosen)
    Report(perf::RunWorkload(*suite, one, registry, run), options, width, of_file);
  if (!options.data_items_dir.empty()) {
    Result<std::string> written =
        perf::WriteDataItems(options.data_items_dir, run.topic, base::SystemClock().Now(), of_file.items);
    if (!written) return written.error();
    fmt::print(stderr, "wrote {}\n", *written);
  }
  totals.unsupported = totals.unsupported || of_file.unsupported;
  totals.unfinished = totals.unfinished || of_file.unfinished;
  totals.items.insert(totals.items.end(), of_file.items.begin(), of_file.items.end());
  return {};
}

}  // namespace

int BenchPerf(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  BenchPerfOptions options;
  FlagSet flags("berth bench perf", kBenchPerfUsage, kBenchPerfExamples);
  flags.Add(&options.run.workloads, "workload", 'w', "NAME",
            "a test case, or TestCase/Workload; repeat for several (default all)");
  flags.Add(&options.run.labels, "label", 'l', "LABELS",
            "labels a workload must have (a or +a) or must not have (-a), such as short,-performance");
  flags.Add(&options.list, "list", 0, "print the names of the workloads and run none");
  flags.AddChoice(&options.output, "output", 'o', {"table", "json"},
                  "how to print; json is the data items perf-dash reads (default table)");
  flags.TakesFiles();
  flags.Add(&options.data_items_dir, "data-items-dir", 0, "DIR",
            "write BenchmarkPerfScheduling_benchmark_TOPIC_TIME.json there");
  flags.Add(&options.run.topic, "topic", 0, "TOPIC",
            "name for that file and for thresholds by topic (default the folder's)");
  flags.Add(&options.timeout, "timeout", 0, "DURATION", "time limit for each workload (default 10m)");
  flags.Add(&options.run.seed, "seed", 0, "S", "breaks ties between equally good nodes (default 1)");
  flags.Add(&options.run.verify_incremental, "verify-incremental", 0,
            "compare every decision with one computed from scratch (slow)");
  const Result<std::vector<std::string>> files = flags.Parse(arguments);
  if (files && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!files) return BadInput("bench perf", files.error().message + "\n" + flags.Hint());
  if (files->empty()) return BadInput("bench perf", "no file given\n" + flags.Hint());
  const Result<base::Duration> timeout = api::ParseDuration(options.timeout);
  if (!timeout || *timeout <= base::Duration(0))
    return BadInput("bench perf",
                    fmt::format("--timeout: expected a duration such as 90s, found \"{}\"", options.timeout));
  options.run.timeout = *timeout;

  const Result<framework::Registry> registry = MakeRegistry(own_plugins);
  if (!registry) return BadInput("bench perf", registry.error().message);
  Totals totals;
  for (const std::string& file : *files) {
    if (const Result<void> ran = RunFile(file, *registry, options, totals); !ran)
      return BadInput("bench perf", ran.error().message);
  }
  if (options.output == "json" && !options.list) fmt::print("{}", perf::ToJson(totals.items));
  return totals.unsupported ? kBadInput : totals.unfinished ? kUnplaced : kOk;
}

}  // namespace berth::cmd
