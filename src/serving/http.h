// HTTP requests and responses as the pages see them, independent of the connection.
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
  // The certificates that the client presented, as DER, its own first. Not verified yet.
  std::vector<std::string> client_certificates{};

  // The first header of that (lower case) name, or "".
  std::string_view Header(std::string_view name) const;
  bool HasQuery(std::string_view name) const;
  std::vector<std::string> QueryValues(std::string_view name) const;
};

// The body of a response that has no end of its own: sent piece by piece, for as long as the client reads. No thread is
// occupied between two pieces.
struct ResponseStream {
  // What to send next: "" if there is nothing new, unset at the end. Called on a worker, never concurrently, and not
  // before the client has received the previous piece and `pause` is over; so a slow client causes fewer calls.
  std::function<std::optional<std::string>()> next;
  base::Duration pause = std::chrono::milliseconds(100);
  // Sent if there was nothing else for this long, so that each side notices when the other is gone.
  std::string heartbeat{};
  base::Duration heartbeat_every = std::chrono::seconds(15);
  // After this the stream ends and the client has to request it again, which authorizes it anew.
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
