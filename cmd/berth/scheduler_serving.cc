#include "scheduler_serving.h"

#include "base/log.h"
#include "http/rest_config.h"

namespace berth::cmd {

namespace {

serving::SecureServingOptions ServingOptions(const SchedulerOptions& from) {
  serving::SecureServingOptions to;
  to.server.bind_address = from.secure_serving.bind_address.text;
  to.server.port = static_cast<uint16_t>(from.secure_serving.secure_port);
  to.tls.cert_file = from.secure_serving.tls_cert_file;
  to.tls.private_key_file = from.secure_serving.tls_private_key_file;
  to.tls.cert_dir = from.secure_serving.cert_dir;
  to.tls.min_version = from.secure_serving.tls_min_version;
  to.tls.cipher_suites = from.secure_serving.tls_cipher_suites;
  to.tls.curve_preferences = from.secure_serving.tls_curve_preferences;
  for (const NamedCertKey& pair : from.secure_serving.tls_sni_cert_keys) {
    to.tls.named_pairs.push_back({pair.cert_file, pair.key_file, pair.names});
  }
  to.server.share_port = from.secure_serving.permit_port_sharing;
  to.authentication.client_ca_file = from.authentication.client_ca_file;
  to.authentication.token_cache_ttl = from.authentication.token_cache_ttl;
  to.authentication.request_header.client_ca_file = from.authentication.requestheader_client_ca_file;
  to.authentication.request_header.username_headers = from.authentication.requestheader_username_headers;
  to.authentication.request_header.uid_headers = from.authentication.requestheader_uid_headers;
  to.authentication.request_header.group_headers = from.authentication.requestheader_group_headers;
  to.authentication.request_header.extra_prefixes = from.authentication.requestheader_extra_headers_prefix;
  to.authentication.request_header.allowed_names = from.authentication.requestheader_allowed_names;
  to.authorization.always_allow_paths = from.authorization.always_allow_paths;
  to.authorization.allow_cache_ttl = from.authorization.authorized_ttl;
  to.authorization.deny_cache_ttl = from.authorization.unauthorized_ttl;
  return to;
}

// With its own kubeconfig or, without one, the pod's service account.
Result<ReviewClient> MakeReviewClient(const std::string& kubeconfig, const base::Clock& clock,
                                      live::CredentialPlugins& plugins) {
  ReviewClient made;
  const http::Surroundings surroundings = plugins.Watching(http::RealSurroundings());
  // Without a kubeconfig, the service account of the pod, if this runs in one.
  if (kubeconfig.empty() && surroundings.environment("KUBERNETES_SERVICE_HOST").empty()) return made;
  config::ClientConnection connection;
  connection.kubeconfig = kubeconfig;
  Result<http::RestConfig> rest =
      http::BuildRestConfig(connection, "", http::UserAgent("kube-scheduler", BERTH_VERSION), clock, surroundings);
  if (!rest && kubeconfig.empty()) {
    LOG_WARNING("Failed to read in-cluster kubeconfig for delegated reviews", {"err", rest.error()});
    return made;
  }
  if (!rest) return rest.error();
  plugins.Follow(rest->credentials);
  made.transport = std::make_unique<http::ApiTransport>(*std::move(rest));
  made.reviewer = std::make_unique<serving::ApiReviewer>(*made.transport);
  return made;
}

// The authorities that the cluster trusts are trusted here too.
Result<void> FollowAuthorities(const AuthenticationOptions& options, SchedulerServing& serving) {
  if (!serving.tokens.transport || options.skip_lookup) return {};
  serving.authorities = std::make_unique<serving::ClusterAuthenticationFollower>(*serving.tokens.transport,
                                                                                 serving.server->authenticator());
  const Result<void> used = serving.authorities->Refresh();
  if (!used && !options.tolerate_lookup_failure) return used;
  if (!used) LOG_WARNING("Error looking up in-cluster authentication configuration", {"err", used.error()});
  serving.authorities->Follow();
  return {};
}

Error About(const char* flag, const Error& error) { return {error.code, flag + (": " + error.message)}; }

}  // namespace

Result<SchedulerServing> StartServing(const SchedulerOptions& options, serving::Pages pages, const base::Clock& clock,
                                      live::CredentialPlugins& plugins) {
  SchedulerServing serving;
  Result<ReviewClient> tokens = MakeReviewClient(options.authentication.kubeconfig, clock, plugins);
  if (!tokens) return About("--authentication-kubeconfig", tokens.error());
  serving.tokens = *std::move(tokens);
  Result<ReviewClient> access = MakeReviewClient(options.authorization.kubeconfig, clock, plugins);
  if (!access) return About("--authorization-kubeconfig", access.error());
  serving.access = *std::move(access);
  if (options.secure_serving.secure_port == 0) return serving;
  auto started = serving::SecureServing::Start(ServingOptions(options), std::move(pages), serving.tokens.reviewer.get(),
                                               serving.access.reviewer.get(), clock);
  if (!started) return started.error();
  serving.server = *std::move(started);
  LOG_INFO(0, "Serving securely", {"address", options.secure_serving.bind_address.text},
           {"port", serving.server->port()});
  if (Result<void> followed = FollowAuthorities(options.authentication, serving); !followed) return followed.error();
  return serving;
}

}  // namespace berth::cmd
