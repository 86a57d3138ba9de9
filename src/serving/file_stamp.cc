#include "serving/file_stamp.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

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
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error::NotFound(path + ": cannot be read: " + std::strerror(errno));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace berth::serving
