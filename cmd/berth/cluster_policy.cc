#include "cluster_policy.h"

#include <fmt/format.h>

#include "client/api_status.h"
#include "codec/json.h"
#include "config/policy.h"

namespace berth::cmd {
namespace {

constexpr auto kReadTimeout = std::chrono::seconds(10);

}  // namespace

Result<std::string> ReadPolicyConfigMap(http::Transport& transport, const config::PolicySource& source) {
  const auto fail = [&](const Error& error) {
    return Error{error.code, fmt::format("couldn't get policy config map {}/{}: {}", source.config_map_namespace,
                                         source.config_map, error.message)};
  };
  const std::string path =
      fmt::format("/api/v1/namespaces/{}/configmaps/{}", source.config_map_namespace, source.config_map);
  Result<http::Response> response =
      transport.SendAndWait({.path = path, .headers = {{"accept", "application/json"}}, .timeout = kReadTimeout});
  if (!response) return fail(response.error());
  if (response->head.status != 200) {
    return fail(client::ReadStatus("GET", response->head, response->body).ToError());
  }
  if (client::IsWebPage(response->head, response->body)) {
    return fail(Error::InvalidArgument("the answer is a web page, not one of an API server"));
  }
  const Result<codec::Document> document = codec::ParseJson(response->body, path);
  if (!document) return fail(document.error());
  return config::PolicyTextOf(document->root());
}

}  // namespace berth::cmd
