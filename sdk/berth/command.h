// SchedulerCommand: all of berth as your own program, with plugins that berth does not include.
//
//   int main(int argc, char** argv) {
//     return berth::SchedulerCommand().WithPlugin("ZoneLabel", ZoneLabel::Create).Run(argc, argv);
//   }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "framework/registry.h"

namespace berth {

class SchedulerCommand {
 public:
  // Registers a plugin under `name`, which configurations then use like any other; it is disabled until one enables it.
  // A name that is taken, by berth's own plugins or by an earlier call, is reported when the command runs.
  SchedulerCommand& WithPlugin(std::string name, framework::PluginFactory factory);

  // Accepts the verb and its flags as berth does, and returns the exit status. Call once per process.
  int Run(int argc, char** argv);

 private:
  int RunVerb(const std::vector<std::string>& arguments);
  int Help(std::vector<std::string> words);
  static int Version(const std::vector<std::string>& flags);

  framework::Registry plugins_;
  std::optional<Error> error_;  // the first one
};

}  // namespace berth
