#include "serving/server.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "base/log.h"
#include "serving/beast_stream.h"
#include "serving/openssl_handles.h"
#include "serving/server_names.h"

namespace berth::serving {
namespace {

namespace beast_http = beast::http;

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
  // On the server's side the chain does not contain the client's own certificate.
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

// What the server sees of a connection. Only ever touched on the I/O thread.
class ServedConnection {
 public:
  virtual ~ServedConnection() = default;
  virtual void Start() = 0;
  virtual void Close() = 0;
  // The server is stopping: ends a response that has no end of its own.
  virtual void EndStream() = 0;

  // No request is being processed or answered; one may have been read in part.
  bool idle() const { return idle_since_ != 0; }
  uint64_t idle_since() const { return idle_since_; }

 protected:
  explicit ServedConnection(uint64_t since) : idle_since_(since) {}
  uint64_t idle_since_;  // 0 while a request is being answered
};

// What connections share. Used on the I/O thread, except for `workers`.
struct Shared {
  const ServerOptions options;
  RequestHandler& handler;
  asio::io_context io{1};
  asio::thread_pool workers;
  std::set<std::shared_ptr<ServedConnection>> connections{};
  uint64_t steps = 0;  // orders connections by when they became idle
  size_t streams = 0;  // responses without an end in progress
  bool stopping = false;

  Shared(const ServerOptions& server_options, RequestHandler& request_handler)
      : options(server_options), handler(request_handler), workers(server_options.workers) {}
};

std::chrono::milliseconds Milliseconds(base::Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

// One connection, from the handshake to its end.
//
//   handshake → read ⇄ (answer at once | worker) → write → read … → close
//                                                ↘ stream: worker → write → pause → worker … → close
class Connection final : public ServedConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, std::unique_ptr<ByteStream> stream)
      : ServedConnection(++shared.steps), shared_(shared), stream_(std::move(stream)), timer_(shared.io) {}

  void Start() override {
    if (!stream_->tls()) return Read(shared_.options.request_timeout);
    error_code unknown;
    const auto local = stream_->tcp().socket().local_endpoint(unknown);
    if (!unknown) SetLocalAddress(stream_->tls(), local.address().to_string());
    Expire(shared_.options.handshake_timeout);
    stream_->Handshake([self = Self()](error_code error) {
      if (error) {
        LOG_INFO(4, "TLS handshake error", {"err", error.message()});
        return self->Close();
      }
      self->certificates_ = PeerCertificates(self->stream_->tls());
      self->Read(self->shared_.options.request_timeout);
    });
  }

  void Close() override {
    closed_ = true;
    if (streaming_) --shared_.streams;
    streaming_ = false;
    timer_.cancel();
    error_code ignored;
    stream_->tcp().socket().close(ignored);
    shared_.connections.erase(Self());
  }

  void EndStream() override {
    if (!streaming_ || writing_) return;  // the end follows what is being written
    timer_.cancel();
    WriteLastChunk();
  }

 private:
  std::shared_ptr<Connection> Self() { return shared_from_this(); }

  void Expire(base::Duration after) { stream_->tcp().expires_after(Milliseconds(after)); }

  void Read(base::Duration timeout) {
    if (shared_.stopping) return Shutdown();
    idle_since_ = ++shared_.steps;
    parser_.emplace();
    parser_->header_limit(shared_.options.max_header_bytes);
    parser_->body_limit(shared_.options.max_body_bytes);
    Expire(timeout);
    beast_http::async_read(*stream_, buffer_, *parser_, [self = Self()](error_code error, size_t) {
      if (!error) return self->OnRequest();
      if (error == beast_http::error::end_of_stream) return self->Shutdown();
      // A truncated request is an HTTP error too, but its client is gone; other clients are told what was wrong.
      if (!IsHttpError(error) || error == beast_http::error::partial_message) return self->Close();
      self->keep_alive_ = false;
      self->head_only_ = false;
      self->Write(TextError(StatusOfReadError(error), beast_http::obsolete_reason(beast_http::int_to_status(
                                                          static_cast<unsigned>(StatusOfReadError(error))))));
    });
  }

  void OnRequest() {
    idle_since_ = 0;
    stream_->tcp().expires_never();
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
    OnWorker(
        request->path, [self = Self(), request] { return self->shared_.handler.Handle(*request); },
        [] { return TextError(500, "Internal Server Error"); },
        [self = Self()](HttpResponse response) { self->Write(std::move(response)); });
  }

  // Runs `work` on a worker, then `then` with its result here. If it throws, the result is what `failed` returns.
  template <class Work, class Failed, class Then>
  void OnWorker(std::string path, Work work, Failed failed, Then then) {
    asio::post(shared_.workers,
               [&io = shared_.io, path = std::move(path), work = std::move(work), failed = std::move(failed),
                then = std::move(then), guard = asio::make_work_guard(shared_.io)] {
                 decltype(work()) made;
                 try {
                   made = work();
                 } catch (const std::exception& exception) {
                   LOG_ERROR("A page failed", {"err", exception.what()}, {"path", path});
                   made = failed();
                 }
                 asio::post(io, [then, made = std::move(made)]() mutable { then(std::move(made)); });
               });
  }

  void Write(HttpResponse response) {
    if (shared_.stopping) keep_alive_ = false;
    if (response.stream && !head_only_) {
      if (shared_.streams < shared_.options.max_streams && !shared_.stopping) return BeginStream(std::move(response));
      response = TextError(503, "as many are followed as there is room for (" +
                                    std::to_string(shared_.options.max_streams) + "); try again later");
      response.headers.emplace_back("retry-after", "5");
    }
    // Version 1.1, whatever the request said: answers have a length and no chunks.
    answer_ = {beast_http::int_to_status(static_cast<unsigned>(response.status)), 11};
    SetHeaders(answer_, response);
    answer_.keep_alive(keep_alive_);
    answer_.content_length(response.body.size());
    if (!head_only_) answer_.body() = std::move(response.body);
    Expire(shared_.options.write_timeout);
    beast_http::async_write(*stream_, answer_, [self = Self()](error_code error, size_t) {
      if (error) return self->Close();
      if (!self->keep_alive_) return self->Shutdown();
      self->answer_ = {};
      self->Read(self->shared_.options.idle_timeout);
    });
  }

  static void SetHeaders(auto& message, const HttpResponse& response) {
    message.set(beast_http::field::content_type, response.content_type);
    message.set(beast_http::field::cache_control, "no-cache, private");
    for (const auto& [name, value] : response.headers) message.set(name, value);
  }

  void BeginStream(HttpResponse response) {
    ++shared_.streams;
    streaming_ = true;
    source_ = std::move(response.stream);
    ends_ = std::chrono::steady_clock::now() + source_->lifetime;
    head_ = {beast_http::int_to_status(static_cast<unsigned>(response.status)), 11};
    SetHeaders(head_, response);
    head_.keep_alive(false);
    head_.chunked(true);
    head_writer_.emplace(head_);
    Expire(shared_.options.write_timeout);
    writing_ = true;
    beast_http::async_write_header(*stream_, *head_writer_, [self = Self()](error_code error, size_t) {
      if (error) return self->Close();
      self->NoticeTheEnd();
      self->OnWritten();
    });
  }

  // A client sends nothing while it receives a stream, so the end of a read means that the client is gone.
  void NoticeTheEnd() {
    stream_->tcp().expires_never();
    stream_->async_read_some(asio::buffer(unexpected_),
                             [self = Self()](error_code, size_t) { self->ending_ ? self->Shutdown() : self->Close(); });
  }

  void OnWritten() {
    writing_ = false;
    written_ = std::chrono::steady_clock::now();
    AskForMore();
  }

  void AskForMore() {
    if (closed_) return;
    if (shared_.stopping || std::chrono::steady_clock::now() >= ends_) return WriteLastChunk();
    writing_ = true;  // also while a worker determines what to write
    using Piece = std::optional<std::string>;
    OnWorker(
        "stream", [source = source_] { return source->next(); }, [] { return Piece(); },
        [self = Self()](Piece piece) { self->OnPiece(std::move(piece)); });
  }

  void OnPiece(std::optional<std::string> piece) {
    writing_ = false;
    if (closed_) return;
    if (!piece || shared_.stopping) return WriteLastChunk();
    if (piece->empty() && std::chrono::steady_clock::now() - written_ >= source_->heartbeat_every) {
      piece = source_->heartbeat;
    }
    if (piece->empty()) return Pause();
    piece_ = *std::move(piece);
    writing_ = true;
    Expire(shared_.options.write_timeout);
    asio::async_write(*stream_, beast_http::make_chunk(asio::buffer(piece_)),
                      [self = Self()](error_code error, size_t) {
                        if (error) return self->Close();
                        self->writing_ = false;
                        self->written_ = std::chrono::steady_clock::now();
                        self->Pause();
                      });
  }

  void Pause() {
    if (closed_) return;
    if (shared_.stopping) return WriteLastChunk();
    timer_.expires_after(Milliseconds(source_->pause));
    timer_.async_wait([self = Self()](error_code error) {
      if (!error) self->AskForMore();
    });
  }

  void WriteLastChunk() {
    if (closed_ || ending_) return;
    ending_ = true;
    writing_ = true;
    Expire(shared_.options.write_timeout);
    asio::async_write(*stream_, beast_http::make_chunk_last(), [self = Self()](error_code error, size_t) {
      if (error) return self->Close();
      self->stream_->tcp().cancel();  // the read that waits for the end of the connection
    });
  }

  void Shutdown() {
    if (closed_) return;
    Expire(shared_.options.handshake_timeout);
    stream_->Shutdown([self = Self()](error_code) { self->Close(); });
  }

  Shared& shared_;
  std::unique_ptr<ByteStream> stream_;
  std::vector<std::string> certificates_;
  beast::flat_buffer buffer_;
  std::optional<beast_http::request_parser<beast_http::string_body>> parser_;
  beast_http::response<beast_http::string_body> answer_;
  bool keep_alive_ = false;
  bool head_only_ = false;
  bool closed_ = false;

  // For a response without an end.
  std::shared_ptr<ResponseStream> source_;
  std::chrono::steady_clock::time_point ends_{}, written_{};
  beast_http::response<beast_http::empty_body> head_;
  std::optional<beast_http::response_serializer<beast_http::empty_body>> head_writer_;
  asio::steady_timer timer_;
  std::string piece_;
  char unexpected_[64];
  bool streaming_ = false;
  bool writing_ = false;  // or a worker is determining what to write
  bool ending_ = false;
};

}  // namespace

class HttpsServer::Impl {
 public:
  // Without TLS when `tls` is null.
  Impl(const ServerOptions& options, TlsContext* tls, RequestHandler& handler)
      : shared_(options, handler), tls_(tls), acceptor_(shared_.io), retry_(shared_.io), deadline_(shared_.io) {}

  Result<void> Listen() {
    const ServerOptions& options = shared_.options;
    error_code error;
    asio::ip::address address = asio::ip::make_address(options.bind_address, error);
    if (error) {
      return Error::InvalidArgument("--bind-address: expected an IP address, found \"" + options.bind_address + "\"");
    }
    // As in Go, an unspecified address means both families, if the machine has both.
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
    if (tls_) LOG_INFO(0, "Serving securely", {"address", shared_.options.bind_address}, {"port", port_});
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
        connection->idle() ? connection->Close() : connection->EndStream();
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
  // The run ends by itself when nothing is left to wait for; the deadline would delay that.
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
        // Most likely out of file descriptors: retrying at once would spin.
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
    std::unique_ptr<ByteStream> stream;
    if (tls_) {
      stream = std::make_unique<TlsStream>(std::move(socket), tls_->Current().get());
    } else {
      stream = std::make_unique<PlainStream>(std::move(socket));
    }
    const auto connection = std::make_shared<Connection>(shared_, std::move(stream));
    shared_.connections.insert(connection);
    connection->Start();
  }

  bool MakeRoom() {
    std::shared_ptr<ServedConnection> longest;
    for (const auto& connection : shared_.connections) {
      if (connection->idle() && (!longest || connection->idle_since() < longest->idle_since())) longest = connection;
    }
    if (longest) longest->Close();
    return longest != nullptr;
  }

  Shared shared_;
  TlsContext* const tls_;
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
  auto impl = std::make_unique<Impl>(options, &tls, handler);
  if (Result<void> listening = impl->Listen(); !listening) return listening.error();
  impl->Run();
  return std::unique_ptr<HttpsServer>(new HttpsServer(std::move(impl)));
}

Result<std::unique_ptr<HttpsServer>> HttpsServer::StartOnLoopback(const ServerOptions& options,
                                                                  RequestHandler& handler) {
  error_code error;
  const asio::ip::address address = asio::ip::make_address(options.bind_address, error);
  if (error || !address.is_loopback()) {
    return Error::InvalidArgument("expected an address of this machine alone, as 127.0.0.1, found \"" +
                                  options.bind_address + "\"");
  }
  auto impl = std::make_unique<Impl>(options, nullptr, handler);
  if (Result<void> listening = impl->Listen(); !listening) return listening.error();
  impl->Run();
  return std::unique_ptr<HttpsServer>(new HttpsServer(std::move(impl)));
}

uint16_t HttpsServer::port() const { return impl_->port(); }
void HttpsServer::Stop() { impl_->Stop(); }

}  // namespace berth::serving
