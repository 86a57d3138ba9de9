// A checkpoint as frames, and back.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "config/feature_gates.h"
#include "framework/pod_resources.h"
#include "record/object_codec.h"
#include "replay/records.h"
#include "scheduler/checkpoint.h"

namespace berth::replay {

// Calls `append` for each frame. `objects` must have been reset: the templates it knew are in another file.
void EncodeCheckpoint(const scheduler::Checkpoint& checkpoint, record::ObjectWriter& objects,
                      const std::function<void(FrameType type, std::string_view payload)>& append);

class CheckpointReader {
 public:
  explicit CheckpointReader(const config::FeatureGates& gates);

  // One frame after the other, kCheckpointBegin to kCheckpointEnd; templates go to `objects`.
  Result<void> Add(FrameType type, std::string_view payload, const record::ObjectReader& objects);
  // Complete, as of the last kCheckpointEnd.
  const scheduler::Checkpoint& checkpoint() const { return checkpoint_; }
  // The number of objects of custom resources in it of which only the metadata was recorded.
  uint64_t withheld() const { return withheld_; }

 private:
  framework::PodInfoPtr PodOf(const api::Object& object) const;

  const framework::PodRequestOptions options_;
  scheduler::Checkpoint checkpoint_;
  uint64_t withheld_ = 0;
};

bool IsCheckpoint(FrameType type);

}  // namespace berth::replay
