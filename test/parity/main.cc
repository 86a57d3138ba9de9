// berth-parity: decides recorded scheduling problems and compares each decision with kube-scheduler's.
//
// A file contains cases, one JSON object per line, or one episode (an object with `steps`); plain or gzip. A case may
// also be a device selector (an object with `expression`).
#include <fmt/core.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cel_cases.h"
#include "codec/gzip.h"
#include "codec/json.h"
#include "facts.h"
#include "sampling.h"
#include "world.h"

namespace berth::parity {
namespace {

constexpr std::string_view kHelp = R"(Compare berth's decisions with recorded ones of kube-scheduler.

Usage:
  berth-parity [options] FILE...

A FILE holds cases as JSON lines, or one episode; plain or gzip.

Options:
  --case NAME    only this case, or the steps of this episode
  --max N        print at most N differences of a case (default 5, 0 for all)
  -q, --quiet    only the table and the last line
  -h, --help     this text

Exit status: 0 when every decision agrees, 1 when one differs, 2 for bad usage or unreadable input.
)";

struct Options {
  std::vector<std::string> files;
  std::string only;
  size_t max_differences = 5;
  bool quiet = false;
};

class Report {
 public:
  explicit Report(const Options& options) : options_(options) {}

  void Add(const std::string& name, const Result<Decision>& decision, const codec::Value& expect) {
    if (decision) {
      Add(name, Compare(FactsOf(expect), FactsOf(*decision)));
    } else {
      Add(name, {{"error", "", "a decision", decision.error().message}});
    }
  }

  void Add(const std::string& name, const std::vector<Difference>& differences) {
    Row& row = rows_[name.substr(0, name.find('/'))];
    ++(differences.empty() ? row.passed : row.failed);
    std::map<std::string, bool> seen;
    for (const Difference& difference : differences) {
      if (!std::exchange(seen[difference.field], true)) ++row.by_field[difference.field];
    }
    if (!options_.quiet) Print(name, differences);
  }

  // True if everything agreed.
  bool Finish() const {
    size_t passed = 0, failed = 0;
    fmt::print("\n{:<18}{:>8}{:>8}  fields that differ (in how many cases)\n", "family", "passed", "failed");
    for (const auto& [family, row] : rows_) {
      std::string fields;
      for (const auto& [field, count] : row.by_field)
        fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", field, count);
      fmt::print("{:<18}{:>8}{:>8}  {}\n", family, row.passed, row.failed, fields);
      passed += row.passed;
      failed += row.failed;
    }
    fmt::print("\n{} passed, {} failed\n", passed, failed);
    return failed == 0 && passed > 0;
  }

 private:
  struct Row {
    size_t passed = 0;
    size_t failed = 0;
    std::map<std::string, size_t> by_field;
  };

  void Print(const std::string& name, const std::vector<Difference>& differences) const {
    size_t printed = 0;
    for (const Difference& difference : differences) {
      if (options_.max_differences > 0 && printed++ == options_.max_differences) {
        fmt::print("{}: and {} more\n", name, differences.size() - options_.max_differences);
        return;
      }
      fmt::print("{}: {}{}{}\n    expected  {}\n    got       {}\n", name, difference.field,
                 difference.key.empty() ? "" : " ", difference.key, difference.expected, difference.got);
    }
  }

  const Options& options_;
  std::map<std::string, Row> rows_;
};

std::string NameOf(const codec::Value& recorded) {
  const codec::Value* name = recorded.Find("name");
  return name ? std::string(name->text()) : "unnamed";
}

Result<void> RunEpisode(const codec::Value& episode, Report& report) {
  Result<std::unique_ptr<World>> world = World::Create(episode);
  if (!world) return world.error();
  size_t number = 0;
  for (const codec::Value& step : episode.Find("steps")->items()) {
    const codec::Value* pod = step.Find("pod");
    const codec::Value* expect = step.Find("expect");
    if (!pod || !expect) return Error::InvalidArgument(fmt::format("step {} has no pod or no expect", number));
    if (const codec::Value* changes = step.Find("changes")) {
      if (Result<void> changed = (*world)->Change(*changes); !changed) return changed;
    }
    report.Add(fmt::format("{}#{}", NameOf(episode), number++), (*world)->Decide(*pod), *expect);
    const codec::Value* applied = step.Find("applied");
    const codec::Value* node = applied ? applied->Find("node") : nullptr;
    std::vector<std::string> deleted;
    if (const codec::Value* list = applied ? applied->Find("deleted") : nullptr) {
      for (const codec::Value& key : list->items()) deleted.emplace_back(key.text());
    }
    if (const codec::Value* changes = applied ? applied->Find("changes") : nullptr) {
      if (Result<void> changed = (*world)->Change(*changes); !changed) return changed;
    }
    (*world)->Evict(deleted);
    if (!node) continue;
    if (Result<void> bound = (*world)->Bind(*pod, std::string(node->text())); !bound) return bound;
  }
  return {};
}

Result<void> RunCase(const codec::Value& recorded, Report& report) {
  const codec::Value* pod = recorded.Find("pod");
  const codec::Value* expect = recorded.Find("expect");
  if (!pod || !expect) return Error::InvalidArgument("a case needs pod and expect");
  Result<std::unique_ptr<World>> world = World::Create(recorded);
  report.Add(NameOf(recorded), world ? (*world)->Decide(*pod) : Result<Decision>(world.error()), *expect);
  return {};
}

Result<void> RunRecord(const codec::Value& recorded, const Options& options, Report& report) {
  if (!options.only.empty() && NameOf(recorded) != options.only) return {};
  if (IsCelCase(recorded)) {
    Result<std::vector<Difference>> differences = RunCelCase(recorded);
    if (!differences) return differences.error();
    report.Add(NameOf(recorded), *differences);
    return {};
  }
  if (IsSamplingEpisode(recorded)) {
    Result<NamedDifferences> steps = RunSamplingEpisode(recorded);
    if (!steps) return steps.error();
    for (const auto& [name, differences] : *steps) report.Add(name, differences);
    return {};
  }
  return recorded.Find("steps") ? RunEpisode(recorded, report) : RunCase(recorded, report);
}

Result<void> RunFile(const std::string& file, const Options& options, Report& report) {
  Result<std::string> text = codec::ReadFile(file);
  if (!text) return text.error();
  // An episode is one object over many lines; cases are one object per line.
  if (Result<codec::Document> whole = codec::ParseJson(*text, file); whole) {
    return RunRecord(whole->root(), options, report);
  }
  std::string_view rest = *text;
  for (size_t line = 1; !rest.empty(); ++line) {
    const size_t end = rest.find('\n');
    const std::string_view record = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (record.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Result<codec::Document> document = codec::ParseJson(std::string(record), fmt::format("{}, record {}", file, line));
    if (!document) return document.error();
    if (Result<void> ran = RunRecord(document->root(), options, report); !ran) {
      return Error{ran.error().code, fmt::format("{}, record {}: {}", file, line, ran.error().message)};
    }
  }
  return {};
}

Result<Options> ParseArguments(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool takes_value = argument == "--case" || argument == "--max";
    if (takes_value && i + 1 == argc) return Error::InvalidArgument(fmt::format("{} needs a value", argument));
    if (argument == "--case") {
      options.only = argv[++i];
    } else if (argument == "--max") {
      char* end = nullptr;
      options.max_differences = std::strtoul(argv[++i], &end, 10);
      if (*end != '\0' || end == argv[i])
        return Error::InvalidArgument(fmt::format("--max: expected a number, found \"{}\"", argv[i]));
    } else if (argument == "-q" || argument == "--quiet") {
      options.quiet = true;
    } else if (argument.starts_with('-') && argument != "-") {
      return Error::InvalidArgument(fmt::format("unknown option {}", argument));
    } else {
      options.files.emplace_back(argument);
    }
  }
  if (options.files.empty()) return Error::InvalidArgument("no file given");
  return options;
}

int Main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (const std::string_view argument = argv[i]; argument == "-h" || argument == "--help") {
      fmt::print("{}", kHelp);
      return 0;
    }
  }
  const Result<Options> options = ParseArguments(argc, argv);
  if (!options) {
    fmt::print(stderr, "berth-parity: {}\nTry --help.\n", options.error().message);
    return 2;
  }
  Report report(*options);
  for (const std::string& file : options->files) {
    if (const Result<void> ran = RunFile(file, *options, report); !ran) {
      fmt::print(stderr, "berth-parity: {}\n", ran.error().message);
      return 2;
    }
  }
  return report.Finish() ? 0 : 1;
}

}  // namespace
}  // namespace berth::parity

int main(int argc, char** argv) { return berth::parity::Main(argc, argv); }
