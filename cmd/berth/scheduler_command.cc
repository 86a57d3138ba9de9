// One program, a few verbs.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/spelling.h"
#include "berth/command.h"
#include "commands.h"
#include "configuration_source.h"

namespace berth {

namespace {

struct Verb {
  const char* name;
  const char* summary;
  int (*run)(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
};

constexpr Verb kVerbs[] = {
    {"scheduler", "schedule the pods of a real cluster; takes kube-scheduler's flags and configuration",
     cmd::Scheduler},
    {"simulate", "schedule pods onto a cluster in memory, and say where everything went and why", cmd::Simulate},
    {"capacity", "say how many more instances of a pod fit, and what stops the next one", cmd::Capacity},
    {"diff", "say what another configuration, or another input, changes", cmd::Diff},
    {"snapshot", "write what scheduling reads of a real cluster to a file for simulate", cmd::Snapshot},
    {"config", "check, complete and convert scheduler configurations, and list plugins", cmd::Config},
    {"bench", "measure how fast pods are scheduled", cmd::Bench},
};

void PrintHelp(std::FILE* to) {
  fmt::print(to,
             "berth schedules Kubernetes pods exactly as kube-scheduler v1.36 does.\n\nUsage:\n  berth VERB "
             "[flags]\n\nVerbs:\n");
  for (const Verb& verb : kVerbs) fmt::print(to, "  {:<10} {}\n", verb.name, verb.summary);
  fmt::print(to, "  {:<10} {}\n  {:<10} {}\n\n`berth VERB --help` says more about each.\n", "version",
             "print the version", "help", "this text");
}

}  // namespace

SchedulerCommand& SchedulerCommand::WithPlugin(std::string name, framework::PluginFactory factory) {
  const Result<void> registered = plugins_.Register(std::move(name), std::move(factory), "this program");
  if (!registered && !error_) error_ = registered.error();
  return *this;
}

int SchedulerCommand::Run(int argc, char** argv) {
  // A program that brings two plugins of one name is wrong whatever it is asked to do.
  if (!error_) {
    if (const Result<framework::Registry> merged = cmd::MakeRegistry(plugins_); !merged) error_ = merged.error();
  }
  if (error_) {
    fmt::print(stderr, "berth: {}\n", error_->message);
    return cmd::kBadInput;
  }
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::string_view program = argc > 0 ? std::string_view(argv[0]) : std::string_view();
  if (program.substr(program.rfind('/') + 1) == "kube-scheduler") return cmd::Scheduler(plugins_, arguments);
  if (arguments.empty()) {
    PrintHelp(stderr);
    return cmd::kBadInput;
  }
  const std::string& name = arguments.front();
  if (name == "help" || name == "--help" || name == "-h") {
    PrintHelp(stdout);
    return cmd::kOk;
  }
  if (name == "version" || name == "--version") {
    fmt::print("berth {} (decides as kube-scheduler v1.36.4)\n", BERTH_VERSION);
    return cmd::kOk;
  }
  for (const Verb& verb : kVerbs) {
    if (name == verb.name) return verb.run(plugins_, {arguments.begin() + 1, arguments.end()});
  }
  std::vector<std::string_view> names = {"version", "help"};
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  const std::string_view meant = base::NearestWord(name, names);
  fmt::print(stderr, "berth: unknown verb \"{}\"{}\n\n", name,
             meant.empty() ? "" : fmt::format(", did you mean {}?", meant));
  PrintHelp(stderr);
  return cmd::kBadInput;
}

}  // namespace berth
