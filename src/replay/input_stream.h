// InputStream: the inputs of a recording, file after file, each with what belongs to it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/feature_gates.h"
#include "record/file_reader.h"
#include "record/object_codec.h"
#include "replay/checkpoint_codec.h"
#include "replay/records.h"

namespace berth::replay {

class InputStream {
 public:
  // The files of one recording, from one on that can be begun with.
  InputStream(std::vector<std::string> files, const config::FeatureGates& gates)
      : files_(std::move(files)), checkpoints_(gates) {}

  // False at the end of the last file, or where it is torn. A file that is not the first gives its checkpoint, too: a
  // driver that has had everything before it is in that state already. An error is damage, and names the place.
  Result<bool> Next(Input& input);
  // The last file ends in the middle of a block: its program was killed, or still runs.
  bool is_torn() const { return torn_; }

 private:
  // The next frame of the files; false at the end.
  Result<bool> NextFrame();
  Result<bool> ReadCheckpoint(Input& input);
  Result<void> Decode(Input& input);
  Error At(const Error& error) const;

  const std::vector<std::string> files_;
  size_t next_file_ = 0;
  std::unique_ptr<record::FileReader> reader_;
  record::ObjectReader objects_;
  CheckpointReader checkpoints_;
  record::Frame frame_;
  bool has_frame_ = false;  // frame_ has not been used yet
  bool torn_ = false;
};

}  // namespace berth::replay
