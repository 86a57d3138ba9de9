// A tiny HTTP server on loopback, with or without TLS, for tests: a thread for every connection, a port that the kernel
// chooses, and answers that a test can hold back or break off. Bytes that are not HTTP/1 can be had as well.
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
  // Reads a request of HTTP/1; false at the end of the connection.
  bool ReadRequest(ServedRequest& request);
  void MakeNonBlocking();
  // After that: so many bytes, 0 for none at the moment; nothing when the connection has ended.
  std::optional<size_t> ReadSome(char* data, size_t size);
  int fd() const { return socket_; }
  bool ReadExactly(char* data, size_t size);
  bool ReadLine(std::string& line);
  bool Write(std::string_view bytes);
  // Until the client or the server ends the connection.
  void WaitForEnd();
  void Shutdown();  // from any thread
  void CloseTls();  // says, under TLS, that no more will come
  bool SpeaksHttp2() const;
  std::string ClientName() const;
  std::string ServerName() const;

 private:
  const int socket_;
  SSL* const ssl_;  // null without TLS
};

// How a handler answers: the whole at once, or a head and then pieces.
class ServedReply {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  virtual ~ServedReply() = default;
  virtual void Send(int status, std::string_view body, const Fields& headers) = 0;
  virtual void Begin(int status, const Fields& headers) = 0;
  virtual void Piece(std::string_view bytes) = 0;
  virtual void End() = 0;
  // Until the client ends the exchange, or anybody the connection.
  virtual void WaitForEnd() = 0;

  void Send(int status, std::string_view body) { Send(status, body, {}); }
  void Begin(int status) { Begin(status, {}); }
  // Leaves the answer as it is and closes the connection.
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
    // Given, every connection is served by this, once TLS is there.
    std::function<void(ServedConnection&)> raw{};
    // HTTP/2 is offered, and what comes over it goes to the same handler.
    bool speaks_http2 = false;
    // Given, HTTP/2 is offered, and those who take it are served by this.
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
