// HTTP requests and responses as the pages see them, whatever brings them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::serving {

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  // as sent, with its query
  std::string path = "/";    // decoded, without the query
  std::vector<std::pair<std::string, std::string>> query{};
  std::vector<std::pair<std::string, std::string>> headers{};  // names in lower case
  std::string body{};
  // What the client showed when it connected, as DER, its own certificate first. Nobody has verified it yet.
  std::vector<std::string> client_certificates{};

  // The first header of that (lower case) name, or "".
  std::string_view Header(std::string_view name) const;
  bool HasQuery(std::string_view name) const;
  std::vector<std::string> QueryValues(std::string_view name) const;
};

// What follows a response that has no end of its own: piece by piece, for as long as the client reads. Between two
// pieces no thread is kept.
struct ResponseStream {
  // What to send next: "" when there is nothing new, unset at the end. On a worker, never twice at a time, and not
  // before the client has taken the piece before and `pause` is over. A client that reads slowly is asked for less
  // often.
  std::function<std::optional<std::string>()> next;
  base::Duration pause = std::chrono::milliseconds(100);
  // Sent when there was nothing else for so long, so that both sides notice when the other one is gone.
  std::string heartbeat{};
  base::Duration heartbeat_every = std::chrono::seconds(15);
  // Then it ends and the client has to ask again: whether it may is looked at when it asks.
  base::Duration lifetime = std::chrono::minutes(5);
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::shared_ptr<ResponseStream> stream{};  // instead of a body
};

// An error as Go's http.Error writes it: one line of text.
HttpResponse TextError(int status, std::string_view message);

// Splits and decodes a request's target into path and query.
Result<void> ParseTarget(std::string_view target, HttpRequest& request);

}  // namespace berth::serving
