#include "serving/file_stamp.h"

#include <sys/stat.h>

#include <utility>

#include "base/file.h"

namespace berth::serving {

bool FileStamps::Changed() {
  std::vector<Stamp> now;
  for (const std::string& path : paths_) {
    struct stat info {};
    Stamp stamp;
    if (::stat(path.c_str(), &info) == 0) {
      stamp = {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    }
    now.push_back(stamp);
  }
  if (now == last_) return false;
  last_ = std::move(now);
  return true;
}

Result<std::string> ReadWholeFile(const std::string& path) {
  Result<std::string> content = base::ReadFile(path);
  if (!content) return Error{content.error().code, path + ": cannot be read: " + content.error().message};
  return content;
}

}  // namespace berth::serving
