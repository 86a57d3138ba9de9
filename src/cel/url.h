// URLs as in CEL's kubernetes.URL: Go's net/url, with its messages.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cel/arena.h"

namespace berth::cel {

// All texts are stored in the arena given to the parser.
struct Url {
  std::string_view scheme;
  std::string_view opaque;
  std::string_view user;  // as printed, escaped
  bool has_user = false;
  std::string_view host;  // with the port
  std::string_view path;  // decoded
  std::string_view raw_path;
  std::string_view raw_query;
  std::string_view fragment;  // as printed, escaped
  bool force_query = false;
  bool omit_host = false;

  std::string Hostname() const;
  std::string Port() const;
  std::string EscapedPath() const;
  std::string ToString() const;
  // Decoded, in the order of the query; pairs that cannot be decoded are left out.
  std::vector<std::pair<std::string, std::string>> Query() const;
};

// An absolute URI or an absolute path, as in a request.
Result<void> CheckRequestUri(std::string_view text);
// url(): must be a request URI; a fragment is removed.
Result<const Url*> ParseUrl(std::string_view text, Arena& arena);

}  // namespace berth::cel
