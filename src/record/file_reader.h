// FileReader: the frames of one file of a recording, in order. Reading ends at the end of the file or where it is
// damaged; a block that was not written to its end, which is what a killed program leaves, ends it too and is no
// damage.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/format.h"

namespace berth::record {

struct Frame {
  uint32_t type = 0;
  std::string_view payload;  // valid until the next call of Next
};

class FileReader {
 public:
  // The error names the file, and says when it is something else or of another format.
  static Result<std::unique_ptr<FileReader>> Open(const std::string& path);
  // The same for bytes; `name` stands for the file in messages.
  static Result<std::unique_ptr<FileReader>> Read(std::string name, std::string bytes);

  const Header& header() const { return header_; }
  const std::string& name() const { return name_; }
  uint32_t format() const { return format_; }
  // False at the end; then is_torn() and problem() say what kind of end it is.
  bool Next(Frame& frame);
  // The last block is incomplete: the program ended while it was written.
  bool is_torn() const { return torn_; }
  // What is damaged, with the position; empty when nothing is.
  const std::string& problem() const { return problem_; }

 private:
  FileReader(std::string name, std::unique_ptr<std::istream> stream)
      : name_(std::move(name)), stream_(std::move(stream)) {}
  Result<void> ReadHeader();
  // The content of the next block; false at the end.
  bool NextBlock(BlockType& type, std::string& content);
  std::string ReadSome(size_t size);

  const std::string name_;
  std::unique_ptr<std::istream> stream_;
  uint64_t position_ = 0;
  uint32_t format_ = kFormatVersion;
  Header header_;
  std::string block_;      // decompressed
  std::string_view rest_;  // of block_
  bool torn_ = false;
  std::string problem_;
};

// The files of one run of a scheduler that are still there, in order.
struct Recording {
  Header header;                   // of the first file
  std::vector<std::string> files;  // with the folder
  std::vector<base::Time> begins;  // of each of them
};

// Those in the folder, the oldest first. A file of nothing but a torn header is left out. An error when there are none.
Result<std::vector<Recording>> FindRecordings(const std::string& folder);

}  // namespace berth::record
