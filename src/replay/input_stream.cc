#include "replay/input_stream.h"

#include <fmt/format.h>

#include <utility>

namespace berth::replay {

namespace {

// Whether a replay can begin with this file: it is the first of its recording, or its checkpoint is whole.
Result<bool> HasWholeBeginning(const std::string& file) {
  Result<std::unique_ptr<record::FileReader>> opened = record::FileReader::Open(file);
  if (!opened && opened.error().code == ErrorCode::kUnavailable) return false;
  if (!opened) return opened.error();
  if ((*opened)->header().part == 0) return true;
  record::Frame frame;
  while ((*opened)->Next(frame)) {
    if (static_cast<FrameType>(frame.type) == FrameType::kCheckpointEnd) return true;
  }
  if (!(*opened)->problem().empty()) return Error::InvalidArgument((*opened)->problem());
  return false;
}

}  // namespace

Error InputStream::At(const Error& error) const {
  return {error.code, fmt::format("{}: {}", reader_->name(), error.message)};
}

Result<bool> InputStream::OpenNext() {
  Result<std::unique_ptr<record::FileReader>> opened = record::FileReader::Open(files_[next_file_++]);
  // The first moments of a file that its program did not live to see.
  if (!opened && opened.error().code == ErrorCode::kUnavailable && next_file_ > 1) {
    torn_ = true;
    return false;
  }
  if (!opened) return opened.error();
  reader_ = *std::move(opened);
  format_ = reader_->format();
  objects_.Reset();
  const std::optional<uint64_t>& before = reader_->header().inputs_before;
  if (inputs_ && before && *inputs_ != *before) {
    return At(Error::InvalidArgument(
        fmt::format("expected to follow on {} inputs, found {} in the files before it: one of them is damaged", *before,
                    *inputs_)));
  }
  inputs_ = before;
  return true;
}

Result<bool> InputStream::NextFrame() {
  if (has_frame_) return true;
  while (true) {
    if (reader_ && reader_->Next(frame_)) {
      if (ended_) return At(Error::InvalidArgument("damaged: something follows the end of the recording"));
      has_frame_ = true;
      return true;
    }
    if (reader_ && !reader_->problem().empty()) return Error::InvalidArgument(reader_->problem());
    if (reader_) torn_ = reader_->is_torn();
    if (next_file_ == files_.size()) return false;
    if (torn_ || ended_) {
      return At(Error::InvalidArgument(torn_ ? "damaged: it ends in the middle of a block, and another file follows"
                                             : "damaged: it ends the recording, and another file follows"));
    }
    if (Result<bool> opened = OpenNext(); !opened || !*opened) return opened;
  }
}

Result<bool> InputStream::ReadCheckpoint(Input& input) {
  while (true) {
    Result<bool> more = NextFrame();
    if (!more) return more;
    if (!*more) {
      torn_ = true;
      return AtEnd(false);
    }
    const auto type = static_cast<FrameType>(frame_.type);
    if (type == FrameType::kTemplate) {
      if (Result<void> added = objects_.AddTemplate(frame_.payload); !added) return At(added.error());
    } else if (IsCheckpoint(type)) {
      if (Result<void> added = checkpoints_.Add(type, frame_.payload, objects_); !added) return At(added.error());
    } else {
      return At(Error::InvalidArgument("an input stands in the middle of a checkpoint"));
    }
    has_frame_ = false;
    if (type != FrameType::kCheckpointEnd) continue;
    input.type = FrameType::kCheckpointBegin;
    input.withheld = checkpoints_.withheld();
    input.checkpoint = std::make_shared<const scheduler::Checkpoint>(checkpoints_.checkpoint());
    input.time = input.checkpoint->taken;
    has_begun_ = true;
    return true;
  }
}

Result<bool> InputStream::AtEnd(bool has_input) {
  if (!has_begun_ && next_file_ == 1 && reader_->header().part > 0) {
    return At(Error::Unavailable("it ends in the middle of its checkpoint, so that a replay cannot begin with it"));
  }
  // Of a program that was killed, what belongs to the last input may be lost.
  return has_input && ended_;
}

Result<void> InputStream::Decode(Input& input) {
  std::string_view object;
  Result<void> decoded = DecodeInput(static_cast<FrameType>(frame_.type), frame_.payload, input, object);
  if (decoded) decoded = DecodeObject(object, objects_, input);
  if (!decoded) return At(decoded.error());
  if (inputs_) ++*inputs_;
  has_begun_ = true;
  return {};
}

Result<bool> InputStream::Next(Input& input) {
  input = Input();
  bool begun = false;
  while (true) {
    Result<bool> more = NextFrame();
    if (!more) return more;
    if (!*more) return AtEnd(begun);
    const auto type = static_cast<FrameType>(frame_.type);
    if (type == FrameType::kTemplate) {
      if (Result<void> added = objects_.AddTemplate(frame_.payload); !added) return At(added.error());
    } else if (IsAttachment(type)) {
      if (!begun) return At(Error::InvalidArgument("an answer belongs to no input"));
      if (Result<void> decoded = DecodeAttachment(type, frame_.payload, input); !decoded) return At(decoded.error());
    } else if (begun && (IsInput(type) || IsCheckpoint(type))) {
      return true;
    } else if (IsCheckpoint(type)) {
      return ReadCheckpoint(input);
    } else if (IsInput(type)) {
      if (Result<void> decoded = Decode(input); !decoded) return decoded.error();
      begun = true;
    } else if (type == FrameType::kEnd) {
      ended_ = true;
    } else {
      // To leave out what may have decided something would be to replay something else.
      return At(Error::Unsupported(fmt::format(
          "it has a frame of type {}, which this berth does not know: use the berth that made it, or a newer one",
          frame_.type)));
    }
    has_frame_ = false;
  }
}

Result<size_t> FirstFile(const record::Recording& recording, const std::optional<base::Time>& until) {
  if (!until) return size_t{0};
  for (size_t i = recording.begins.size(); i-- > 1;) {
    if (recording.begins[i] > *until) continue;
    const Result<bool> whole = HasWholeBeginning(recording.files[i]);
    if (!whole) return whole.error();
    if (*whole) return i;
  }
  return size_t{0};
}

}  // namespace berth::replay
