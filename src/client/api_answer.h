// The outcome of a request to the API server.
#pragma once

#include "api/envelope.h"
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
  // No answer, or one of a server or gateway that has given up waiting: what was asked may happen later. (Code 0 and
  // kConflict: the write window was closed, so it was not sent.)
  bool MayStillTakeEffect() const {
    return status.code == 0 ? error != ErrorCode::kConflict : status.code >= 500 && !status.IsTurnedAway();
  }
  Error ToError() const;
};

// Decodes one object from the body of an answer, by its own apiVersion and kind.
Result<api::Object> DecodeOne(const http::Response& response);

using api::kProtobufType;
inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kStrategicMergeType = "application/strategic-merge-patch+json";

}  // namespace berth::client
