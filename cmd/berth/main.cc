// berth: one binary, a few verbs.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "commands.h"

namespace berth::cmd {
namespace {

struct Verb {
  const char* name;
  const char* summary;
  int (*run)(const std::vector<std::string>& arguments);
};

constexpr Verb kVerbs[] = {
    {"simulate", "schedule pods onto a cluster given as files, and say where everything went and why", Simulate},
    {"config", "check, complete and convert scheduler configurations, and list plugins", Config},
    {"bench", "measure how fast pods are scheduled", Bench},
};

void PrintHelp(std::FILE* to) {
  fmt::print(to,
             "berth schedules Kubernetes pods exactly as kube-scheduler v1.36 does.\n\nUsage:\n  berth VERB "
             "[flags]\n\nVerbs:\n");
  for (const Verb& verb : kVerbs) fmt::print(to, "  {:<10} {}\n", verb.name, verb.summary);
  fmt::print(to, "  {:<10} {}\n  {:<10} {}\n\n`berth VERB --help` says more about each.\n", "version",
             "print the version", "help", "this text");
}

int Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    PrintHelp(stderr);
    return kBadInput;
  }
  const std::string& name = arguments.front();
  if (name == "help" || name == "--help" || name == "-h") {
    PrintHelp(stdout);
    return kOk;
  }
  if (name == "version" || name == "--version") {
    fmt::print("berth {} (decides as kube-scheduler v1.36.4)\n", BERTH_VERSION);
    return kOk;
  }
  for (const Verb& verb : kVerbs) {
    if (name == verb.name) return verb.run({arguments.begin() + 1, arguments.end()});
  }
  fmt::print(stderr, "berth: unknown verb \"{}\"\n\n", name);
  PrintHelp(stderr);
  return kBadInput;
}

}  // namespace
}  // namespace berth::cmd

int main(int argc, char** argv) { return berth::cmd::Main(argc, argv); }
