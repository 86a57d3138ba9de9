#include "replay/input_stream.h"

#include <fmt/format.h>

#include <utility>

namespace berth::replay {

Error InputStream::At(const Error& error) const {
  return {error.code, fmt::format("{}: {}", reader_->name(), error.message)};
}

Result<bool> InputStream::NextFrame() {
  if (has_frame_) return true;
  while (true) {
    if (reader_ && reader_->Next(frame_)) {
      has_frame_ = true;
      return true;
    }
    if (reader_ && !reader_->problem().empty()) return Error::InvalidArgument(reader_->problem());
    if (reader_) torn_ = reader_->is_torn();
    if (next_file_ == files_.size()) return false;
    Result<std::unique_ptr<record::FileReader>> opened = record::FileReader::Open(files_[next_file_++]);
    // The first moments of a file that its program did not live to see.
    if (!opened && opened.error().code == ErrorCode::kUnavailable) {
      torn_ = true;
      return false;
    }
    if (!opened) return opened.error();
    reader_ = *std::move(opened);
    objects_.Reset();
  }
}

Result<bool> InputStream::ReadCheckpoint(Input& input) {
  while (true) {
    Result<bool> more = NextFrame();
    // A checkpoint that was not finished: nothing follows.
    if (!more || !*more) return more;
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
    input.checkpoint = std::make_shared<const scheduler::Checkpoint>(checkpoints_.checkpoint());
    input.time = input.checkpoint->taken;
    return true;
  }
}

Result<void> InputStream::Decode(Input& input) {
  const auto type = static_cast<FrameType>(frame_.type);
  std::string_view object;
  if (Result<void> decoded = DecodeInput(type, frame_.payload, input, object); !decoded) return At(decoded.error());
  if (type == FrameType::kPut || type == FrameType::kRemove || type == FrameType::kAdd) {
    Result<api::Object> decoded = objects_.Decode(object);
    if (!decoded) return At(decoded.error());
    if (type == FrameType::kAdd && decoded->kind() != api::Kind::kPod) {
      return At(Error::InvalidArgument("something that is no pod is added to the queue"));
    }
    input.object = *std::move(decoded);
  }
  return {};
}

Result<bool> InputStream::Next(Input& input) {
  input = Input();
  bool begun = false;
  while (true) {
    Result<bool> more = NextFrame();
    if (!more) return more;
    if (!*more) return begun;
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
    }
    has_frame_ = false;  // what is of a later version is left out
  }
}

}  // namespace berth::replay
