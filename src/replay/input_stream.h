// InputStream: the inputs of a recording, file by file, each with its attachments.
#pragma once

#include <cstdint>
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
  // The files of one recording, starting with one from which a replay can begin.
  InputStream(std::vector<std::string> files, const config::FeatureGates& gates)
      : files_(std::move(files)), checkpoints_(gates) {}

  // False at the end of the last file, or where it is incomplete; the last input of a recording that was not closed is
  // left out, because attachments may be missing. The checkpoint of a file other than the first is returned, too: a
  // driver that has processed everything before it is in that state already. An error means damage, and says where.
  Result<bool> Next(Input& input);
  // The last file ends in the middle of a block or of a checkpoint: its program was killed, or is still running.
  bool is_torn() const { return torn_; }
  // The last file ends, at any point, without the frame that marks the end of the recording.
  bool is_open() const { return !ended_ && (torn_ || format_ > 1); }

 private:
  // The next frame of the files; false at the end.
  Result<bool> NextFrame();
  Result<bool> ReadCheckpoint(Input& input);
  // Opens the next file; false when there is nothing in it.
  Result<bool> OpenNext();
  // There are no more frames; `has_input`: there is an input that has not been returned.
  Result<bool> AtEnd(bool has_input);
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
  bool ended_ = false;
  bool has_begun_ = false;  // there was a checkpoint or an input
  uint32_t format_ = 0;
  std::optional<uint64_t> inputs_;  // in the recording so far, of files that count them
};

// The file to begin with: the first, or the last that begins before the time and whose checkpoint is complete. A
// program that was killed while it wrote a checkpoint leaves a file from which no replay can begin; then the file
// before it is used.
Result<size_t> FirstFile(const record::Recording& recording, const std::optional<base::Time>& until);

}  // namespace berth::replay
