// Everything between kube-scheduler's serving flags and a running server, put together.
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
  // Without reviewers as upstream without kubeconfigs: tokens are ignored, and what is not always allowed is forbidden.
  // The reviewers, the clock and what the pages refer to must outlive it. A port of 0 is any free one; that
  // --secure-port=0 means no server at all is for the caller to know.
  static Result<std::unique_ptr<SecureServing>> Start(SecureServingOptions options, Pages pages,
                                                      Reviewer* token_reviewer, Reviewer* access_reviewer,
                                                      const base::Clock& clock);

  uint16_t port() const { return server_->port(); }
  // For the certificate authorities that the cluster publishes, at the start and whenever they change.
  Authenticator& authenticator() { return *authenticator_; }
  void Stop() { server_->Stop(); }

 private:
  SecureServing() = default;

  // In the order of their dependence: the server goes first.
  const base::MonotonicClock monotonic_;  // for how long answers hold
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<Authorizer> authorizer_;
  std::unique_ptr<Endpoints> endpoints_;
  std::unique_ptr<HttpsServer> server_;
};

}  // namespace berth::serving
