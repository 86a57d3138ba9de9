// What the API server says when it does not do what it was asked: metav1.Status, from JSON or protobuf, or derived from
// the bare HTTP status if a proxy has answered.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/transport.h"

namespace berth::client {

// The longest Retry-After that anybody waits for. An API server asks for half a minute at most. What asks for longer is
// some proxy, for its maintenance say, and may be gone any time.
inline constexpr int kLongestRetryAfterSeconds = 60;

struct ApiStatus {
  int code = 0;                 // the HTTP status; 0: there was no answer
  bool is_api_servers = false;  // it came as a Status. Otherwise, the answer is some proxy's
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
  // Nobody has decided about the request: the same one may succeed later.
  bool IsOutage() const { return code == 0 || code == 429 || code >= 500; }
  // The server asks to be called again later, and says when.
  bool SaysWhen() const { return has_retry_after && (code == 429 || code >= 500); }
  // And soon enough to wait for it.
  bool AsksToWait() const { return SaysWhen() && retry_after_seconds <= kLongestRetryAfterSeconds; }

  // The codes: 400, 401, 403, 422 kInvalidArgument (it will stay wrong); 404 kNotFound; 409 kAlreadyExists or kConflict
  // by its reason; 410 kConflict; 429, 5xx kUnavailable, with the seconds to wait. What a proxy rejects, the API server
  // has not heard of: kUnavailable. The message is the server's. A caller that has to distinguish more looks at `code`
  // and IsExpired().
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
// The same for a call that a login page has answered with a code for success: nobody knows whether it took effect.
ApiStatus PageInstead();

}  // namespace berth::client
