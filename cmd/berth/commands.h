// The verbs of berth. Each takes the plugins that the program has besides berth's and the arguments after its name, and
// returns the exit status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/registry.h"

namespace berth::cmd {

// Exit statuses of every verb.
inline constexpr int kOk = 0;
inline constexpr int kBadInput = 1;  // bad usage or bad input: nothing was done
inline constexpr int kUnplaced = 2;  // it ran, and some pod could not be placed

// Prints "berth VERB: MESSAGE" on standard error and returns kBadInput.
int BadInput(std::string_view verb, std::string_view message);
// The same, for verbs whose `output` may be read by a program: with json and yaml, the lines of the message are also
// written to standard output, as a document of kind Problems.
int BadInput(std::string_view verb, std::string_view message, std::string_view output);

// Also what a program called kube-scheduler does, whatever its arguments.
int Scheduler(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Simulate(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Explain(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
// The same for the cluster that kubectl talks to; what a program called kubectl-why does, whatever its arguments.
int KubectlWhy(const framework::Registry& own_plugins, std::vector<std::string> arguments);
int Console(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Capacity(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Diff(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Replay(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Record(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Shadow(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Completion(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Man(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Snapshot(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Bench(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
// berth bench perf
int BenchPerf(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);
int Config(const framework::Registry& own_plugins, const std::vector<std::string>& arguments);

}  // namespace berth::cmd
