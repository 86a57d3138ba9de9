#include "http/tls_layer.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "http/name_lookup.h"

namespace berth::http {

TlsLayer::TlsLayer(TlsContextPtr context, std::string name, bool insecure)
    : context_(std::move(context)), name_(std::move(name)), insecure_(insecure), ssl_(nullptr, &SSL_free) {}

TlsLayer::~TlsLayer() {
  // Sends close_notify without waiting for the peer's.
  if (open_) SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

Result<void> TlsLayer::Prepare() {
  ssl_.reset(SSL_new(context_.get()));
  if (!ssl_) return Error::Internal("tls: " + TakeTlsError());
  const bool is_address = IsAddress(name_);
  if (!is_address) SSL_set_tlsext_host_name(ssl_.get(), name_.c_str());
  if (!insecure_) {
    X509_VERIFY_PARAM* expected = SSL_get0_param(ssl_.get());
    X509_VERIFY_PARAM_set_hostflags(expected,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    const int set = is_address ? X509_VERIFY_PARAM_set1_ip_asc(expected, name_.c_str())
                               : X509_VERIFY_PARAM_set1_host(expected, name_.c_str(), name_.size());
    if (set != 1) return Error::Unavailable(fmt::format("tls: \"{}\" cannot be the name of a server", name_));
  }
  SSL_set_connect_state(ssl_.get());
  return {};
}

Result<void> TlsLayer::BeginOver(int socket) {
  if (Result<void> prepared = Prepare(); !prepared) return prepared;
  if (SSL_set_fd(ssl_.get(), socket) != 1) return Error::Internal("tls: " + TakeTlsError());
  return {};
}

Result<void> TlsLayer::BeginOver(TlsLayer& outer) {
  if (Result<void> prepared = Prepare(); !prepared) return prepared;
  BIO* through = BIO_new(BIO_f_ssl());
  if (through == nullptr) return Error::Internal("tls: " + TakeTlsError());
  BIO_set_ssl(through, outer.ssl_.get(), BIO_NOCLOSE);
  SSL_set_bio(ssl_.get(), through, through);
  return {};
}

Result<bool> TlsLayer::Handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    open_ = true;
    wants_write_ = false;
    return true;
  }
  const int reason = SSL_get_error(ssl_.get(), result);
  wants_write_ = reason == SSL_ERROR_WANT_WRITE;
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return false;
  const long verdict = SSL_get_verify_result(ssl_.get());
  if (verdict != X509_V_OK && !insecure_) {
    const bool misnamed = verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
    const std::string why =
        misnamed ? fmt::format("no alternative certificate subject name matches target host name '{}'", name_)
                 : X509_verify_cert_error_string(verdict);
    return Error::Unavailable("tls: failed to verify certificate: " + why);
  }
  return ErrorOf(result);
}

bool TlsLayer::speaks_http2() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

bool TlsLayer::has_ended() const { return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }

Error TlsLayer::ErrorOf(int result) const {
  const int code = errno;
  const int reason = SSL_get_error(ssl_.get(), result);
  if (reason == SSL_ERROR_ZERO_RETURN) return Error::Unavailable("the server closed the connection");
  if (reason == SSL_ERROR_SYSCALL && ERR_peek_error() == 0) {
    return Error::Unavailable(code == 0 ? "the server closed the connection" : std::strerror(code));
  }
  return Error::Unavailable("tls: " + TakeTlsError());
}

Result<size_t> TlsLayer::Read(char* data, size_t size) {
  ERR_clear_error();
  errno = 0;
  size_t got = 0;
  const int result = SSL_read_ex(ssl_.get(), data, size, &got);
  if (result == 1) return got;
  const int reason = SSL_get_error(ssl_.get(), result);
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return size_t{0};
  return ErrorOf(result);
}

Result<size_t> TlsLayer::Write(std::string_view bytes) {
  ERR_clear_error();
  errno = 0;
  size_t put = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &put);
  wants_write_ = result != 1;
  if (result == 1) return put;
  const int reason = SSL_get_error(ssl_.get(), result);
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return size_t{0};
  return ErrorOf(result);
}

}  // namespace berth::http
