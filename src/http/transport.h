// Transport: HTTP exchanges with one API server, many at a time, authenticated as the kubeconfig says. Thread-safe.
// Handlers run on the transport's own thread and must not block it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method = "GET";
  std::string path;  // with its query, below the server's address: "/api/v1/nodes?limit=500"
  Headers headers{};
  std::string body{};
  base::Duration timeout{};       // of the whole exchange; 0: none
  base::Duration idle_timeout{};  // without a byte of answer, for watches, which have no known end; 0: none
  // The server is throttled while kPacedBytes have been passed to `on_data` and not been reported by Consumed().
  // Without this, and for compressed answers, the transport takes whatever arrives.
  bool paced = false;
  // Waits for no other requests, however many of them are queued or in flight: for leases, which are renewed in time or
  // lost.
  bool urgent = false;
};

// With a quarter of this, the first list of 50,000 pods stopped and resumed so often that client and server used half
// as much CPU time again.
inline constexpr size_t kPacedBytes = size_t{1} << 20;

struct ResponseHead {
  int status = 0;
  Headers headers{};  // names in lower case

  // "" when there is no such header.
  std::string_view Find(std::string_view name) const;
};

struct Response {
  ResponseHead head;
  std::string body;
};

// One exchange as it comes in: `on_head` at most once, then `on_data` any number of times, then `on_done` exactly once.
// An error in `on_done` is one of the connection (kUnavailable, kDeadlineExceeded), never an HTTP status.
struct ResponseHandler {
  std::function<void(const ResponseHead& head)> on_head;
  std::function<void(std::string_view bytes)> on_data;
  std::function<void(Result<void> ended)> on_done;
};

using CallId = uint64_t;

class Transport {
 public:
  virtual ~Transport() = default;

  virtual CallId Start(Request request, ResponseHandler handler) = 0;
  // Ends the exchange early; `on_done` is still called, with kUnavailable. No-op if the exchange has ended.
  virtual void Cancel(CallId call) = 0;
  // The caller has used this many more bytes of a paced answer. Costs a wake-up: best called with large amounts.
  virtual void Consumed(CallId /*call*/, size_t /*bytes*/) {}

  // The whole answer at once, by callback or by blocking (never on a handler's thread).
  CallId Send(Request request, std::function<void(Result<Response>)> done);
  Result<Response> SendAndWait(Request request);
};

}  // namespace berth::http
