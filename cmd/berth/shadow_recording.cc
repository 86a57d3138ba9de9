#include "shadow_recording.h"

#include <utility>

#include "record/file_reader.h"
#include "replay/input_stream.h"

namespace berth::cmd {

namespace {

// The objects that existed when the file begins.
void AddCheckpoint(const scheduler::Checkpoint& checkpoint, base::Time time, shadow::Shadow& shadow) {
  for (const api::Object& object : checkpoint.objects) shadow.Add({time, false, object});
  for (const scheduler::Checkpoint::Node& node : checkpoint.nodes) shadow.Add({time, false, api::Object(node.node)});
  std::set<std::string> placed;
  for (const scheduler::Checkpoint::Pod& from : checkpoint.pods) {
    api::Pod pod = *from.pod->shared_pod();
    pod.spec.node_name = from.node_name;
    placed.insert(pod.metadata.uid);
    shadow.Add({time, false, api::MakeObject(std::move(pod))});
  }
  for (const auto& queued : checkpoint.queue.pods) {
    if (!placed.contains(queued.queued.pod->uid())) {
      shadow.Add({time, false, api::Object(queued.queued.pod->shared_pod())});
    }
  }
}

}  // namespace

Result<std::unique_ptr<ShadowedRecording>> ShadowedRecording::Create(const SchedulerSetup& setup) {
  std::unique_ptr<ShadowedRecording> made(new ShadowedRecording(setup));
  Result<std::unique_ptr<scheduler::Driver>> driver = scheduler::Driver::Create(
      setup.configuration, setup.registry, setup.gates, made->clock_, made->api_, made->observer_, {});
  if (!driver) return driver.error();
  made->driver_ = *std::move(driver);
  return made;
}

// In a new recording, everything up to the first step is the first list of every kind.
Result<RecordedTimes> ShadowedRecording::Feed(const std::string& folder, shadow::Shadow& shadow) {
  const Result<std::vector<record::Recording>> recordings = record::FindRecordings(folder);
  if (!recordings) return recordings.error();
  replay::InputStream inputs(recordings->back().files, setup_.gates);
  RecordedTimes times;
  bool begun = false;
  for (replay::Input input;;) {
    const Result<bool> more = inputs.Next(input);
    if (!more) return more.error();
    if (!*more) break;
    if (input.type != replay::FrameType::kClaimLanded) clock_.Set(times.last = input.time);
    switch (input.type) {
      case replay::FrameType::kCheckpointBegin:
        if (begun) break;
        AddCheckpoint(*input.checkpoint, input.time, shadow);
        [[fallthrough]];
      case replay::FrameType::kStep:
        if (!begun) {
          times.first = input.time;
          shadow.Begin();
        }
        begun = true;
        break;
      case replay::FrameType::kPut:
      case replay::FrameType::kRemove:
      case replay::FrameType::kAdd:
        shadow.Add({input.time, input.type == replay::FrameType::kRemove, *input.object});
        break;
      default:
        break;
    }
    if (begun) shadow.Advance(times.last);
  }
  if (!begun) return Error::InvalidArgument(folder + ": the recording ends before the cluster had been read");
  shadow.Finish();
  return times;
}

}  // namespace berth::cmd
