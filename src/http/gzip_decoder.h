// GzipDecoder: decompresses a body as it arrives, in pieces of any size. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

typedef struct z_stream_s z_stream;

namespace berth::http {

class GzipDecoder {
 public:
  GzipDecoder();
  ~GzipDecoder();
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  // Passes on the decompressed bytes, at most 32 KB at a time. Unusable after an error.
  Result<void> Take(std::string_view bytes, const std::function<void(std::string_view)>& out);
  // Whether the bytes so far are a complete gzip body.
  bool is_whole() const { return at_end_; }

 private:
  const std::unique_ptr<z_stream> stream_;
  bool at_end_ = true;  // of a member; no input at all is an empty body
};

}  // namespace berth::http
