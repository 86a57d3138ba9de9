// Authenticates a request: by a front proxy's headers, a client certificate or a bearer token, or as anonymous.
//
// The API server's pod proxy removes the client's credentials from the requests it forwards. A client that comes that
// way sends a token in the header X-Berth-Token. Since that proxy does not verify whom it talks to, the token must be
// for this program alone (audience berth-scheduler), so that it is worthless elsewhere. It is accepted below
// /debug/berth/ only.
//
// Tried in that order, as in kube-scheduler's delegated authentication. The first that identifies the client wins. A
// wrong credential fails the request (401), unless another one is right; without any credential the client is
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

// Headers in which a front proxy names the user, trusted if its certificate is signed by the authority.
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

// What the flags left unset, from kube-system/extension-apiserver-authentication.
struct ClusterAuthentication {
  std::string client_ca{};  // PEM; empty if the cluster has none
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
  // Without `reviewer` tokens are ignored, as upstream does without a kubeconfig. Certificates are checked by the wall
  // clock; the lifetime of cached token reviews is measured by the monotonic one. All three must outlive it.
  static Result<std::unique_ptr<Authenticator>> Create(const AuthenticationOptions& options, Reviewer* reviewer,
                                                       const base::Clock& clock, const base::Clock& monotonic);

  // Fills in what the flags left unset; may be called again whenever the cluster's configuration changes.
  Result<void> Use(const ClusterAuthentication& cluster);

  // An error is a 401. TryAuthenticate never calls the API server: it has no answer if a token must be reviewed.
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
    std::string text;  // "" if there is none
    std::string audience;
  };
  Token TokenOf(const HttpRequest& request) const;
  // The token's user: from the cache, or from the API server. No answer if the API server must be asked and may not.
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
