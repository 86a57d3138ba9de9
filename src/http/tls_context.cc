#include "http/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "http/pem.h"

namespace berth::http {
namespace {

// One read of the socket returns several records.
constexpr size_t kReadAhead = size_t{64} << 10;
// The protocols offered through ALPN, in order of preference.
constexpr unsigned char kHttp2Protocols[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
constexpr unsigned char kHttp1Protocols[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

CertificatePtr ReadCertificate(BIO* bio) { return {PEM_read_bio_X509_AUX(bio, nullptr, nullptr, nullptr), &X509_free}; }

Result<void> TrustOnly(SSL_CTX* context, const std::string& authorities) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  const BioPtr bio = OpenPem(authorities);
  int count = 0;
  while (const CertificatePtr certificate = ReadCertificate(bio.get())) {
    X509_STORE_add_cert(store, certificate.get());
    ++count;
  }
  // OpenSSL records the end of the input as an error.
  ERR_clear_error();
  if (count == 0) return Error::InvalidArgument("tls: there is no certificate among the authorities to trust");
  // As in Go, every certificate listed is trusted, even an intermediate authority.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

Result<void> Show(SSL_CTX* context, const Credentials& credentials) {
  const BioPtr chain = OpenPem(credentials.client_certificate), key_bio = OpenPem(credentials.client_key);
  const CertificatePtr own = ReadCertificate(chain.get());
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(key_bio.get(), nullptr, &NoPassphrase, nullptr), &EVP_PKEY_free);
  if (!own || !key || SSL_CTX_use_certificate(context, own.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return Error::Unavailable(fmt::format("tls: client certificate: {}", TakeTlsError()));
  }
  while (CertificatePtr next = ReadCertificate(chain.get())) {
    if (SSL_CTX_add_extra_chain_cert(context, next.get()) == 1) static_cast<void>(next.release());  // now its own
  }
  ERR_clear_error();
  return {};
}

}  // namespace

std::string TakeTlsError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "unknown error";
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : fmt::format("error {:x}", code);
}

Result<TlsContextPtr> TlsContexts::Make(const Credentials& credentials, const std::string& authorities,
                                        Protocol protocol) const {
  ERR_clear_error();
  TlsContextPtr context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  if (!context) return Error::Internal("tls: " + TakeTlsError());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context.get(), 1);
  SSL_CTX_set_default_read_buffer_len(context.get(), kReadAhead);
  if (protocol == Protocol::kHttp2) {
    // A server that closes the connection without close_notify has still ended it: HTTP/2 framing shows what is
    // complete. In HTTP/1.1 the end of the connection may be the only sign, so it must not be forgeable.
    SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_alpn_protos(context.get(), kHttp2Protocols, sizeof(kHttp2Protocols));
  } else {
    SSL_CTX_set_alpn_protos(context.get(), kHttp1Protocols, sizeof(kHttp1Protocols));
  }
  if (!server_.config().insecure) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (Result<void> trusted = TrustOnly(context.get(), authorities); !trusted) return trusted.error();
  }
  if (!credentials.client_certificate.empty()) {
    if (Result<void> shown = Show(context.get(), credentials); !shown) return shown.error();
  }
  return context;
}

Result<TlsContextPtr> TlsContexts::ForServer(const CredentialsPtr& credentials) {
  if (for_server_ != nullptr && ShowTheSameCertificate(*shown_, *credentials)) return for_server_;
  Result<TlsContextPtr> made = Make(*credentials, server_.config().ca, protocol_);
  if (!made) return made;
  for_server_ = *made;
  shown_ = credentials;
  return for_server_;
}

Result<TlsContextPtr> TlsContexts::ForProxy() {
  if (for_proxy_ != nullptr) return for_proxy_;
  Result<TlsContextPtr> made = Make({}, server_.config().ca + "\n" + SystemAuthorities(), Protocol::kHttp1);
  if (made) for_proxy_ = *made;
  return made;
}

}  // namespace berth::http
