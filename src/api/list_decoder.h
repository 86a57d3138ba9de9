// ListDecoder: a list in Kubernetes' protobuf envelope, decoded while its bytes arrive. A list of every pod of a large
// cluster is hundreds of megabytes: this keeps no more of it than one unfinished object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/object.h"
#include "base/result.h"

namespace berth::api {

// Not thread-safe.
class ListDecoder {
 public:
  // `item`: what the list must be a list of.
  explicit ListDecoder(Kind item);

  // Appends the objects that are complete with these bytes, and the list's resourceVersion and continue token once they
  // are known, to `out`. After an error the rest cannot be decoded.
  Result<void> Append(std::string_view bytes, DecodedObjects& out);
  // An error unless the list has ended where the bytes have.
  Result<void> Finish() const;

 private:
  // Each consumes one field, or returns false when its bytes are not all there yet.
  Result<bool> TakePrefix();
  Result<bool> TakeEnvelopeField();
  Result<bool> TakeListField(DecodedObjects& out);

  std::string_view left() const { return std::string_view(buffer_).substr(begin_); }

  const KindInfo& item_;
  std::string buffer_;
  size_t begin_ = 0;  // of what has not been decoded
  bool has_prefix_ = false;
  std::string api_version_;
  bool has_type_ = false;
  bool has_list_ = false;
  uint64_t list_left_ = 0;  // bytes of the list itself that have not been decoded
};

}  // namespace berth::api
