// A blocking HTTPS client for tests, over one connection if the server allows it: it shows what a transport hides, the
// server's certificate and the number of connections.
#pragma once

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/http1_parser.h"
#include "serving/openssl_handles.h"
#include "serving/self_signed.h"
#include "serving/testing/certificates.h"

namespace berth::serving {

// Sends raw bytes over a connection, with or without TLS.
class RawClient {
 public:
  struct Tls {
    int min_version = 0, max_version = 0;  // OpenSSL's; 0: any
    std::string ciphers;                   // of TLS 1.2 and below; empty: the usual ones
    PemPair certificate;                   // empty: none
  };

  explicit RawClient(uint16_t port, bool with_tls = true) : RawClient(port, with_tls, {}) {}
  RawClient(uint16_t port, bool with_tls, const Tls& tls) : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    const std::string address = "127.0.0.1:" + std::to_string(port);
    Apply(tls);
    bio_.reset(with_tls ? BIO_new_ssl_connect(context_.get()) : BIO_new_connect(address.c_str()));
    if (with_tls) BIO_set_conn_hostname(bio_.get(), address.c_str());
    connected_ = BIO_do_connect(bio_.get()) == 1 && (!with_tls || BIO_do_handshake(bio_.get()) == 1);
    ERR_clear_error();
  }

  bool connected() const { return connected_; }
  bool Send(std::string_view bytes) {
    const int sent = BIO_write(bio_.get(), bytes.data(), static_cast<int>(bytes.size()));
    ERR_clear_error();
    return sent == static_cast<int>(bytes.size());
  }
  // What has arrived; empty: the server has closed the connection.
  std::string ReadSome() {
    char buffer[4096];
    const int size = BIO_read(bio_.get(), buffer, sizeof buffer);
    ERR_clear_error();
    return {buffer, size > 0 ? static_cast<size_t>(size) : 0};
  }
  // Reads until the server closes the connection.
  std::string ReadAll() {
    std::string out;
    for (std::string piece = ReadSome(); !piece.empty(); piece = ReadSome()) out += piece;
    return out;
  }
  std::string ServerCertificate() {
    SSL* ssl = nullptr;
    BIO_get_ssl(bio_.get(), &ssl);
    X509* certificate = ssl == nullptr ? nullptr : SSL_get0_peer_certificate(ssl);
    return certificate == nullptr ? "" : PemOf(certificate);
  }

 private:
  struct FreeChain {
    void operator()(BIO* bio) const { BIO_free_all(bio); }
  };

  void Apply(const Tls& tls) {
    SSL_CTX_set_min_proto_version(context_.get(), tls.min_version);
    SSL_CTX_set_max_proto_version(context_.get(), tls.max_version);
    if (!tls.ciphers.empty()) SSL_CTX_set_cipher_list(context_.get(), tls.ciphers.c_str());
    if (tls.certificate.certificate.empty()) return;
    const BioHandle certificate(BIO_new_mem_buf(tls.certificate.certificate.data(), -1));
    const BioHandle key(BIO_new_mem_buf(tls.certificate.private_key.data(), -1));
    const CertificateHandle own(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
    const KeyHandle own_key(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
    EXPECT_EQ(SSL_CTX_use_certificate(context_.get(), own.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context_.get(), own_key.get()), 1);
  }

  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  std::unique_ptr<BIO, FreeChain> bio_;
  bool connected_ = false;
};

struct Fetched {
  std::string error;
  int status = 0;
  std::string headers;  // as received
  std::string body;
  std::string server_certificate;  // PEM
  int connects = 0;
};

class TestClient final : private http::Http1Parser::Sink {
 public:
  explicit TestClient(uint16_t port) : port_(port) {}

  TestClient& Certificate(const PemPair& pair) {
    tls_.certificate = pair;
    return *this;
  }
  TestClient& Header(const std::string& header) {
    headers_ += header + "\r\n";
    return *this;
  }
  TestClient& Versions(int min, int max, const std::string& ciphers = "") {
    tls_.min_version = min;
    tls_.max_version = max;
    tls_.ciphers = ciphers;
    return *this;
  }

  Fetched Get(const std::string& path, const std::string& method = "GET") {
    fetched_ = {};
    const std::string request =
        method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\n" + headers_ + "\r\n";
    // The server may have closed the kept connection.
    if (connection_ == nullptr || !Exchange(method, request)) {
      connection_ = std::make_unique<RawClient>(port_, true, tls_);
      fetched_.connects = 1;
      if (!connection_->connected()) {
        fetched_.error = "cannot connect";
        connection_ = nullptr;
      } else if (!Exchange(method, request)) {
        fetched_.error = "no answer";
      }
    }
    if (connection_ != nullptr) fetched_.server_certificate = connection_->ServerCertificate();
    if (!keep_) connection_ = nullptr;
    return std::move(fetched_);
  }

 private:
  bool Exchange(const std::string& method, const std::string& request) {
    http::Http1Parser parser(method, *this);
    keep_ = false;
    std::string raw;
    connection_->Send(request);
    while (!parser.is_done()) {
      const std::string piece = connection_->ReadSome();
      raw += piece;
      if (piece.empty() ? !parser.TakeEnd().ok() : !parser.Take(piece).ok()) return false;
    }
    fetched_.headers = raw.substr(0, raw.find("\r\n\r\n") + 4);
    keep_ = parser.keeps_alive();
    return true;
  }
  void OnHead(int status, http::Headers) override { fetched_.status = status; }
  Result<void> OnData(std::string_view bytes) override {
    fetched_.body += bytes;
    return {};
  }

  const uint16_t port_;
  RawClient::Tls tls_;
  std::string headers_;
  std::unique_ptr<RawClient> connection_;
  bool keep_ = false;
  Fetched fetched_;
};

}  // namespace berth::serving
