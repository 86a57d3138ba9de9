#include "serving/http.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace berth::serving {
namespace {

std::optional<std::string> Unescape(std::string_view text, bool plus_is_space) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      unsigned value = 0;
      const char* digits = text.data() + i + 1;
      if (text.size() - i < 3 || std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2) return std::nullopt;
      out += static_cast<char>(value);
      i += 2;
    }
  }
  return out;
}

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  const auto found =
      std::ranges::find(headers, name, [](const auto& header) { return std::string_view(header.first); });
  return found == headers.end() ? std::string_view() : found->second;
}

bool HttpRequest::HasQuery(std::string_view name) const {
  return std::ranges::any_of(query, [&](const auto& item) { return item.first == name; });
}

std::vector<std::string> HttpRequest::QueryValues(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : query) {
    if (key == name) values.push_back(value);
  }
  return values;
}

HttpResponse TextError(int status, std::string_view message) {
  HttpResponse response{.status = status, .body = std::string(message) + "\n"};
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return response;
}

Result<void> ParseTarget(std::string_view target, HttpRequest& request) {
  request.target = std::string(target);
  if (!target.starts_with('/')) return Error::InvalidArgument("expected a path in the request, found another target");
  target = target.substr(0, target.find('#'));
  const size_t question = std::min(target.find('?'), target.size());
  const std::optional<std::string> path = Unescape(target.substr(0, question), /*plus_is_space=*/false);
  if (!path) return Error::InvalidArgument("the path has a % without two hexadecimal digits");
  request.path = *path;

  std::string_view query = target.substr(std::min(question + 1, target.size()));
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view item = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (item.empty()) continue;
    const size_t equals = std::min(item.find('='), item.size());
    // A parameter that cannot be decoded is dropped, as in Go.
    const auto name = Unescape(item.substr(0, equals), /*plus_is_space=*/true);
    const auto value = Unescape(item.substr(std::min(equals + 1, item.size())), /*plus_is_space=*/true);
    if (name && value) request.query.emplace_back(*name, *value);
  }
  return {};
}

}  // namespace berth::serving
