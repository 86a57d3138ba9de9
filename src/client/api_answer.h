// The outcome of a request to the API server.
#pragma once

#include "api/object.h"
#include "base/result.h"
#include "client/api_status.h"
#include "http/transport.h"

namespace berth::client {

struct ApiAnswer {
  ApiStatus status{};  // code 0: no answer, see `error`
  http::Response response{};
  ErrorCode error = ErrorCode::kUnavailable;  // of a call without answer

  bool ok() const { return IsSuccess(status.code); }
  Error ToError() const;
};

// Decodes one object from the body of an answer, by its own apiVersion and kind.
Result<api::Object> DecodeOne(const http::Response& response);

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kStrategicMergeType = "application/strategic-merge-patch+json";

}  // namespace berth::client
