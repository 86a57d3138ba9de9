// One program, a few verbs.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "berth/command.h"
#include "commands.h"
#include "configuration_source.h"
#include "verbs.h"

namespace berth {

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
    fmt::print(stderr, "{}", cmd::HelpOfAll());
    return cmd::kBadInput;
  }
  const std::string& name = arguments.front();
  if (name == "help" || name == "--help" || name == "-h") {
    fmt::print("{}", cmd::HelpOfAll());
    return cmd::kOk;
  }
  if (name == "version" || name == "--version") {
    fmt::print("berth {} (decides as kube-scheduler v1.36.4)\n", BERTH_VERSION);
    return cmd::kOk;
  }
  if (const cmd::Verb* verb = cmd::FindVerb(name)) return verb->run(plugins_, {arguments.begin() + 1, arguments.end()});
  fmt::print(stderr, "berth: {}\n\n{}", cmd::UnknownVerb(name), cmd::HelpOfAll());
  return cmd::kBadInput;
}

}  // namespace berth
