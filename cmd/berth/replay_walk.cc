#include "replay_walk.h"

#include <fmt/format.h>

#include "api/time.h"
#include "commands.h"
#include "config/load.h"
#include "configuration_source.h"

namespace berth::cmd {

int Trouble(const std::string& message) {
  (void)BadInput("replay", message);
  return kReplayTrouble;
}

Error BeginsLater(const std::vector<record::Recording>& recordings) {
  return Error::NotFound(fmt::format("--at: the recording begins at {}, which is later",
                                     api::FormatTime(recordings.front().begins.front())));
}

Result<record::Recording> RecordingAt(const std::vector<record::Recording>& recordings, base::Time time) {
  const record::Recording* found = nullptr;
  for (const record::Recording& recording : recordings) {
    if (recording.begins.front() <= time) found = &recording;
  }
  if (found) return *found;
  return BeginsLater(recordings);
}

Result<record::Header> HeaderOf(const record::Recording& recording, size_t file) {
  Result<std::unique_ptr<record::FileReader>> reader = record::FileReader::Open(recording.files[file]);
  if (!reader) return reader.error();
  return (*reader)->header();
}

Result<framework::Registry> RegistryFor(const record::Header& header, const ReplayOptions& options,
                                        const framework::Registry& own_plugins) {
  Result<framework::Registry> registry = MakeRegistry(own_plugins);
  if (!registry) return registry;
  const Result<config::KubeSchedulerConfiguration> configuration = config::LoadText(header.configuration, {});
  // The replay reports what is wrong with it when it begins.
  if (!configuration) return registry;
  if (Result<void> added = AddLibraries(*configuration, "", options.plugin_folders, *registry); !added) {
    return added.error();
  }
  return registry;
}

Result<WalkEnd> Walk(const record::Recording& recording, size_t first, const config::FeatureGates& gates,
                     const std::optional<base::Time>& until, const std::function<bool(const replay::Input&)>& visit) {
  replay::InputStream inputs({recording.files.begin() + static_cast<ptrdiff_t>(first), recording.files.end()}, gates);
  replay::Input input;
  while (true) {
    const Result<bool> more = inputs.Next(input);
    if (!more) return more.error();
    if (!*more) return WalkEnd{inputs.is_torn(), inputs.is_open()};
    if (until && input.type != replay::FrameType::kClaimLanded && input.time > *until) return WalkEnd{};
    if (!visit(input)) return WalkEnd{};
  }
}

}  // namespace berth::cmd
