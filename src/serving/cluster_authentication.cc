#include "serving/cluster_authentication.h"

#include <utility>

#include "base/log.h"
#include "codec/json.h"

namespace berth::serving {
namespace {

constexpr char kPath[] = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
constexpr auto kReadTimeout = std::chrono::seconds(10);

// A list of strings, as JSON within the ConfigMap's text. A missing one is empty.
Result<std::vector<std::string>> StringList(const codec::Value& data, std::string_view key) {
  std::vector<std::string> list;
  const codec::Value* text = data.Find(key);
  if (!text || text->text().empty()) return list;
  Result<codec::Document> parsed = codec::ParseJson(std::string(text->text()), std::string(key));
  if (!parsed) return parsed.error();
  if (!parsed->root().is_array()) {
    return Error::InvalidArgument(std::string(key) + ": expected a list, found " + parsed->root().Description());
  }
  for (const codec::Value& item : parsed->root().items()) list.emplace_back(item.text());
  return list;
}

}  // namespace

Result<ClusterAuthentication> LookUpClusterAuthentication(http::Transport& transport) {
  Result<http::Response> response =
      transport.SendAndWait({.path = kPath, .headers = {{"accept", "application/json"}}, .timeout = kReadTimeout});
  if (!response) return response.error();
  if (response->head.status != 200) {
    return Error::Unavailable(std::string("GET ") + kPath + ": expected status 200, found " +
                              std::to_string(response->head.status));
  }
  Result<codec::Document> document = codec::ParseJson(std::move(response->body), kPath);
  if (!document) return document.error();
  ClusterAuthentication found;
  const codec::Value* data = document->root().Find("data");
  if (!data) return found;
  if (const codec::Value* pem = data->Find("client-ca-file")) found.client_ca = std::string(pem->text());
  if (const codec::Value* pem = data->Find("requestheader-client-ca-file")) {
    found.request_header_ca = std::string(pem->text());
  }
  const std::pair<const char*, std::vector<std::string>*> lists[] = {
      {"requestheader-username-headers", &found.request_header.username_headers},
      {"requestheader-uid-headers", &found.request_header.uid_headers},
      {"requestheader-group-headers", &found.request_header.group_headers},
      {"requestheader-extra-headers-prefix", &found.request_header.extra_prefixes},
      {"requestheader-allowed-names", &found.request_header.allowed_names},
  };
  for (const auto& [key, into] : lists) {
    Result<std::vector<std::string>> list = StringList(*data, key);
    if (!list) return list.error();
    *into = std::move(*list);
  }
  return found;
}

ClusterAuthenticationFollower::~ClusterAuthenticationFollower() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> ClusterAuthenticationFollower::Refresh() {
  Result<ClusterAuthentication> found = LookUpClusterAuthentication(transport_);
  if (!found) return found.error();
  if (used_ == *found) return {};
  if (Result<void> used = authenticator_.Use(*found); !used) return used;
  if (used_) LOG_INFO(0, "The cluster's authorities for client certificates have changed; using the new ones");
  used_ = *std::move(found);
  return {};
}

void ClusterAuthenticationFollower::Follow(base::Duration every) {
  thread_ = std::thread([this, every] {
    std::unique_lock lock(mutex_);
    while (!stop_.wait_for(lock, every, [this] { return stopping_; })) {
      lock.unlock();
      if (const Result<void> refreshed = Refresh(); !refreshed) {
        LOG_ERROR("Cannot look up the cluster's authentication configuration; what was read before stays in use",
                  {"err", refreshed.error()});
      }
      lock.lock();
    }
  });
}

}  // namespace berth::serving
