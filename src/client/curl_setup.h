// One request and its answer on a libcurl handle, and what all of them share. Internal to CurlTransport.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "client/curl_transport.h"

namespace berth::client {

using SteadyTime = std::chrono::steady_clock::time_point;

// When each open connection was last heard of. A connection goes by its local port: that is what libcurl tells about
// the one that a request goes out on. Used on the transport's thread only.
class Connections {
 public:
  explicit Connections(base::Duration silence) : silence_(silence) {}

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
class ServerSetup {
 public:
  ServerSetup(RestConfig config, const CurlOptions& options);
  ~ServerSetup() { curl_slist_free_all(connect_to_); }
  ServerSetup(const ServerSetup&) = delete;
  ServerSetup& operator=(const ServerSetup&) = delete;

  void Apply(CURL* easy) const;

  const RestConfig& config() const { return config_; }
  const std::string& host() const { return host_; }
  // Goes before the path of a request.
  const std::string& base_url() const { return base_url_; }
  // Whether the Host header has to be given, as the URL has another name.
  bool renamed() const { return connect_to_ != nullptr; }

 private:
  void ApplyProxy(CURL* easy) const;

  const RestConfig config_;
  const base::Duration connect_timeout_;
  std::string host_;
  std::string base_url_;
  std::string proxy_;
  bool loopback_ = false;
  curl_slist* connect_to_ = nullptr;
};

class Exchange {
 public:
  // `observer` may be null; setup and observer must outlive this.
  Exchange(CallId id, Request request, ResponseHandler handler, const ServerSetup& setup, RequestObserver* observer);
  ~Exchange() { curl_slist_free_all(headers_); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Makes `easy` carry the request. `connections` must outlive its use.
  Result<void> Begin(CURL* easy, Connections& connections, CredentialsPtr credentials);
  // The handle is done with; the exchange may begin again.
  CURL* Release();
  // What libcurl's verdict means. `again` is set when the answer was 401 and other credentials may do better.
  Result<void> Judge(CURLcode code, bool& again);
  // Tells the handler and the observer; nothing may be done with the exchange after that.
  void Finish(Result<void> ended);

  // `METHOD "URL": why`, the way Go prints it.
  Error Failed(ErrorCode code, std::string_view why) const;

  bool is_watch() const { return request_.timeout == base::Duration::zero(); }

  const CallId id;
  SteadyTime deadline = SteadyTime::max();  // of the whole exchange
  SteadyTime held_until{};                  // by a rate limiter
  SteadyTime timer{};                       // the entry in the loop's timers; zero: none
  bool queued = false;                      // waits for its turn
  CredentialsPtr granted;                   // fetched for it, good for one use even if they have expired
  CURL* easy() const { return easy_; }      // null: not on its way
  int port() const { return port_; }
  // When the silence has been too long.
  SteadyTime idle_deadline() const;

 private:
  static int OnConnection(void* self, char* remote_ip, char* local_ip, int remote_port, int local_port);
  static size_t OnHeader(char* data, size_t size, size_t count, void* self);
  static size_t OnBody(char* data, size_t size, size_t count, void* self);
  void HeaderLine(std::string_view line);
  void EndHead();
  Result<void> BuildHeaders();
  Result<void> AddHeader(const std::string& name, const std::string& value);
  bool HasHeader(std::string_view name) const;
  void ApplyMethod();

  Request request_;
  ResponseHandler handler_;
  const ServerSetup& setup_;
  RequestObserver* const observer_;
  Connections* connections_ = nullptr;

  CURL* easy_ = nullptr;
  int port_ = 0;  // of its connection, on this side; 0: none yet
  curl_slist* headers_ = nullptr;
  CredentialsPtr credentials_;
  ResponseHead head_;
  bool answered_ = false;  // the head is complete
  bool refused_ = false;   // by 401, and the handler was not told
  bool retried_ = false;
  size_t received_ = 0;
  SteadyTime begun_{};  // zero: never was on its way
  SteadyTime heard_{};
  char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace berth::client
