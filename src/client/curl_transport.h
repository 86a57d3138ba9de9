// CurlTransport: the Transport over libcurl, with HTTP/2 where the server has it.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "client/rate_limit.h"
#include "client/rest_config.h"
#include "client/transport.h"

namespace berth::client {

// Told about every request, for metrics. Called from the transport's thread and, for the rate limiter, from the
// caller's; must be quick.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  // The head of an answer came after `took`, or (status 0) none will come. A request that is sent again with other
  // credentials is told twice.
  virtual void OnAnswer(std::string_view /*method*/, std::string_view /*host*/, int /*status*/,
                        base::Duration /*took*/) {}
  // The exchange is over; bytes of the bodies.
  virtual void OnEnd(std::string_view /*method*/, std::string_view /*host*/, size_t /*sent*/, size_t /*received*/) {}
  virtual void OnRateLimited(std::string_view /*method*/, std::string_view /*host*/, base::Duration /*delay*/) {}
  // The same request goes out once more, after 401 and with other credentials.
  virtual void OnRetry(std::string_view /*method*/, std::string_view /*host*/, int /*status*/) {}
};

struct CurlOptions {
  // Exchanges with a timeout: so many at a time, the others wait in line. Below what servers allow on one HTTP/2
  // connection (100 and more): libcurl opens another connection for every stream over that.
  int max_requests = 64;
  // Those without one are watches. They have a budget of their own, so that neither holds up the other.
  int max_watches = 256;
  base::Duration connect_timeout = std::chrono::seconds(30);
  // A connection on which a request got no answer in time, and on which nothing else was heard for this long either, is
  // given up, with all that is on it. The kernel does the same when the other side acknowledges nothing.
  base::Duration silence = std::chrono::seconds(15);
};

// One thread runs all exchanges, and the handlers; a second one fetches credentials, so that a slow plugin holds up
// only the requests that need it. Timeouts count from when a request is handed over (or let go by a rate limiter), so
// they include waiting in line and for credentials.
//
// A request that is answered 401 is sent once more, with fresh credentials, if the source can have any; the handler
// sees only the second answer. libcurl by itself repeats a request when a connection that was kept from before turns
// out to be dead without a byte of answer.
//
// The destructor ends what is pending with kUnavailable and returns when the last handler has.
class CurlTransport final : public Transport {
 public:
  // `observer` may be null, and must outlive this.
  explicit CurlTransport(RestConfig config, CurlOptions options = {}, RequestObserver* observer = nullptr);
  ~CurlTransport() override;

  CallId Start(Request request, ResponseHandler handler) override;
  void Cancel(CallId call) override;

  // As Start(), after `delay`.
  CallId StartAfter(base::Duration delay, Request request, ResponseHandler handler);

  const RestConfig& config() const;
  RequestObserver* observer() const;
  std::string_view host() const;  // "10.0.0.1:6443", as metrics name it

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// Sends through another transport, no faster than its limiter allows: upstream's client for events and the one for
// leases have buckets of their own, while berth's share connections. Both must outlive this.
class LimitedTransport final : public Transport {
 public:
  LimitedTransport(CurlTransport& base, RateLimiter& limiter) : base_(base), limiter_(limiter) {}

  CallId Start(Request request, ResponseHandler handler) override;
  void Cancel(CallId call) override { base_.Cancel(call); }

 private:
  CurlTransport& base_;
  RateLimiter& limiter_;
};

}  // namespace berth::client
