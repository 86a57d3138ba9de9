#include "codec/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

#include "base/check.h"
#include "base/file.h"

namespace berth::codec {
namespace {

constexpr size_t kChunk = size_t{256} << 10;

Error TooLarge(size_t size_limit) {
  return Error::InvalidArgument(fmt::format("larger than the limit of {} bytes", size_limit));
}

}  // namespace

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Result<std::string> Gunzip(std::string_view bytes, size_t size_limit) {
  z_stream stream{};
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return Error::Internal("zlib does not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ending(&stream, &inflateEnd);

  std::string out;
  std::string chunk(kChunk, '\0');
  auto rest = bytes;
  while (true) {
    // zlib counts in 32 bits, so large input is handed over in parts.
    const size_t part = std::min<size_t>(rest.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    stream.avail_in = static_cast<uInt>(part);
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    rest.remove_prefix(part - stream.avail_in);
    out.append(chunk, 0, chunk.size() - stream.avail_out);
    if (out.size() > size_limit) return TooLarge(size_limit);
    if (code == Z_STREAM_END) {
      if (rest.empty()) return out;
      if (!IsGzip(rest)) return Error::InvalidArgument("unexpected data after the gzip content");
      inflateReset(&stream);
    } else if (code == Z_BUF_ERROR || (code == Z_OK && rest.empty() && stream.avail_out != 0)) {
      return Error::InvalidArgument("gzip content ends too early");
    } else if (code != Z_OK) {
      return Error::InvalidArgument(fmt::format("malformed gzip content: {}", stream.msg ? stream.msg : zError(code)));
    }
  }
}

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  constexpr int kUsualMemory = 8;
  CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipOnly, kUsualMemory, Z_DEFAULT_STRATEGY) == Z_OK);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ending(&stream, &deflateEnd);

  std::string out;
  std::string chunk(kChunk, '\0');
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    // zlib counts in 32 bits, so large input is handed over in parts.
    const size_t part = std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(part);
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    code = deflate(&stream, part == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    CHECK(code == Z_OK || code == Z_STREAM_END);
    bytes.remove_prefix(part - stream.avail_in);
    out.append(chunk, 0, chunk.size() - stream.avail_out);
  }
  return out;
}

Result<std::string> ReadFile(const std::string& path, size_t size_limit) {
  const std::string name = path == "-" ? "standard input" : path;
  auto named = [&](const Error& error) { return Error{error.code, fmt::format("{}: {}", name, error.message)}; };
  Result<std::string> content = path == "-" ? base::ReadStream(stdin, size_limit) : base::ReadFile(path, size_limit);
  if (!content) return named(content.error());
  if (!IsGzip(*content)) return content;
  Result<std::string> unpacked = Gunzip(*content, size_limit);
  if (!unpacked) return named(unpacked.error());
  return unpacked;
}

}  // namespace berth::codec
