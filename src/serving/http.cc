#include "serving/http.h"

#include <algorithm>
#include <optional>

#include "base/percent.h"

namespace berth::serving {
namespace {

// In a query a plus stands for a space.
std::optional<std::string> DecodeQuery(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return base::DecodePercent(spaced);
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
  const std::optional<std::string> path = base::DecodePercent(target.substr(0, question));
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
    const auto name = DecodeQuery(item.substr(0, equals));
    const auto value = DecodeQuery(item.substr(std::min(equals + 1, item.size())));
    if (name && value) request.query.emplace_back(*name, *value);
  }
  return {};
}

}  // namespace berth::serving
