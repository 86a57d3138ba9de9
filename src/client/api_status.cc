#include "client/api_status.h"

#include <fmt/core.h>

#include <charconv>

#include "api/envelope.h"
#include "base/ascii.h"
#include "codec/json.h"
#include "codec/protobuf_wire.h"
#include "codec/value.h"

namespace berth::client {
namespace {

// Field numbers of metav1.Status, StatusDetails and StatusCause.
constexpr uint32_t kMessage = 3;
constexpr uint32_t kReason = 4;
constexpr uint32_t kDetails = 5;
constexpr uint32_t kCode = 6;
constexpr uint32_t kDetailsName = 1;
constexpr uint32_t kDetailsKind = 3;
constexpr uint32_t kCauses = 4;
constexpr uint32_t kRetryAfterSeconds = 5;
constexpr uint32_t kCauseReason = 1;
constexpr uint32_t kCauseMessage = 2;

// Servers before 1.19 say it only in the message.
constexpr std::string_view kTooLarge = "Too large resource version";

bool IsTooLarge(std::string_view reason, std::string_view message) {
  return reason == "ResourceVersionTooLarge" || message == kTooLarge;
}

void SetRetryAfter(ApiStatus& status, int seconds) {
  status.retry_after_seconds = seconds;
  status.has_retry_after = true;
}

void ReadCause(std::string_view bytes, ApiStatus& status) {
  std::string_view reason;
  std::string_view message;
  codec::WireReader cause(bytes);
  while (cause.Next()) {
    if (cause.number() == kCauseReason) reason = cause.bytes();
    if (cause.number() == kCauseMessage) message = cause.bytes();
  }
  if (IsTooLarge(reason, message)) status.resource_version_too_large = true;
}

Result<ApiStatus> DecodeProtobufStatus(std::string_view bytes) {
  const Result<api::Envelope> envelope = api::OpenEnvelope(bytes);
  if (!envelope) return envelope.error();
  if (envelope->kind != "Status") {
    return Error::InvalidArgument(fmt::format("expected a Status, found {} {}", envelope->api_version, envelope->kind));
  }
  ApiStatus status;
  codec::WireReader reader(envelope->raw);
  while (reader.Next()) {
    if (reader.number() == kMessage) status.message = reader.bytes();
    if (reader.number() == kReason) status.reason = reader.bytes();
    if (reader.number() == kCode) status.code = static_cast<int>(reader.integer());
    if (reader.number() != kDetails) continue;
    codec::WireReader details(reader.bytes());
    while (details.Next()) {
      if (details.number() == kDetailsName) status.object_name = details.bytes();
      if (details.number() == kDetailsKind) status.object_resource = details.bytes();
      if (details.number() == kCauses) ReadCause(details.bytes(), status);
      if (details.number() == kRetryAfterSeconds && details.integer() > 0) {
        SetRetryAfter(status, static_cast<int>(details.integer()));
      }
    }
  }
  if (!reader.ok()) return Error::InvalidArgument(fmt::format("Status: {}", reader.problem()));
  return status;
}

int NumberAt(const codec::Value& object, std::string_view key) {
  const std::string_view text = object.TextAt(key);
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Result<ApiStatus> DecodeJsonStatus(std::string_view bytes) {
  const Result<codec::Document> document = codec::ParseJson(std::string(bytes), "the server's answer");
  if (!document) return document.error();
  const codec::Value& root = document->root();
  if (root.TextAt("kind") != "Status") {
    return Error::InvalidArgument(fmt::format("expected a Status, found {}", root.Description()));
  }
  ApiStatus status;
  status.code = NumberAt(root, "code");
  status.reason = root.TextAt("reason");
  status.message = root.TextAt("message");
  const codec::Value* details = root.Find("details");
  if (details == nullptr) return status;
  status.object_name = details->TextAt("name");
  status.object_resource = details->TextAt("kind");
  if (const int seconds = NumberAt(*details, "retryAfterSeconds"); seconds > 0) SetRetryAfter(status, seconds);
  const codec::Value* causes = details->Find("causes");
  if (causes == nullptr) return status;
  for (const codec::Value& cause : causes->items()) {
    if (IsTooLarge(cause.TextAt("reason"), cause.TextAt("message"))) status.resource_version_too_large = true;
  }
  return status;
}

std::string DescribePage(std::string_view code) {
  return fmt::format("the answer is a web page{}, not one of an API server: is a proxy or a login page in between?",
                     code);
}

// What client-go makes of an answer that is not a Status.
void FillFromCode(std::string_view method, std::string_view body, ApiStatus& status) {
  switch (status.code) {
    case 400:
      status.reason = "BadRequest";
      status.message = "the server rejected our request for an unknown reason";
      break;
    case 401:
      status.reason = "Unauthorized";
      status.message = "the server has asked for the client to provide credentials";
      break;
    case 403:
      status.reason = "Forbidden";
      status.message = body;
      break;
    case 404:
      status.reason = "NotFound";
      status.message = "the server could not find the requested resource";
      break;
    case 409:
      status.reason = method == "POST" ? "AlreadyExists" : "Conflict";
      status.message = "the server reported a conflict";
      break;
    case 422:
      status.reason = "Invalid";
      status.message = "the server rejected our request due to an error in our request";
      break;
    case 429:
      status.reason = "TooManyRequests";
      status.message = "the server has received too many requests and has asked us to try again later";
      break;
    case 503:
      status.reason = "ServiceUnavailable";
      status.message = "the server is currently unable to handle the request";
      break;
    case 504:
      status.reason = "Timeout";
      status.message =
          "the server was unable to return a response in the time allotted, but may still be processing the request";
      break;
    default:
      if (status.code >= 500) {
        status.reason = "InternalError";
        status.message = fmt::format("an error on the server (\"{}\") has prevented the request from succeeding", body);
      } else {
        status.message = fmt::format("the server responded with the status code {} but did not return more information",
                                     status.code);
      }
  }
}

}  // namespace

bool IsWebPage(const http::ResponseHead& head, std::string_view body) {
  if (head.Find("content-type").starts_with("text/html")) return true;
  const size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const std::string start = base::LowerCase(body.substr(begin, 14));
  return start.starts_with("<html") || start.starts_with("<!doctype html");
}

bool ApiStatus::IsExpired() const { return code == 410 || reason == "Expired" || reason == "Gone"; }

bool ApiStatus::SaysGone(std::string_view resource, std::string_view name) const {
  if (code != 404 || reason != "NotFound") return false;
  if (!object_name.empty()) return object_name == name && object_resource == resource;
  // Without details it may still be in the message, in the words of every API server.
  return message.starts_with(resource) && message.ends_with(fmt::format(" \"{}\" not found", name));
}

Error ApiStatus::ToError() const {
  ErrorCode mapped = ErrorCode::kInternal;
  if (code == 400 || code == 401 || code == 403 || code == 422) mapped = ErrorCode::kInvalidArgument;
  if (code == 404) mapped = ErrorCode::kNotFound;
  if (code == 409) mapped = reason == "AlreadyExists" ? ErrorCode::kAlreadyExists : ErrorCode::kConflict;
  if (code == 410) mapped = ErrorCode::kConflict;
  const bool is_rejection = mapped == ErrorCode::kInvalidArgument || mapped == ErrorCode::kNotFound;
  if (IsOutage() || (is_rejection && !is_api_servers)) mapped = ErrorCode::kUnavailable;
  std::string text = message.empty() ? fmt::format("the server answered {} {}", code, reason) : message;
  if (SaysWhen()) text += fmt::format(" (try again in {} s)", retry_after_seconds);
  return {mapped, std::move(text)};
}

Result<ApiStatus> DecodeStatus(std::string_view bytes) {
  Result<ApiStatus> status = bytes.starts_with("k8s") ? DecodeProtobufStatus(bytes) : DecodeJsonStatus(bytes);
  if (status) status->is_api_servers = true;
  return status;
}

ApiStatus ReadStatus(std::string_view method, const http::ResponseHead& head, std::string_view body) {
  ApiStatus status;
  // A body that is longer than a Status can be is some proxy's page, and not worth repeating.
  constexpr size_t kShown = 512;
  Result<ApiStatus> decoded = DecodeStatus(body);
  if (decoded) status = std::move(*decoded);
  status.code = head.status;
  if (!decoded && IsWebPage(head, body)) {
    FillFromCode(method, "", status);
    status.message = DescribePage(fmt::format(" (HTTP status {})", head.status));
  } else if (!decoded) {
    FillFromCode(method, body.substr(0, kShown), status);
  }
  // The header takes precedence, as for every HTTP client; Kubernetes never sends a date there.
  const std::string_view header = head.Find("retry-after");
  int seconds = 0;
  const auto [end, problem] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (problem == std::errc() && end == header.data() + header.size() && seconds >= 0) SetRetryAfter(status, seconds);
  return status;
}

ApiStatus NoAnswer(const Error& error) {
  ApiStatus status;
  status.message = error.message;
  return status;
}

ApiStatus PageInstead() { return NoAnswer(Error::Unavailable(DescribePage(""))); }

}  // namespace berth::client
