#include "http/testing/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/ascii.h"
#include "base/check.h"
#include "http/testing/http2_session.h"

namespace berth::http {
namespace {

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;

BioPtr Open(const std::string& pem) { return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free}; }

X509* ReadCertificate(const std::string& pem) {
  const BioPtr bio = Open(pem);
  return PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr);
}

int ChooseHttp2(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered,
                unsigned int offered_size, void*) {
  static const unsigned char kHttp2[] = {2, 'h', '2'};
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, size, kHttp2, sizeof(kHttp2), offered, offered_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

SSL_CTX* MakeContext(const HttpServer::Options& options) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  X509* certificate = ReadCertificate(options.identity->certificate);
  const BioPtr bio = Open(options.identity->key);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr);
  CHECK(SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!options.client_authority.empty()) {
    X509* authority = ReadCertificate(options.client_authority);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
    X509_free(authority);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  if (options.http2 || options.speaks_http2) SSL_CTX_set_alpn_select_cb(context, &ChooseHttp2, nullptr);
  return context;
}

std::string HeadText(int status, const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string text = fmt::format("HTTP/1.1 {} Status\r\n", status);
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  return text;
}

class Http1Reply final : public ServedReply {
 public:
  explicit Http1Reply(ServedConnection& connection) : connection_(connection) {}

  void Send(int status, std::string_view body, const Fields& headers) override {
    connection_.Write(fmt::format("{}Content-Length: {}\r\n\r\n{}", HeadText(status, headers), body.size(), body));
  }
  void Begin(int status, const Fields& headers) override {
    connection_.Write(HeadText(status, headers) + "Transfer-Encoding: chunked\r\n\r\n");
  }
  void Piece(std::string_view bytes) override { connection_.Write(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes)); }
  void End() override { connection_.Write("0\r\n\r\n"); }
  void WaitForEnd() override { connection_.WaitForEnd(); }

 private:
  ServedConnection& connection_;
};

}  // namespace

std::string ServedRequest::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

ServedConnection::~ServedConnection() {
  if (ssl_ != nullptr) SSL_free(ssl_);
  close(socket_);
}

bool ServedConnection::Handshake() {
  if (ssl_ == nullptr) return true;
  SSL_set_fd(ssl_, socket_);
  const bool shaken = SSL_accept(ssl_) == 1;
  ERR_clear_error();
  return shaken;
}

bool ServedConnection::ReadExactly(char* data, size_t size) {
  while (size > 0) {
    const ssize_t got = ssl_ != nullptr ? SSL_read(ssl_, data, static_cast<int>(size)) : recv(socket_, data, size, 0);
    if (got <= 0) return false;
    data += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool ServedConnection::ReadLine(std::string& line) {
  line.clear();
  char c = 0;
  while (ReadExactly(&c, 1)) {
    if (c == '\n') {
      if (line.ends_with('\r')) line.pop_back();
      return true;
    }
    line += c;
  }
  return false;
}

bool ServedConnection::ReadRequest(ServedRequest& request) {
  std::string line;
  if (!ReadLine(line)) return false;
  const size_t first = line.find(' '), second = line.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos) return false;
  request.method = line.substr(0, first);
  request.path = line.substr(first + 1, second - first - 1);
  while (ReadLine(line) && !line.empty()) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) return false;
    const size_t value = line.find_first_not_of(' ', colon + 1);
    request.headers.emplace(base::LowerCase(line.substr(0, colon)),
                            value == std::string::npos ? "" : line.substr(value));
  }
  const std::string length = request.Header("content-length");
  request.body.resize(length.empty() ? 0 : std::strtoul(length.c_str(), nullptr, 10));
  request.client_name = ClientName();
  request.server_name = ServerName();
  return ReadExactly(request.body.data(), request.body.size());
}

void ServedConnection::MakeNonBlocking() { fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK); }

std::optional<size_t> ServedConnection::ReadSome(char* data, size_t size) {
  const ssize_t got = ssl_ != nullptr ? SSL_read(ssl_, data, static_cast<int>(size)) : recv(socket_, data, size, 0);
  if (got > 0) return static_cast<size_t>(got);
  const bool later =
      ssl_ != nullptr ? SSL_get_error(ssl_, static_cast<int>(got)) == SSL_ERROR_WANT_READ : got < 0 && errno == EAGAIN;
  ERR_clear_error();
  return later ? std::optional<size_t>(0) : std::nullopt;
}

bool ServedConnection::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                        : send(socket_, bytes.data(), bytes.size(), 0);
    const bool later = ssl_ != nullptr ? put <= 0 && SSL_get_error(ssl_, static_cast<int>(put)) == SSL_ERROR_WANT_WRITE
                                       : put < 0 && errno == EAGAIN;
    if (later) {
      pollfd writable{.fd = socket_, .events = POLLOUT, .revents = 0};
      poll(&writable, 1, -1);
      continue;
    }
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

void ServedConnection::WaitForEnd() {
  pollfd ended{.fd = socket_, .events = POLLIN | POLLRDHUP, .revents = 0};
  poll(&ended, 1, -1);
}

void ServedConnection::CloseTls() { SSL_shutdown(ssl_); }

void ServedConnection::Shutdown() { shutdown(socket_, SHUT_RDWR); }

bool ServedConnection::SpeaksHttp2() const {
  if (ssl_ == nullptr) return false;
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

std::string ServedConnection::ClientName() const {
  if (ssl_ == nullptr) return {};
  const X509* certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr) return {};
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
  return name;
}

std::string ServedConnection::ServerName() const {
  const char* name = ssl_ == nullptr ? nullptr : SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? "" : name;
}

HttpServer::HttpServer(Handler handler, Options options) : handler_(std::move(handler)), options_(std::move(options)) {
  if (options_.identity != nullptr) tls_ = MakeContext(options_);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  CHECK(listen(listener_, 512) == 0);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

HttpServer::~HttpServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& connection : open_) connection->Shutdown();
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
  if (tls_ != nullptr) SSL_CTX_free(tls_);
}

std::string HttpServer::url() const {
  return fmt::format("{}://127.0.0.1:{}", tls_ == nullptr ? "http" : "https", port_);
}

void HttpServer::Accept() {
  // The connections' threads inherit this: a client that disconnects early must not end the program.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  for (;;) {
    const int accepted = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) return;
    auto connection = std::make_shared<ServedConnection>(accepted, tls_ == nullptr ? nullptr : SSL_new(tls_));
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    ++accepted_;
    open_.push_back(connection);
    threads_.emplace_back([this, connection] {
      Serve(*connection);
      connection->Shutdown();
      const std::lock_guard closing(mutex_);
      std::erase(open_, connection);
    });
  }
}

void HttpServer::Serve(ServedConnection& connection) {
  if (!connection.Handshake()) return;
  if (options_.raw) return options_.raw(connection);
  if (connection.SpeaksHttp2() && options_.http2) return options_.http2(connection);
  if (connection.SpeaksHttp2()) return ServeHttp2Session(connection, handler_);
  for (;;) {
    ServedRequest request;
    if (!connection.ReadRequest(request)) return;
    Http1Reply reply(connection);
    handler_(request, reply);
    if (reply.broken()) return;
  }
}

}  // namespace berth::http
