// Whether files changed since they were last read, told by what the file system keeps about them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace berth::serving {

class FileStamps {
 public:
  explicit FileStamps(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  // True the first time, and whenever one of the files differs from the last call. A mounted Secret changes by
  // exchanging a symbolic link: the file behind it counts.
  bool Changed();

 private:
  struct Stamp {
    unsigned long device = 0;
    unsigned long inode = 0;
    long size = -1;
    long seconds = 0;
    long nanos = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  const std::vector<std::string> paths_;
  std::vector<Stamp> last_;
};

// The whole file. Errors name it.
Result<std::string> ReadWholeFile(const std::string& path);

}  // namespace berth::serving
