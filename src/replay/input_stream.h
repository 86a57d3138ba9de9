// InputStream: the inputs of a recording, file after file, each with what belongs to it.
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
  // The files of one recording, from one on that can be begun with.
  InputStream(std::vector<std::string> files, const config::FeatureGates& gates)
      : files_(std::move(files)), checkpoints_(gates) {}

  // False at the end of the last file, or where it is torn; the last input of a recording that was not closed is left
  // out, because what belongs to it may be lost. A file that is not the first gives its checkpoint, too: a
  // driver that has had everything before it is in that state already. An error is damage, and names the place.
  Result<bool> Next(Input& input);
  // The last file ends in the middle of a block or of a checkpoint: its program was killed, or still runs.
  bool is_torn() const { return torn_; }
  // The last file ends, at whatever place, before its program said that it was done.
  bool is_open() const { return !ended_ && (torn_ || format_ > 1); }

 private:
  // The next frame of the files; false at the end.
  Result<bool> NextFrame();
  Result<bool> ReadCheckpoint(Input& input);
  // Opens the next file; false when there is nothing in it.
  Result<bool> OpenNext();
  // There is no other frame; `has_input`: there is an input that has not been given.
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

// The file to begin with: the first, or the last that begins before the time and whose checkpoint is whole. A program
// that was killed while it wrote one leaves a file that nothing can begin with, but the one before it leads there.
Result<size_t> FirstFile(const record::Recording& recording, const std::optional<base::Time>& until);

}  // namespace berth::replay
