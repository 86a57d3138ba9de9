// Why the API server did not do what was requested: metav1.Status, from JSON or protobuf, or derived from the HTTP
// status alone if a proxy has answered.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/transport.h"

namespace berth::client {

// The longest Retry-After that a caller waits for. API servers ask for half a minute at most. A longer one comes from a
// proxy, during maintenance for instance, and may be over at any time.
inline constexpr int kLongestRetryAfterSeconds = 60;

struct ApiStatus {
  int code = 0;                 // the HTTP status; 0: there was no answer
  bool is_api_servers = false;  // it is a metav1.Status; otherwise a proxy has answered
  std::string reason;
  std::string message;
  int retry_after_seconds = 0;
  bool has_retry_after = false;
  std::string object_resource{};  // "pods": of the object that a Status is about, as its name; "" if it does not say
  std::string object_name{};
  bool resource_version_too_large = false;  // we have seen a later version than this server has

  // The resourceVersion or continue token is too old.
  bool IsExpired() const;
  // The API server itself says that this object does not exist. Any other 404 may come from a load balancer, or be
  // about something else, and says nothing about the object.
  bool SaysGone(std::string_view resource, std::string_view name) const;
  // The request was not processed (unknown if there was no answer); it may succeed later.
  bool IsOutage() const { return code == 0 || code == 429 || code >= 500; }
  // The server asks to be called again later, and says when.
  bool SaysWhen() const { return has_retry_after && (code == 429 || code >= 500); }
  // The API server did not even begin with the request. Others may ask to wait and have passed it on: a gateway, or an
  // API server whose storage did not answer in time (500 with Retry-After).
  bool IsTurnedAway() const { return is_api_servers && SaysWhen() && (code == 429 || code == 503); }
  // As SaysWhen, if that is soon enough to wait for.
  bool AsksToWait() const { return SaysWhen() && retry_after_seconds <= kLongestRetryAfterSeconds; }

  // The codes: 400, 401, 403, 422 kInvalidArgument (retrying will not help); 404 kNotFound; 409 kAlreadyExists or
  // kConflict by its reason; 410 kConflict; 429, 5xx kUnavailable, with the seconds to wait. A rejection by a proxy is
  // kUnavailable, since the request has not reached the API server. The message is the server's. A caller that has to
  // distinguish more uses `code` and IsExpired().
  Error ToError() const;
};

// The HTTP status decides whether it was a success.
inline bool IsSuccess(int code) { return code >= 200 && code < 300; }

// Whether the answer is HTML: from a proxy, a load balancer or a login page in front of the server, or in its place.
bool IsWebPage(const http::ResponseHead& head, std::string_view body);

// From the answer to a request made with `method`.
ApiStatus ReadStatus(std::string_view method, const http::ResponseHead& head, std::string_view body);

// From a Status object alone, as in watches; protobuf in its envelope, or JSON.
Result<ApiStatus> DecodeStatus(std::string_view bytes);

// For a call that had no answer.
ApiStatus NoAnswer(const Error& error);
// The same for a call that a login page has answered with a success code: it is unknown whether the call took effect.
ApiStatus PageInstead();

}  // namespace berth::client
