// Validation of a whole configuration, with upstream's field paths and messages.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/types.h"

namespace berth::config {

// Problems of plugin arguments found while they were read: [profile][pluginConfig entry].
using ArgsProblems = std::vector<std::vector<std::vector<std::string>>>;

// Every problem, in upstream's order, each beginning with the path of its field.
std::vector<std::string> FindProblems(const KubeSchedulerConfiguration& configuration,
                                      const ArgsProblems& args_problems = {});

// A single problem is printed alone, several as "[a, b]", in upstream's order. `args_problems` is empty or has an entry
// for every entry of pluginConfig; call without it again after changing the configuration (flags override a file).
Result<void> Validate(const KubeSchedulerConfiguration& configuration, const ArgsProblems& args_problems = {});

// Adds what is wrong with a list of extenders, from whichever source.
void CheckExtenders(const std::vector<Extender>& extenders, std::vector<std::string>& problems);

}  // namespace berth::config
