#include "base/file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

namespace berth::base {

Result<std::string> ReadStream(std::FILE* stream, size_t size_limit) {
  constexpr size_t kChunk = size_t{256} << 10;
  std::string content;
  while (true) {
    const size_t before = content.size();
    // One byte more than allowed is enough to know that there is more.
    const size_t wanted = std::min(kChunk, size_limit - before + (size_limit < SIZE_MAX ? 1 : 0));
    content.resize(before + wanted);
    const size_t count = std::fread(content.data() + before, 1, wanted, stream);
    content.resize(before + count);
    if (content.size() > size_limit) {
      return Error::InvalidArgument(fmt::format("larger than the limit of {} bytes", size_limit));
    }
    if (count < wanted && std::ferror(stream)) return Error::Unavailable(std::generic_category().message(errno));
    if (count < wanted) return content;
  }
}

Result<std::string> ReadFile(const std::string& path, size_t size_limit) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return Error{code, std::generic_category().message(errno)};
  }
  struct stat status;
  if (fstat(fileno(file.get()), &status) == 0 && S_ISDIR(status.st_mode)) {
    return Error::InvalidArgument("expected a file, found a directory");
  }
  return ReadStream(file.get(), size_limit);
}

Result<void> WriteFile(const std::string& path, std::string_view content) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Error::Unavailable(std::generic_category().message(errno));
  errno = 0;
  bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size() && std::fflush(file) == 0;
  int why = errno;
  if (std::fclose(file) != 0) {
    if (written) why = errno;
    written = false;
  }
  if (written) return {};
  return Error::Unavailable(std::generic_category().message(why));
}

}  // namespace berth::base
