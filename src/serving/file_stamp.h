// Whether files have changed since they were last read, judged by their metadata.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace berth::serving {

class FileStamps {
 public:
  explicit FileStamps(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  // True the first time, and whenever one of the files differs from the last call. A mounted Secret changes by
  // replacing a symbolic link: the file behind it is checked.
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

// Reads the whole file. Errors name it.
Result<std::string> ReadWholeFile(const std::string& path);

}  // namespace berth::serving
