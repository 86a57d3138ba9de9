#include "http/gzip_decoder.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>

namespace berth::http {
namespace {

// The largest window, with gzip's header rather than zlib's.
constexpr int kWindow = 15 + 16;

}  // namespace

GzipDecoder::GzipDecoder() : stream_(std::make_unique<z_stream>()) {
  *stream_ = {};
  CHECK(inflateInit2(stream_.get(), kWindow) == Z_OK);
}

GzipDecoder::~GzipDecoder() { inflateEnd(stream_.get()); }

Result<void> GzipDecoder::Take(std::string_view bytes, const std::function<void(std::string_view)>& out) {
  std::array<char, size_t{32} << 10> piece;
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_->avail_in = static_cast<uInt>(bytes.size());
  // A full piece may not have been all of the output.
  for (bool was_full = false; stream_->avail_in > 0 || was_full;) {
    // Concatenated members are decoded as one body.
    if (at_end_ && stream_->avail_in > 0) inflateReset(stream_.get());
    if (at_end_ && stream_->avail_in == 0) break;
    at_end_ = false;
    stream_->next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_->avail_out = piece.size();
    const int result = inflate(stream_.get(), Z_NO_FLUSH);
    const size_t size = piece.size() - stream_->avail_out;
    if (size > 0) out({piece.data(), size});
    was_full = stream_->avail_out == 0;
    at_end_ = result == Z_STREAM_END;
    if (result == Z_BUF_ERROR) break;
    if (result != Z_OK && result != Z_STREAM_END) {
      const char* why = stream_->msg != nullptr ? stream_->msg : zError(result);
      return Error::Unavailable(fmt::format("the compressed answer cannot be read: {}", why));
    }
  }
  return {};
}

}  // namespace berth::http
