// The HTTPS server of `berth scheduler`, with delegated authentication and authorization.
#pragma once

#include <memory>

#include "http/api_transport.h"
#include "live/credential_plugins.h"
#include "scheduler_options.h"
#include "serving/cluster_authentication.h"
#include "serving/secure_serving.h"

namespace berth::cmd {

// A client of the API server for reviews; null if there is neither a kubeconfig nor a service account.
struct ReviewClient {
  std::unique_ptr<http::ApiTransport> transport;
  std::unique_ptr<serving::ApiReviewer> reviewer;
};

// In the order in which one uses the other.
struct SchedulerServing {
  ReviewClient tokens;
  ReviewClient access;
  std::unique_ptr<serving::SecureServing> server;  // null with --secure-port=0
  std::unique_ptr<serving::ClusterAuthenticationFollower> authorities;
};

// Serves `pages` from now on. `clock` and `plugins` must outlive the result.
Result<SchedulerServing> StartServing(const SchedulerOptions& options, serving::Pages pages, const base::Clock& clock,
                                      live::CredentialPlugins& plugins);

}  // namespace berth::cmd
