// Builds a running server from kube-scheduler's serving flags.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "serving/endpoints.h"

namespace berth::serving {

struct SecureServingOptions {
  ServerOptions server{};
  TlsOptions tls{};
  AuthenticationOptions authentication{};
  AuthorizationOptions authorization{};
};

class SecureServing {
 public:
  // Without reviewers it behaves as upstream without kubeconfigs: tokens are ignored, and what is not always allowed is
  // forbidden. The reviewers, the clock and what the pages refer to must outlive it. Port 0 is any free one; the caller
  // has to handle --secure-port=0, which means no server at all.
  static Result<std::unique_ptr<SecureServing>> Start(SecureServingOptions options, Pages pages,
                                                      Reviewer* token_reviewer, Reviewer* access_reviewer,
                                                      const base::Clock& clock);

  uint16_t port() const { return server_->port(); }
  // To be given the certificate authorities that the cluster publishes, at startup and whenever they change.
  Authenticator& authenticator() { return *authenticator_; }
  void Stop() { server_->Stop(); }

 private:
  SecureServing() = default;

  // In the order of dependence: the server is destroyed first.
  const base::MonotonicClock monotonic_;  // for the lifetime of cached answers
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<Authorizer> authorizer_;
  std::unique_ptr<Endpoints> endpoints_;
  std::unique_ptr<HttpsServer> server_;
};

}  // namespace berth::serving
