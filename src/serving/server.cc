#include "serving/server.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <exception>
#include <set>
#include <thread>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/log.h"
#include "serving/openssl_handles.h"
#include "serving/server_names.h"

namespace berth::serving {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = beast::http;
using boost::system::error_code;
using Stream = beast::ssl_stream<beast::tcp_stream>;

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

constexpr auto kAcceptRetry = std::chrono::milliseconds(100);

std::vector<std::string> PeerCertificates(SSL* ssl) {
  std::vector<std::string> found;
  const auto add = [&](X509* certificate) {
    unsigned char* der = nullptr;
    const int size = i2d_X509(certificate, &der);
    if (size > 0) found.emplace_back(reinterpret_cast<char*>(der), static_cast<size_t>(size));
    OPENSSL_free(der);
  };
  const CertificateHandle own(SSL_get1_peer_certificate(ssl));
  if (!own) return found;
  add(own.get());
  // On the server's side the chain does not repeat the client's own certificate.
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl);
  for (int i = 0; chain && i < sk_X509_num(chain); ++i) add(sk_X509_value(chain, i));
  return found;
}

int StatusOfReadError(const error_code& error) {
  if (error == beast_http::error::body_limit) return 413;
  if (error == beast_http::error::header_limit || error == beast_http::error::buffer_overflow) return 431;
  return 400;
}

bool IsHttpError(const error_code& error) {
  return error.category() == beast_http::make_error_code(beast_http::error::end_of_stream).category();
}

class Connection;

// What connections share. Lives on the I/O thread, except for `workers`.
struct Shared {
  const ServerOptions options;
  RequestHandler& handler;
  asio::io_context io{1};
  asio::thread_pool workers;
  std::set<std::shared_ptr<Connection>> connections{};
  uint64_t steps = 0;  // orders connections by when they fell idle
  bool stopping = false;

  Shared(const ServerOptions& server_options, RequestHandler& request_handler)
      : options(server_options), handler(request_handler), workers(server_options.workers) {}
};

// One connection, from the handshake to its end. Only ever touched on the I/O thread.
//
//   handshake → read ⇄ (answer at once | worker) → write → read … → close
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, asio::ip::tcp::socket socket, SSL_CTX* tls)
      : shared_(shared), tls_(Share(tls)), stream_(std::move(socket), tls_), idle_since_(++shared.steps) {}

  void Start() {
    error_code unknown;
    const auto local = beast::get_lowest_layer(stream_).socket().local_endpoint(unknown);
    if (!unknown) SetLocalAddress(stream_.native_handle(), local.address().to_string());
    Expire(shared_.options.handshake_timeout);
    stream_.async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](error_code error) {
      if (error) {
        LOG_INFO(4, "TLS handshake error", {"err", error.message()});
        return self->Close();
      }
      self->certificates_ = PeerCertificates(self->stream_.native_handle());
      self->Read(self->shared_.options.request_timeout);
    });
  }

  // Nothing of a request has been answered or is being worked on.
  bool idle() const { return idle_since_ != 0; }
  uint64_t idle_since() const { return idle_since_; }

  void Close() {
    error_code ignored;
    beast::get_lowest_layer(stream_).socket().close(ignored);
    shared_.connections.erase(shared_from_this());
  }

 private:
  static asio::ssl::context Share(SSL_CTX* tls) {
    SSL_CTX_up_ref(tls);
    return asio::ssl::context(tls);
  }

  void Expire(base::Duration after) {
    beast::get_lowest_layer(stream_).expires_after(std::chrono::duration_cast<std::chrono::milliseconds>(after));
  }

  void Read(base::Duration timeout) {
    if (shared_.stopping) return Shutdown();
    idle_since_ = ++shared_.steps;
    parser_.emplace();
    parser_->header_limit(shared_.options.max_header_bytes);
    parser_->body_limit(shared_.options.max_body_bytes);
    Expire(timeout);
    beast_http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) return self->OnRequest();
      if (error == beast_http::error::end_of_stream) return self->Shutdown();
      // Also a body that breaks off is an error of HTTP; whoever is still there deserves to hear what was wrong.
      if (!IsHttpError(error) || error == beast_http::error::partial_message) return self->Close();
      self->keep_alive_ = false;
      self->head_only_ = false;
      self->Write(TextError(StatusOfReadError(error), beast_http::obsolete_reason(beast_http::int_to_status(
                                                          static_cast<unsigned>(StatusOfReadError(error))))));
    });
  }

  void OnRequest() {
    idle_since_ = 0;
    beast::get_lowest_layer(stream_).expires_never();
    const beast_http::request<beast_http::string_body> message = parser_->release();
    keep_alive_ = message.keep_alive();
    head_only_ = message.method() == beast_http::verb::head;
    auto request = std::make_shared<HttpRequest>();
    request->method = std::string(message.method_string());
    for (const auto& field : message) {
      request->headers.emplace_back(base::LowerCase({field.name_string().data(), field.name_string().size()}),
                                    std::string(field.value()));
    }
    request->body = message.body();
    request->client_certificates = certificates_;
    const auto target = message.target();
    if (Result<void> parsed = ParseTarget({target.data(), target.size()}, *request); !parsed) {
      keep_alive_ = false;
      return Write(TextError(400, "Bad Request: " + parsed.error().message));
    }
    if (std::optional<HttpResponse> response = shared_.handler.TryHandle(*request)) return Write(std::move(*response));
    asio::post(shared_.workers, [self = shared_from_this(), request, work = asio::make_work_guard(shared_.io)] {
      HttpResponse response;
      try {
        response = self->shared_.handler.Handle(*request);
      } catch (const std::exception& exception) {
        LOG_ERROR("A page failed", {"err", exception.what()}, {"path", request->path});
        response = TextError(500, "Internal Server Error");
      }
      asio::post(self->shared_.io,
                 [self, response = std::move(response)]() mutable { self->Write(std::move(response)); });
    });
  }

  void Write(HttpResponse response) {
    if (shared_.stopping) keep_alive_ = false;
    // Version 1.1, whatever the request said: the answers have no chunks and a length.
    answer_ = {beast_http::int_to_status(static_cast<unsigned>(response.status)), 11};
    answer_.set(beast_http::field::content_type, response.content_type);
    answer_.set(beast_http::field::cache_control, "no-cache, private");
    for (const auto& [name, value] : response.headers) answer_.set(name, value);
    answer_.keep_alive(keep_alive_);
    answer_.content_length(response.body.size());
    if (!head_only_) answer_.body() = std::move(response.body);
    Expire(shared_.options.write_timeout);
    beast_http::async_write(stream_, answer_, [self = shared_from_this()](error_code error, size_t) {
      if (error) return self->Close();
      if (!self->keep_alive_) return self->Shutdown();
      self->answer_ = {};
      self->Read(self->shared_.options.idle_timeout);
    });
  }

  void Shutdown() {
    Expire(shared_.options.handshake_timeout);
    stream_.async_shutdown([self = shared_from_this()](error_code) { self->Close(); });
  }

  Shared& shared_;
  asio::ssl::context tls_;
  Stream stream_;
  std::vector<std::string> certificates_;
  beast::flat_buffer buffer_;
  std::optional<beast_http::request_parser<beast_http::string_body>> parser_;
  beast_http::response<beast_http::string_body> answer_;
  bool keep_alive_ = false;
  bool head_only_ = false;
  uint64_t idle_since_;  // 0 while a request is being answered
};

}  // namespace

class HttpsServer::Impl {
 public:
  Impl(const ServerOptions& options, TlsContext& tls, RequestHandler& handler)
      : shared_(options, handler), tls_(tls), acceptor_(shared_.io), retry_(shared_.io), deadline_(shared_.io) {}

  Result<void> Listen() {
    const ServerOptions& options = shared_.options;
    error_code error;
    asio::ip::address address = asio::ip::make_address(options.bind_address, error);
    if (error) {
      return Error::InvalidArgument("--bind-address: expected an IP address, found \"" + options.bind_address + "\"");
    }
    // As in Go, an unspecified address means both families, where the machine has both.
    const bool unspecified = address.is_unspecified();
    if (unspecified) acceptor_.open(asio::ip::tcp::v6(), error);
    if (unspecified && !error) {
      address = asio::ip::address_v6::any();
      acceptor_.set_option(asio::ip::v6_only(false), error);
    } else {
      acceptor_.open(address.is_v6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), error);
    }
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && options.share_port) acceptor_.set_option(ReusePort(true), error);
    if (!error) acceptor_.bind({address, options.port}, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return Error::Unavailable("failed to create listener: listen tcp " + options.bind_address + ":" +
                                std::to_string(options.port) + ": " + error.message());
    }
    port_ = acceptor_.local_endpoint(error).port();
    return {};
  }

  void Run() {
    Accept();
    thread_ = std::thread([this] { shared_.io.run(); });
    LOG_INFO(0, "Serving securely", {"address", shared_.options.bind_address}, {"port", port_});
  }

  void Stop() {
    if (!thread_.joinable()) return;
    asio::post(shared_.io, [this] {
      shared_.stopping = true;
      error_code ignored;
      acceptor_.close(ignored);
      retry_.cancel();
      const auto connections = shared_.connections;
      for (const auto& connection : connections) {
        if (connection->idle()) connection->Close();
      }
      if (shared_.connections.empty()) return;
      deadline_.expires_after(std::chrono::duration_cast<std::chrono::milliseconds>(shared_.options.shutdown_timeout));
      deadline_.async_wait([this](error_code) { shared_.io.stop(); });
      WaitForTheLast();
    });
    thread_.join();
    shared_.workers.join();
  }

  uint16_t port() const { return port_; }

 private:
  // The run ends by itself when nothing is left to wait for, which the deadline would delay.
  void WaitForTheLast() {
    if (shared_.connections.empty()) {
      deadline_.cancel();
      return;
    }
    retry_.expires_after(std::chrono::milliseconds(10));
    retry_.async_wait([this](error_code error) {
      if (!error) WaitForTheLast();
    });
  }

  void Accept() {
    acceptor_.async_accept([this](error_code error, asio::ip::tcp::socket socket) {
      if (shared_.stopping || error == asio::error::operation_aborted) return;
      if (error) {
        // Out of file descriptors, most likely: at once again would spin.
        LOG_ERROR("Cannot accept a connection", {"err", error.message()});
        retry_.expires_after(kAcceptRetry);
        retry_.async_wait([this](error_code cancelled) {
          if (!cancelled) Accept();
        });
        return;
      }
      Welcome(std::move(socket));
      Accept();
    });
  }

  void Welcome(asio::ip::tcp::socket socket) {
    if (shared_.connections.size() >= shared_.options.max_connections && !MakeRoom()) return;  // closes the socket
    error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    auto connection = std::make_shared<Connection>(shared_, std::move(socket), tls_.Current().get());
    shared_.connections.insert(connection);
    connection->Start();
  }

  bool MakeRoom() {
    std::shared_ptr<Connection> longest;
    for (const auto& connection : shared_.connections) {
      if (connection->idle() && (!longest || connection->idle_since() < longest->idle_since())) longest = connection;
    }
    if (longest) longest->Close();
    return longest != nullptr;
  }

  Shared shared_;
  TlsContext& tls_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  asio::steady_timer deadline_;
  std::thread thread_;
  uint16_t port_ = 0;
};

HttpsServer::HttpsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpsServer::~HttpsServer() { Stop(); }

Result<std::unique_ptr<HttpsServer>> HttpsServer::Start(const ServerOptions& options, TlsContext& tls,
                                                        RequestHandler& handler) {
  auto impl = std::make_unique<Impl>(options, tls, handler);
  if (Result<void> listening = impl->Listen(); !listening) return listening.error();
  impl->Run();
  return std::unique_ptr<HttpsServer>(new HttpsServer(std::move(impl)));
}

uint16_t HttpsServer::port() const { return impl_->port(); }
void HttpsServer::Stop() { impl_->Stop(); }

}  // namespace berth::serving
