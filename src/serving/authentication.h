// Who sent a request: a front proxy says so, a client certificate, a bearer token, or nobody knows.
//
// The API server's pod proxy takes a client's credentials off what it passes on. Whoever comes that way shows a token
// in the header X-Berth-Token. Since that proxy does not check whom it talks to, such a token must be one for this
// program alone (audience berth-scheduler): worth nothing elsewhere. It counts below /debug/berth/ only.
//
// Tried in that order, as kube-scheduler's delegated authentication does. The first that knows the client wins. A
// credential that is wrong fails the request (401), unless another one is right; without any credential the client is
// system:anonymous. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/transport.h"
#include "serving/client_certificates.h"
#include "serving/http.h"
#include "serving/reviewer.h"
#include "serving/ttl_cache.h"

namespace berth::serving {

// Headers by which a front proxy names the user, trusted when its certificate is by the authority.
struct RequestHeaderOptions {
  std::string client_ca_file{};                                   // --requestheader-client-ca-file
  std::vector<std::string> username_headers = {"x-remote-user"};  // --requestheader-username-headers
  std::vector<std::string> uid_headers{};                         // --requestheader-uid-headers
  std::vector<std::string> group_headers = {"x-remote-group"};    // --requestheader-group-headers
  std::vector<std::string> extra_prefixes = {"x-remote-extra-"};  // --requestheader-extra-headers-prefix
  std::vector<std::string> allowed_names{};                       // --requestheader-allowed-names; empty: any

  friend bool operator==(const RequestHeaderOptions&, const RequestHeaderOptions&) = default;
};

struct AuthenticationOptions {
  std::string client_ca_file{};  // --client-ca-file
  RequestHeaderOptions request_header{};
  base::Duration token_cache_ttl = std::chrono::seconds(10);  // --authentication-token-webhook-cache-ttl
};

// What the flags left open, from kube-system/extension-apiserver-authentication.
struct ClusterAuthentication {
  std::string client_ca{};  // PEM; empty when the cluster has none
  std::string request_header_ca{};
  RequestHeaderOptions request_header{};

  friend bool operator==(const ClusterAuthentication&, const ClusterAuthentication&) = default;
};
Result<ClusterAuthentication> LookUpClusterAuthentication(http::Transport& transport);

inline constexpr std::string_view kProxiedTokenHeader = "x-berth-token";
inline constexpr std::string_view kProxiedTokenAudience = "berth-scheduler";
inline constexpr std::string_view kDebugPrefix = "/debug/berth/";

class Authenticator {
 public:
  // Without `reviewer` tokens are ignored, as upstream does without a kubeconfig. Certificates are valid by the wall
  // clock; how long an answer about a token holds is measured by the monotonic one. All three must outlive it.
  static Result<std::unique_ptr<Authenticator>> Create(const AuthenticationOptions& options, Reviewer* reviewer,
                                                       const base::Clock& clock, const base::Clock& monotonic);

  // Fills in what the flags left open; may be called again whenever the cluster's answer changes.
  Result<void> Use(const ClusterAuthentication& cluster);

  // An error is a 401. TryAuthenticate asks nobody: it has no answer when a token must be reviewed.
  std::optional<Result<User>> TryAuthenticate(const HttpRequest& request);
  Result<User> Authenticate(const HttpRequest& request);

 private:
  struct Trust {
    std::shared_ptr<CertificateAuthority> client_ca;
    std::shared_ptr<CertificateAuthority> request_header_ca;
    RequestHeaderOptions request_header;
  };

  Authenticator(const AuthenticationOptions& options, Reviewer* reviewer, const base::Clock& clock,
                const base::Clock& monotonic);
  std::shared_ptr<const Trust> trust();
  std::optional<Result<User>> ByRequestHeader(const Trust& trust, const HttpRequest& request);
  std::optional<Result<User>> ByCertificate(const Trust& trust, const HttpRequest& request);
  std::string TokenKey(const std::string& token) const;
  struct Token {
    std::string text;  // "" when there is none
    std::string audience;
  };
  Token TokenOf(const HttpRequest& request) const;
  // Whose token it is: as known, or else as the API server says. No answer when it would have to be asked and must not.
  std::optional<Result<std::optional<User>>> UserOfToken(const Token& token, bool may_review);
  std::optional<Result<User>> Decide(const HttpRequest& request, bool may_review);

  const AuthenticationOptions options_;
  Reviewer* const reviewer_;
  const base::Clock& clock_;
  const std::string token_hash_key_;  // random: tokens are kept only as keyed hashes
  TtlCache<std::optional<User>> tokens_;
  std::mutex mutex_;
  std::shared_ptr<const Trust> trust_;  // guarded by mutex_
};

}  // namespace berth::serving
