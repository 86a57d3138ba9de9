// The command line of `berth scheduler`: every flag of kube-scheduler v1.36.4, and berth's own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "grouped_flags.h"
#include "scheduler_options.h"

namespace berth::cmd {

// Not movable: the flags point into the options.
class SchedulerFlags {
 public:
  // `command` is the name the program was called by: "berth scheduler" or "kube-scheduler".
  explicit SchedulerFlags(std::string command);
  SchedulerFlags(const SchedulerFlags&) = delete;
  SchedulerFlags& operator=(const SchedulerFlags&) = delete;

  // Rejects what upstream rejects while parsing (syntax, feature gates, versions) and the few flags that berth cannot
  // support, each with its reason. With --help or --version nothing more is checked.
  Result<void> Parse(const std::vector<std::string>& arguments);

  const SchedulerOptions& options() const { return options_; }
  // Flags that are deprecated, overridden by --config, or without effect here: one sentence each.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The text of --help. Lines are wrapped at `columns`; 0: not at all, as upstream does if the output is not a
  // terminal.
  std::string Help(size_t columns = 0) const;
  // What /flagz shows.
  std::vector<GroupedFlags::NameAndValue> Values() const { return flags_.Values(); }

 private:
  Result<void> CheckSupport();

  std::string command_;
  SchedulerOptions options_;
  GroupedFlags flags_;
  std::vector<std::string> warnings_;
};

}  // namespace berth::cmd
