// What every use of a recording has in common: which recording and file to start with, the plugins, and the walk over
// its inputs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "framework/registry.h"
#include "record/file_reader.h"
#include "replay/input_stream.h"
#include "replay/records.h"

namespace berth::cmd {

struct ReplayOptions {
  std::string folder;
  std::string at;
  std::optional<base::Time> until;
  std::string explain;
  std::string config;
  std::string feature_gates;
  std::vector<std::string> plugin_folders;
  std::string output = "text";
  std::string color = "auto";
  bool report = false;
  bool verify_incremental = false;
  bool console = false;
  std::string speed = "1";
  uint64_t port = 0;
  uint64_t threads = 1;
};

// Exit statuses of berth replay, as in cmp(1) and diff(1).
inline constexpr int kReplayDiffers = 1;
inline constexpr int kReplayTrouble = 2;

// Prints "berth replay: MESSAGE" on standard error and returns kReplayTrouble.
int Trouble(const std::string& message);

// The recording that the time falls into: the last that begins before it.
Result<record::Recording> RecordingAt(const std::vector<record::Recording>& recordings, base::Time time);
Error BeginsLater(const std::vector<record::Recording>& recordings);
Result<record::Header> HeaderOf(const record::Recording& recording, size_t file);
// The plugins that a recording's configuration may name.
Result<framework::Registry> RegistryFor(const record::Header& header, const ReplayOptions& options,
                                        const framework::Registry& own_plugins);

struct WalkEnd {
  bool torn = false;  // the last file ends in the middle of a block or of a checkpoint
  bool open = false;  // wherever it ends, it was not closed
};
// Calls `visit` for every input up to the time; it ends the walk by returning false.
Result<WalkEnd> Walk(const record::Recording& recording, size_t first, const config::FeatureGates& gates,
                     const std::optional<base::Time>& until, const std::function<bool(const replay::Input&)>& visit);

// berth replay --console.
int WatchReplay(const std::vector<record::Recording>& recordings, const ReplayOptions& options, double speed,
                const framework::Registry& own_plugins);

}  // namespace berth::cmd
