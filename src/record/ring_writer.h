// RingWriter: writes a recording into a folder, file by file, and removes the oldest files to keep the total size
// within a limit.
//
// A block is written in one piece, so if the program is killed, unwritten data is lost and at most the last block is
// incomplete, which readers skip. The oldest file is removed only when a newer one is complete up to the end of its
// checkpoint: whatever happens, the remaining files can be replayed.
//
// Not thread-safe. After a write has failed nothing more is written, and every call returns that error.
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

// The destination of one file.
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
    uint64_t file_size = 0;                 // a new file is wanted from this size on; 0: an eighth of `size`
    size_t block_size = size_t{256} << 10;  // of frames, before they are compressed
    OpenFile open{};                        // unset: a real file that does not exist yet
  };

  // Creates the folder if it does not exist. An error if another program records into it.
  static Result<std::unique_ptr<RingWriter>> Open(Options options);
  ~RingWriter();
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;

  // Ends the current file and begins the next one with this header. The caller must then append what describes the
  // current state, and call Settle; until then no file is removed.
  Result<void> Begin(const Header& header);
  Result<void> Settle();
  Result<void> Append(uint32_t type, std::string_view payload) {
    return AppendWith(type, [&](std::string& frames) { frames += payload; });
  }
  // The same for a payload that `append` appends to the string it is given, which is the block itself, so that nothing
  // is copied.
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

  // The current file has reached its size: Begin should be called. What describes the state at its beginning does not
  // count, and is at most half of a file: a large cluster must not write one checkpoint after the other.
  bool WantsNewFile() const { return file_bytes_ - settled_bytes_ >= std::max(file_size_, settled_bytes_); }
  // The current file is larger than allowed, because Begin was not called.
  bool IsOverflowing() const { return file_bytes_ >= 2 * options_.size; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  explicit RingWriter(Options options);
  Result<void> FlushWhenFull() { return frames_.size() >= options_.block_size ? Flush() : Result<void>(); }
  Result<void> WriteOut(std::string_view bytes);
  void RemoveOldest();

  const Options options_;
  const uint64_t file_size_;
  int lock_ = -1;                       // locks the folder
  std::map<uint64_t, uint64_t> files_;  // number to size, of all in the folder
  uint64_t next_number_ = 1;
  std::unique_ptr<FileSink> file_;
  uint64_t file_bytes_ = 0;
  uint64_t settled_bytes_ = 0;  // of these, up to Settle
  uint64_t bytes_written_ = 0;
  std::string frames_;  // not written yet
  std::string block_;   // reused by every Flush
  std::optional<Error> failed_;
};

}  // namespace berth::record
