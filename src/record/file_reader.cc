#include "record/file_reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "record/checksum.h"

namespace berth::record {

Result<std::unique_ptr<FileReader>> FileReader::Open(const std::string& path) {
  auto stream = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*stream) return Error::NotFound(fmt::format("{}: {}", path, std::strerror(errno)));
  std::unique_ptr<FileReader> reader(new FileReader(path, std::move(stream)));
  if (Result<void> read = reader->ReadHeader(); !read) return read.error();
  return reader;
}

Result<std::unique_ptr<FileReader>> FileReader::Read(std::string name, std::string bytes) {
  std::unique_ptr<FileReader> reader(
      new FileReader(std::move(name), std::make_unique<std::istringstream>(std::move(bytes))));
  if (Result<void> read = reader->ReadHeader(); !read) return read.error();
  return reader;
}

std::string FileReader::ReadSome(size_t size) {
  std::string bytes(size, '\0');
  stream_->read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<size_t>(stream_->gcount()));
  return bytes;
}

Result<void> FileReader::ReadHeader() {
  const std::string preamble = ReadSome(kPreambleSize);
  if (preamble.size() < kPreambleSize && Preamble().starts_with(preamble)) {
    return Error::Unavailable(fmt::format("{}: the recording ends before its first block", name_));
  }
  if (const std::string problem = CheckPreamble(preamble); !problem.empty()) {
    return Error::Unsupported(fmt::format("{}: {}", name_, problem));
  }
  position_ = kPreambleSize;
  format_ = FormatOf(preamble);
  BlockType type{};
  std::string content;
  if (!NextBlock(type, content)) {
    if (torn_ || problem_.empty()) {
      return Error::Unavailable(fmt::format("{}: the recording ends before its first block", name_));
    }
    return Error::InvalidArgument(problem_);
  }
  if (type != BlockType::kHeader) return Error::InvalidArgument(fmt::format("{}: there is no header", name_));
  Result<Header> header = Header::Decode(content);
  if (!header) return Error::InvalidArgument(fmt::format("{}: {}", name_, header.error().message));
  header_ = *std::move(header);
  return {};
}

bool FileReader::NextBlock(BlockType& type, std::string& content) {
  if (torn_ || !problem_.empty()) return false;
  const size_t head_size = format_ == 1 ? kBlockHeadSizeOfFormat1 : kBlockHeadSize;
  const std::string head = ReadSome(head_size);
  if (head.empty()) return false;
  if (head.size() < head_size) {
    torn_ = true;
    return false;
  }
  const std::string_view checked = std::string_view(head).substr(0, kBlockHeadSizeOfFormat1);
  if (format_ > 1 && Crc32c(checked) != ReadLittleEndian(std::string_view(head).substr(checked.size()))) {
    problem_ = fmt::format("{}: damaged at byte {}: the checksum of a block's head is another", name_, position_);
    return false;
  }
  const size_t length = ReadLittleEndian(head);
  if (length > kMaxBlockContent) {
    problem_ = fmt::format("{}: damaged at byte {}: a block claims to have {} bytes", name_, position_, length);
    return false;
  }
  content = ReadSome(length);
  if (content.size() < length) {
    torn_ = true;
    return false;
  }
  if (Crc32c(content, Crc32c(checked.substr(8))) != ReadLittleEndian(std::string_view(head).substr(4))) {
    problem_ = fmt::format("{}: damaged at byte {}: the checksum of a block is another", name_, position_);
    return false;
  }
  position_ += head_size + length;
  type = static_cast<BlockType>(head[8]);
  return true;
}

bool FileReader::Next(Frame& frame) {
  while (rest_.empty()) {
    BlockType type{};
    std::string content;
    if (!NextBlock(type, content)) return false;
    if (type != BlockType::kFrames && type != BlockType::kZlibFrames) {
      problem_ = fmt::format("{}: a block before byte {} is of type {}, which this berth does not know", name_,
                             position_, static_cast<int>(type));
      return false;
    }
    Result<std::string> frames = FramesIn(type, content);
    if (!frames) {
      problem_ = fmt::format("{}: damaged before byte {}: {}", name_, position_, frames.error().message);
      return false;
    }
    block_ = *std::move(frames);
    rest_ = block_;
  }
  if (TakeFrame(rest_, frame.type, frame.payload)) return true;
  problem_ = fmt::format("{}: damaged before byte {}: a frame goes beyond its block", name_, position_);
  rest_ = {};
  return false;
}

Result<std::vector<Recording>> FindRecordings(const std::string& folder) {
  std::map<uint64_t, std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const uint64_t number = FileNumber(entry.path().filename().string());
    if (number != 0) files[number] = entry.path().string();
  }
  if (error) return Error::NotFound(fmt::format("{}: {}", folder, error.message()));
  std::vector<Recording> found;
  std::optional<Error> torn;  // the file before was nothing but a torn header
  for (const auto& [number, path] : files) {
    Result<std::unique_ptr<FileReader>> reader = FileReader::Open(path);
    if (!reader && reader.error().code == ErrorCode::kUnavailable) {
      torn = reader.error();
      continue;
    }
    if (!reader) return reader.error();
    const Header& header = (*reader)->header();
    // A program that is killed leaves such a file as its last one.
    if (torn && header.part > 0) return Error::InvalidArgument(torn->message + ", and another file follows");
    torn.reset();
    const bool goes_on = !found.empty() && found.back().header.recording == header.recording &&
                         found.back().header.part + found.back().files.size() == header.part;
    if (!goes_on) found.push_back({header, {}, {}});
    found.back().files.push_back(path);
    found.back().begins.push_back(header.begins);
  }
  if (found.empty()) return Error::NotFound(fmt::format("{}: there is no recording in this folder", folder));
  return found;
}

}  // namespace berth::record
