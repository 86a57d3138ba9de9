// A tiny HTTP server on loopback for tests, with or without TLS: one thread per connection, a port that the kernel
// chooses, and answers that a test can delay or cut short. A test can also serve raw bytes instead of HTTP/1.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "http/testing/tls_identity.h"

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;

namespace berth::http {

struct ServedRequest {
  std::string method, path, body;
  std::multimap<std::string, std::string> headers;  // names in lower case
  std::string client_name;                          // of its certificate; empty: it showed none
  std::string server_name;                          // that the client asked for in TLS
  std::string Header(const std::string& name) const;
};

// One connection, used by its own thread.
class ServedConnection {
 public:
  ServedConnection(int socket, SSL* ssl) : socket_(socket), ssl_(ssl) {}
  ~ServedConnection();

  bool Handshake();
  // Reads an HTTP/1 request; false at the end of the connection.
  bool ReadRequest(ServedRequest& request);
  void MakeNonBlocking();
  // After MakeNonBlocking(): the number of bytes, 0 if there are none at the moment; nothing when the connection has
  // ended.
  std::optional<size_t> ReadSome(char* data, size_t size);
  int fd() const { return socket_; }
  bool ReadExactly(char* data, size_t size);
  bool ReadLine(std::string& line);
  bool Write(std::string_view bytes);
  // Returns when the client or the server ends the connection.
  void WaitForEnd();
  void Shutdown();  // from any thread
  void CloseTls();  // announces, under TLS, that no more will be sent
  bool SpeaksHttp2() const;
  std::string ClientName() const;
  std::string ServerName() const;

 private:
  const int socket_;
  SSL* const ssl_;  // null without TLS
};

// How a handler answers: all at once, or a head followed by pieces.
class ServedReply {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  virtual ~ServedReply() = default;
  virtual void Send(int status, std::string_view body, const Fields& headers) = 0;
  virtual void Begin(int status, const Fields& headers) = 0;
  virtual void Piece(std::string_view bytes) = 0;
  virtual void End() = 0;
  // Returns when the client ends the exchange, or either side the connection.
  virtual void WaitForEnd() = 0;

  void Send(int status, std::string_view body) { Send(status, body, {}); }
  void Begin(int status) { Begin(status, {}); }
  // Closes the connection without completing the answer.
  void Break() { broken_ = true; }

  bool broken() const { return broken_; }

 private:
  bool broken_ = false;
};

class HttpServer {
 public:
  struct Options {
    const TlsIdentity* identity = nullptr;  // null: no TLS
    std::string client_authority;           // PEM; clients are asked for a certificate
    // If set, every connection is served by this, after the TLS handshake.
    std::function<void(ServedConnection&)> raw{};
    // HTTP/2 is offered, and its requests go to the same handler.
    bool speaks_http2 = false;
    // If set, HTTP/2 is offered, and clients that choose it are served by this.
    std::function<void(ServedConnection&)> http2{};
  };
  using Handler = std::function<void(const ServedRequest& request, ServedReply& reply)>;

  explicit HttpServer(Handler handler) : HttpServer(std::move(handler), Options()) {}
  HttpServer(Handler handler, Options options);
  ~HttpServer();

  std::string url() const;
  int port() const { return port_; }
  int connections() const { return accepted_; }

 private:
  void Accept();
  void Serve(ServedConnection& connection);

  const Handler handler_;
  const Options options_;
  SSL_CTX* tls_ = nullptr;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> accepted_{0};

  std::mutex mutex_;
  // Guarded by mutex_.
  bool stopping_ = false;
  std::vector<std::shared_ptr<ServedConnection>> open_;
  std::vector<std::thread> threads_;

  std::thread acceptor_;
};

}  // namespace berth::http
