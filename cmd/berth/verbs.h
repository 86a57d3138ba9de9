// The verbs of berth in one table, and the description of each: for --help, completion and manual pages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flags.h"
#include "framework/registry.h"

namespace berth::cmd {

struct Verb {
  std::string_view name;
  std::string_view summary;
  int (*run)(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
  // A first argument after which the verb takes other flags; empty: there is none.
  std::string_view sub_verb = {};
};

std::span<const Verb> Verbs();
// Null if there is none of that name.
const Verb* FindVerb(std::string_view name);
// "unknown verb "simulat", did you mean simulate?"
std::string UnknownVerb(std::string_view name);
// berth --help
std::string HelpOfAll();

struct VerbDescription {
  std::string name;  // "simulate", "bench perf"
  std::string summary;
  CommandDescription command;
};

// Describes every verb, from the tables that parse its command line.
std::vector<VerbDescription> DescribeVerbs();

}  // namespace berth::cmd
