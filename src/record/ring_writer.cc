#include "record/ring_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace berth::record {

namespace {

std::string Reason() { return std::strerror(errno); }

class RealFile final : public FileSink {
 public:
  RealFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  ~RealFile() override { ::close(descriptor_); }

  Result<void> Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Error::Unavailable(fmt::format("{}: {}", path_, Reason()));
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return {};
  }

 private:
  const std::string path_;
  const int descriptor_;
};

Result<std::unique_ptr<FileSink>> OpenRealFile(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return Error::Unavailable(fmt::format("{}: {}", path, Reason()));
  return std::unique_ptr<FileSink>(std::make_unique<RealFile>(path, descriptor));
}

// Small enough that a ring has several files.
uint64_t FileSize(const RingWriter::Options& options) {
  return options.file_size > 0 ? options.file_size : std::max<uint64_t>(options.size / 8, 1);
}

}  // namespace

RingWriter::RingWriter(Options options) : options_(std::move(options)), file_size_(FileSize(options_)) {}

RingWriter::~RingWriter() {
  (void)Flush();
  if (lock_ >= 0) ::close(lock_);
}

Result<std::unique_ptr<RingWriter>> RingWriter::Open(Options options) {
  if (!options.open) options.open = OpenRealFile;
  std::unique_ptr<RingWriter> writer(new RingWriter(std::move(options)));
  const std::string& folder = writer->options_.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error::Unavailable(fmt::format("{}: {}", folder, error.message()));
  const std::string lock = folder + "/lock";
  writer->lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (writer->lock_ < 0) return Error::Unavailable(fmt::format("{}: {}", lock, Reason()));
  if (::flock(writer->lock_, LOCK_EX | LOCK_NB) != 0) {
    return Error::Unavailable(fmt::format("{}: another program records into this folder", folder));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const uint64_t number = FileNumber(entry.path().filename().string());
    if (number == 0) continue;
    writer->files_[number] = entry.file_size(error);
    writer->next_number_ = std::max(writer->next_number_, number + 1);
  }
  if (error) return Error::Unavailable(fmt::format("{}: {}", folder, error.message()));
  return writer;
}

Result<void> RingWriter::Begin(const Header& header) {
  if (Result<void> flushed = Flush(); !flushed) return flushed;
  const uint64_t number = next_number_++;
  Result<std::unique_ptr<FileSink>> opened = options_.open(options_.folder + "/" + FileName(number));
  if (!opened) {
    failed_ = opened.error();
    return *failed_;
  }
  file_ = *std::move(opened);
  file_bytes_ = settled_bytes_ = 0;
  files_[number] = 0;
  return WriteOut(Preamble() + MakeBlock(BlockType::kHeader, header.Encode()));
}

Result<void> RingWriter::Settle() {
  if (Result<void> flushed = Flush(); !flushed) return flushed;
  settled_bytes_ = file_bytes_;
  RemoveOldest();
  return {};
}

Result<void> RingWriter::AppendFrames(std::string_view frames) {
  if (failed_) return *failed_;
  frames_ += frames;
  return FlushWhenFull();
}

Result<void> RingWriter::Flush() {
  if (failed_) return *failed_;
  if (frames_.empty()) return {};
  const std::string_view block = MakeBlockOfFrames(frames_, block_);
  frames_.clear();
  return WriteOut(block);
}

Result<void> RingWriter::WriteOut(std::string_view bytes) {
  if (failed_) return *failed_;
  if (Result<void> written = file_->Write(bytes); !written) {
    failed_ = written.error();
    file_.reset();
    frames_.clear();
    return written;
  }
  file_bytes_ += bytes.size();
  bytes_written_ += bytes.size();
  files_.rbegin()->second = file_bytes_;
  return {};
}

void RingWriter::RemoveOldest() {
  uint64_t total = 0;
  for (const auto& [number, size] : files_) total += size;
  while (total > options_.size && files_.size() > 1) {
    const auto oldest = files_.begin();
    std::error_code ignored;  // it counts as gone: a file that cannot be removed must not stop the recording
    std::filesystem::remove(options_.folder + "/" + FileName(oldest->first), ignored);
    total -= oldest->second;
    files_.erase(oldest);
  }
}

}  // namespace berth::record
