// berth bench: measured workloads. `engine` runs in-process, without an API; `perf` is in bench_perf.cc.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_writer.h"
#include "commands.h"
#include "flags.h"
#include "perf/bench_run.h"

namespace berth::cmd {

namespace {

constexpr char kBenchUsage[] =
    R"(Measure how fast pods are scheduled, in-process and without an API: queue, evaluation of every node, selection, assume,
bind, for one pod after another, each seeing the ones before it. A tenth as many pods are scheduled before that, untimed.

Usage:
  berth bench engine [flags]
  berth bench perf FILE... [flags]    workloads of scheduler_perf; see berth bench perf --help
)";

constexpr char kBenchExamples[] = R"(  berth bench engine --kind basic --nodes 5000 --pods 100000
  berth bench engine --kind spread --nodes 200 --pods 1000 --verify-incremental
  berth bench engine --kind mixed -o json
  berth bench engine --nodes 100000 --existing 1000000 --pods 1000
  berth bench engine --nodes 1000 --pods 5000000 --lifetime 50000
)";

// All kinds there are, in lines of at most 120 characters.
std::string UsageWithKinds() {
  constexpr size_t kWidth = 120;
  std::string line = "Kinds:", lines;
  const std::vector<std::string_view> kinds = perf::EngineBenchKinds();
  for (const std::string_view kind : kinds) {
    const std::string word = fmt::format("{}{}", kind, kind == kinds.back() ? "." : ",");
    if (line.size() + 1 + word.size() > kWidth) {
      lines += line + "\n";
      line = word;
    } else {
      line += " " + word;
    }
  }
  return fmt::format("{}\n{}{}\n", kBenchUsage, lines, line);
}

void PrintText(const perf::EngineBenchOptions& options, const perf::EngineBenchResult& result) {
  fmt::print("{} on {} nodes: {:.0f} pods/s, {:.2f} us/pod (p50 {:.2f}, p99 {:.2f}, max {:.0f})\n", options.kind,
             options.nodes, result.pods_per_second, result.us_per_pod, result.p50_us, result.p99_us, result.max_us);
  fmt::print(
      "{} scheduled, {} unschedulable, {} preempted; peak memory {:.0f} MB, {:.0f} MB when timing began, "
      "{:.0f} MB when it ended\n",
      result.scheduled, result.unschedulable, result.preempted, result.rss_mb, result.warm_rss_mb, result.end_rss_mb);
  fmt::print("first decision after {:.2f} s", result.start_up_s);
  if (result.making_s > 0) fmt::print(", of which {:.2f} s to make the existing pods", result.making_s);
  fmt::print("; {:.0f} bytes per node", result.bytes_per_node);
  if (result.bytes_per_existing_pod > 0) fmt::print(", {:.0f} per existing pod", result.bytes_per_existing_pod);
  fmt::print("\n");
}

void PrintJson(const perf::EngineBenchOptions& options, const perf::EngineBenchResult& result) {
  std::string out;
  codec::JsonWriter json(out);
  json.StartObject();
  json.Key("kind");
  json.String(options.kind);
  const auto count = [&](std::string_view key, uint64_t value) {
    json.Key(key);
    json.Uint64(value);
  };
  const auto number = [&](std::string_view key, double value) {
    json.Key(key);
    json.Double(value);
  };
  count("nodes", options.nodes);
  count("pods", options.pods);
  number("pods_per_s", result.pods_per_second);
  number("us_per_pod", result.us_per_pod);
  number("p50_us", result.p50_us);
  number("p99_us", result.p99_us);
  number("max_us", result.max_us);
  number("rss_mb", result.rss_mb);
  number("warm_rss_mb", result.warm_rss_mb);
  number("end_rss_mb", result.end_rss_mb);
  number("start_up_s", result.start_up_s);
  number("making_s", result.making_s);
  number("bytes_per_node", result.bytes_per_node);
  number("bytes_per_existing_pod", result.bytes_per_existing_pod);
  count("scheduled", result.scheduled);
  count("unschedulable", result.unschedulable);
  count("preempted", result.preempted);
  json.EndObject();
  fmt::print("{}\n", out);
}

}  // namespace

int Bench(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "perf")
    return BenchPerf(own_plugins, {arguments.begin() + 1, arguments.end()});
  perf::EngineBenchOptions options;
  std::string output = "text";
  FlagSet flags("berth bench", UsageWithKinds(), kBenchExamples);
  flags.Add(&options.kind, "kind", 'k', "KIND", "what the pods ask for (default basic)");
  flags.Add(&options.nodes, "nodes", 0, "N", "nodes in the cluster (default 5000)");
  flags.Add(&options.pods, "pods", 0, "M", "pods to schedule and time (default 10000)");
  flags.Add(&options.existing, "existing", 0, "P", "pods bound before the start (default 0)");
  flags.Add(&options.unlike, "unlike", 0, "each existing pod has its own labels, requests and image");
  flags.Add(&options.lifetime, "lifetime", 0, "L",
            "delete each pod when L more have been scheduled (default 0: never)");
  flags.Add(&options.threads, "threads", 0, "T", "threads that share passes over many nodes (default 1)");
  flags.Add(&options.seed, "seed", 0, "S", "breaks ties; same seed, same placements (default 1)");
  flags.Add(&options.journal_mb, "journal", 0, "MB",
            "keep the attempt journal, as berth scheduler does, of at most MB megabytes (default 0: none)");
  flags.Add(&options.verify_incremental, "verify-incremental", 0,
            "compare every decision with one computed from scratch (slow)");
  flags.AddChoice(&output, "output", 'o', {"text", "json"}, "how to print (default text)");
  flags.Words({"engine", "perf"});
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return BadInput("bench", rest.error().message + "\nTry berth bench --help.");
  if (rest->size() != 1 || rest->front() != "engine")
    return BadInput("bench", "expected: berth bench engine, or berth bench perf FILE\nTry berth bench --help.");
  const Result<perf::EngineBenchResult> result = perf::RunEngineBench(options);
  if (!result) return BadInput("bench", result.error().message);
  output == "json" ? PrintJson(options, *result) : PrintText(options, *result);
  return kOk;
}

}  // namespace berth::cmd
