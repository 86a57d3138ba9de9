// Exchange: one request and its answer, independent of the protocol. Internal to the transports; used only on the
// dispatcher's thread once it has been handed over.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/credentials.h"
#include "http/gzip_decoder.h"
#include "http/request_observer.h"
#include "http/server.h"
#include "http/transport.h"

namespace berth::http {

using SteadyTime = std::chrono::steady_clock::time_point;

// What a pool keeps about an exchange that is on one of its connections.
struct PoolState {
  virtual ~PoolState() = default;
};

class Exchange {
 public:
  // `observer` may be null; server and observer must outlive this.
  Exchange(CallId id, Request request, ResponseHandler handler, const Server& server, RequestObserver* observer);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Called each time the request is about to be sent; returns its headers, including those of the credentials and the
  // configuration.
  Result<Headers> Begin(CredentialsPtr credentials);

  // Called by the pool. Heads with a 1xx status are not passed on.
  void TakeHead(int status, Headers headers);
  // Returns false if the body does not match its head; the exchange must then be ended with CheckBody().
  bool TakeData(std::string_view bytes);
  // After the last byte: an error unless the body is complete and could be decoded.
  Result<void> CheckBody() const;

  // The answer was 401 and other credentials may work: the request must be sent again instead of being ended. The
  // handler has seen none of it.
  bool refused() const { return refused_; }
  void Retry();

  // Notifies the handler and the observer; the exchange must not be used afterwards.
  void Finish(Result<void> ended);

  // `METHOD "URL": why`, the way Go prints it.
  Error Failed(ErrorCode code, std::string_view why) const;

  const Request& request() const { return request_; }
  bool is_watch() const {
    return request_.timeout == base::Duration::zero() || request_.idle_timeout > base::Duration::zero();
  }
  // The server must be throttled until the caller has used what it sent. How much of a compressed answer was used says
  // nothing about how much was sent, so a compressed answer is not paced.
  bool is_paced() const { return request_.paced && !decoder_; }
  bool answered() const { return answered_; }
  bool has_begun() const { return begun_ != SteadyTime{}; }
  SteadyTime heard() const { return heard_; }
  // When the idle timeout expires.
  SteadyTime idle_deadline() const;

  const CallId id;
  SteadyTime deadline = SteadyTime::max();  // of the whole exchange

  // Used by the dispatcher.
  SteadyTime timer{};      // the entry in its timers; zero: none
  bool queued = false;     // waits for its turn
  int returned = 0;        // how often the pool returned it as not processed by the server
  CredentialsPtr granted;  // fetched for this exchange; valid for one use even if they have expired

  // Used by the pool; null: not in flight.
  std::unique_ptr<PoolState> pool_state;

 private:
  bool HasHeader(std::string_view name) const;
  void ChooseDecoder(Headers& headers);
  Result<void> CheckRequest(const Headers& headers) const;

  Request request_;
  ResponseHandler handler_;
  const Server& server_;
  RequestObserver* const observer_;

  CredentialsPtr credentials_;
  bool answered_ = false;  // the head is complete
  bool refused_ = false;   // by a 401 that the handler has not seen
  bool retried_ = false;
  int status_ = 0;
  size_t received_ = 0;
  bool accepts_gzip_ = false;  // the transport asked for gzip by itself, so it has to decode it
  std::optional<GzipDecoder> decoder_;
  std::optional<Error> body_error_;
  SteadyTime begun_{};  // zero: was never sent
  SteadyTime heard_{};
};

}  // namespace berth::http
