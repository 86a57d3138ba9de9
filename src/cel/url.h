// URLs as kubernetes.URL of CEL has them: Go's net/url, with its messages.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cel/arena.h"

namespace berth::cel {

// Every text lives in the arena of the parser's caller.
struct Url {
  std::string_view scheme;
  std::string_view opaque;
  std::string_view user;  // as it prints, escaped
  bool has_user = false;
  std::string_view host;  // with the port
  std::string_view path;  // decoded
  std::string_view raw_path;
  std::string_view raw_query;
  std::string_view fragment;  // as it prints, escaped
  bool force_query = false;
  bool omit_host = false;

  std::string Hostname() const;
  std::string Port() const;
  std::string EscapedPath() const;
  std::string ToString() const;
  // Decoded, in the order of the query; pairs that cannot be decoded are left out.
  std::vector<std::pair<std::string, std::string>> Query() const;
};

// An absolute URI or an absolute path, as a request has it.
Result<void> CheckRequestUri(std::string_view text);
// url(): must be a request URI; a fragment is taken off.
Result<const Url*> ParseUrl(std::string_view text, Arena& arena);

}  // namespace berth::cel
