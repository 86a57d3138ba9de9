// One program, a few verbs.
#include <fmt/format.h>

#include <cstdio>
#include <new>
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
  // A program with two plugins of the same name is wrong, whatever its arguments.
  if (!error_) {
    if (const Result<framework::Registry> merged = cmd::MakeRegistry(plugins_); !merged) error_ = merged.error();
  }
  if (error_) {
    fmt::print(stderr, "berth: {}\n", error_->message);
    return cmd::kBadInput;
  }
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::string_view program = argc > 0 ? std::string_view(argv[0]) : std::string_view();
  const std::string_view called = program.substr(program.rfind('/') + 1);
  if (called == "kube-scheduler") return cmd::Scheduler(plugins_, arguments);
  try {
    if (called == "kubectl-why") return cmd::KubectlWhy(plugins_, arguments);
    return RunVerb(arguments);
  } catch (const std::bad_alloc&) {
    std::fputs("berth: there is not enough memory for this\n", stderr);
    return cmd::kBadInput;
  }
}

int SchedulerCommand::RunVerb(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "{}", cmd::HelpOfAll());
    return cmd::kBadInput;
  }
  const std::string& name = arguments.front();
  if (name == "help" || name == "--help" || name == "-h") return Help({arguments.begin() + 1, arguments.end()});
  if (name == "version" || name == "--version") return Version({arguments.begin() + 1, arguments.end()});
  if (const cmd::Verb* verb = cmd::FindVerb(name)) return verb->run(plugins_, {arguments.begin() + 1, arguments.end()});
  fmt::print(stderr, "berth: {}\n\n{}", cmd::UnknownVerb(name), cmd::HelpOfAll());
  return cmd::kBadInput;
}

int SchedulerCommand::Help(std::vector<std::string> words) {
  if (words.empty()) {
    fmt::print("{}", cmd::HelpOfAll());
    return cmd::kOk;
  }
  const cmd::Verb* verb = cmd::FindVerb(words.front());
  if (verb) {
    words.erase(words.begin());
    words.push_back("--help");
    return verb->run(plugins_, words);
  }
  return cmd::BadInput("help", cmd::UnknownVerb(words.front()));
}

int SchedulerCommand::Version(const std::vector<std::string>& flags) {
  bool brief = false;
  for (const std::string& flag : flags) {
    if (flag != "--short") return cmd::BadInput("version", fmt::format("unexpected argument \"{}\"", flag));
    brief = true;
  }
  if (brief) {
    fmt::print("{}\n", BERTH_VERSION);
  } else {
    fmt::print("berth {} (decides as kube-scheduler v1.36.4)\n", BERTH_VERSION);
  }
  return cmd::kOk;
}

}  // namespace berth
