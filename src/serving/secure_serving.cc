#include "serving/secure_serving.h"

#include <utility>

#include "base/log.h"

namespace berth::serving {
namespace {

bool IsUnspecified(const std::string& address) { return address == "0.0.0.0" || address == "::"; }

// The subject of a generated certificate: upstream's names and addresses.
CertificateSubject SelfSignedSubject(const std::string& bind_address) {
  CertificateSubject subject{.host = "localhost", .addresses = {"127.0.0.1"}};
  if (IsUnspecified(bind_address)) {
    subject.names.emplace_back("localhost");
  } else {
    subject.addresses.push_back(bind_address);
  }
  return subject;
}

}  // namespace

Result<std::unique_ptr<SecureServing>> SecureServing::Start(SecureServingOptions options, Pages pages,
                                                            Reviewer* token_reviewer, Reviewer* access_reviewer,
                                                            const base::Clock& clock) {
  std::unique_ptr<SecureServing> serving(new SecureServing);
  options.tls.self_signed_subject = SelfSignedSubject(options.server.bind_address);
  Result<std::unique_ptr<TlsContext>> tls = TlsContext::Create(options.tls, clock);
  if (!tls) return tls.error();
  serving->tls_ = std::move(*tls);
  Result<std::unique_ptr<Authenticator>> authenticator =
      Authenticator::Create(options.authentication, token_reviewer, clock, serving->monotonic_);
  if (!authenticator) return authenticator.error();
  serving->authenticator_ = std::move(*authenticator);
  Result<std::unique_ptr<Authorizer>> authorizer =
      Authorizer::Create(options.authorization, access_reviewer, serving->monotonic_);
  if (!authorizer) return authorizer.error();
  serving->authorizer_ = std::move(*authorizer);
  if (!access_reviewer) {
    LOG_WARNING("No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens won't work.");
  }
  serving->endpoints_ =
      std::make_unique<Endpoints>(std::move(pages), *serving->authenticator_, *serving->authorizer_, clock);
  Result<std::unique_ptr<HttpsServer>> server =
      HttpsServer::Start(options.server, *serving->tls_, *serving->endpoints_);
  if (!server) return server.error();
  serving->server_ = std::move(*server);
  return serving;
}

}  // namespace berth::serving
