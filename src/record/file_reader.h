// FileReader: reads the frames of one file of a recording, in order. Reading stops at the end of the file or at the
// first damage. An incomplete last block, which a killed program leaves behind, is the end of the file and not damage.
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
  // The error contains the path. A file of another kind or with an unknown format is an error.
  static Result<std::unique_ptr<FileReader>> Open(const std::string& path);
  // Reads from memory; messages contain `name` instead of a path.
  static Result<std::unique_ptr<FileReader>> Read(std::string name, std::string bytes);

  const Header& header() const { return header_; }
  const std::string& name() const { return name_; }
  uint32_t format() const { return format_; }
  // False at the end; is_torn() and problem() then say why reading stopped.
  bool Next(Frame& frame);
  // The last block is incomplete: the program ended while writing it.
  bool is_torn() const { return torn_; }
  // A description of the damage with its position; empty if there is none.
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

// The existing files of one run of a scheduler, in order.
struct Recording {
  Header header;                   // of the first file
  std::vector<std::string> files;  // with the folder
  std::vector<base::Time> begins;  // of each of them
};

// The recordings in the folder, oldest first; an error if there are none. Files with an incomplete header are skipped.
Result<std::vector<Recording>> FindRecordings(const std::string& folder);

}  // namespace berth::record
