// What all requests over libcurl share: the options for a server, and the sockets they go through.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "http/curl_library.h"
#include "http/exchange.h"
#include "http/server.h"
#include "http/transport_options.h"

namespace berth::http {

// When each open connection was last heard of. A connection goes by its local port: that is what libcurl tells about
// the one that a request goes out on. Used on the transport's thread only.
class CurlConnections {
 public:
  explicit CurlConnections(base::Duration silence) : silence_(silence) {}

  // Makes `easy` use sockets that are known here and that the kernel watches.
  void Attach(CURL* easy);
  // A request goes out on it.
  void Joined(int port, SteadyTime now) { heard_.try_emplace(port, now); }
  void Heard(int port, SteadyTime now);
  // A request got no answer in time: gives up its connection if that has been silent for too long.
  void Suspect(int port, SteadyTime now);
  // Grows whenever something is heard.
  uint64_t activity() const { return activity_; }

 private:
  static curl_socket_t Open(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int Close(void* self, curl_socket_t socket);

  const base::Duration silence_;
  uint64_t activity_ = 0;
  std::unordered_set<curl_socket_t> open_;
  std::unordered_map<int, SteadyTime> heard_;  // by local port
};

// What is the same for all requests to a server. Immutable.
class CurlSetup {
 public:
  // `server` must outlive this.
  CurlSetup(const Server& server, const TransportOptions& options);
  ~CurlSetup() { Curl().slist_free_all(connect_to_); }
  CurlSetup(const CurlSetup&) = delete;
  CurlSetup& operator=(const CurlSetup&) = delete;

  void Apply(CURL* easy) const;

  const Server& server() const { return server_; }
  // Goes before the path of a request.
  const std::string& base_url() const { return base_url_; }
  // Whether the Host header has to be given, as the URL has another name.
  bool renamed() const { return connect_to_ != nullptr; }

 private:
  void ApplyProxy(CURL* easy) const;

  const Server& server_;
  const base::Duration connect_timeout_;
  std::string base_url_;
  std::string proxy_;
  curl_slist* connect_to_ = nullptr;
};

}  // namespace berth::http
