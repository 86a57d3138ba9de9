// RingWriter: writes a recording into a folder, file by file, and removes the oldest files so that all of them together
// stay within a size.
//
// A block is written in one piece, so that killing the program loses what was not written and tears at most the last
// block, which readers leave out. The oldest file goes only when a newer one is complete up to the end of its
// checkpoint: whatever happens, what is left can be replayed.
//
// Not thread-safe. After a write has failed nothing is written any more, and every call says why.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/format.h"

namespace berth::record {

// Where one file goes.
class FileSink {
 public:
  virtual ~FileSink() = default;
  virtual Result<void> Write(std::string_view bytes) = 0;
};

class RingWriter {
 public:
  using OpenFile = std::function<Result<std::unique_ptr<FileSink>>(const std::string& path)>;
  struct Options {
    std::string folder;
    uint64_t size = uint64_t{1} << 30;      // of all files
    uint64_t file_size = 0;                 // from which on a new file is wanted; 0: an eighth of `size`
    size_t block_size = size_t{256} << 10;  // of frames, before they are compressed
    OpenFile open{};                        // unset: a real file that does not exist yet
  };

  // Makes the folder when it is not there. An error when another program records into it.
  static Result<std::unique_ptr<RingWriter>> Open(Options options);
  ~RingWriter();
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;

  // Ends the file at hand and begins the next one with this header. What describes the state at this point is to be
  // appended next, and then Settle called; until then no file is removed.
  Result<void> Begin(const Header& header);
  Result<void> Settle();
  Result<void> Append(uint32_t type, std::string_view payload) {
    return AppendWith(type, [&](std::string& frames) { frames += payload; });
  }
  // The same for a payload that `append` appends to the string it is given: the block itself, so that nothing is
  // copied.
  template <class AppendPayload>
  Result<void> AppendWith(uint32_t type, AppendPayload append) {
    if (failed_) return *failed_;
    const size_t start = StartFrame(frames_, type);
    append(frames_);
    EndFrame(frames_, start);
    return FlushWhenFull();
  }
  // Whole frames.
  Result<void> AppendFrames(std::string_view frames);
  // Writes what has been appended.
  Result<void> Flush();

  // The file at hand has reached its size: Begin should be called. What describes the state at its beginning does not
  // count, and is never more than half of a file: a large cluster must not have one checkpoint after the other.
  bool WantsNewFile() const { return file_bytes_ - settled_bytes_ >= std::max(file_size_, settled_bytes_); }
  // The file at hand has outgrown all that was allowed, because nobody called Begin.
  bool IsOverflowing() const { return file_bytes_ >= 2 * options_.size; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  explicit RingWriter(Options options);
  Result<void> FlushWhenFull() { return frames_.size() >= options_.block_size ? Flush() : Result<void>(); }
  Result<void> WriteOut(std::string_view bytes);
  void RemoveOldest();

  const Options options_;
  const uint64_t file_size_;
  int lock_ = -1;                       // holds the folder
  std::map<uint64_t, uint64_t> files_;  // number to size, of all in the folder
  uint64_t next_number_ = 1;
  std::unique_ptr<FileSink> file_;
  uint64_t file_bytes_ = 0;
  uint64_t settled_bytes_ = 0;  // of them, up to Settle
  uint64_t bytes_written_ = 0;
  std::string frames_;  // not written yet
  std::string block_;   // reused by every Flush
  std::optional<Error> failed_;
};

}  // namespace berth::record
