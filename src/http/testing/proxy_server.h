// A proxy on loopback for tests: accepts CONNECT, or SOCKS 5 without a password, and forwards bytes; it answers plain
// requests itself.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "http/testing/http_server.h"

namespace berth::http {

class ProxyServer {
 public:
  struct Options {
    const TlsIdentity* identity = nullptr;  // null: it is not spoken to over TLS
    bool socks5 = false;
  };

  explicit ProxyServer(const Options& options);

  // "http://127.0.0.1:3128"; `user` may be "name:password".
  std::string url(const std::string& user = "") const;
  // The requests it received, each with its Proxy-Authorization: "CONNECT 127.0.0.1:6443 Basic …".
  std::vector<std::string> requests() const;

 private:
  void Serve(ServedConnection& client);
  void ServeSocks5(ServedConnection& client);
  void Note(std::string request);

  const Options options_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;  // guarded by mutex_
  HttpServer server_;                  // last: its threads use the others
};

}  // namespace berth::http
