// HTTP requests and responses as the pages see them, whatever brings them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

// An error as Go's http.Error writes it: one line of text.
HttpResponse TextError(int status, std::string_view message);

// Splits and decodes a request's target into path and query.
Result<void> ParseTarget(std::string_view target, HttpRequest& request);

}  // namespace berth::serving
