// Exchange: one request and its answer, whatever it is carried by. Internal to the transports; used on the dispatcher's
// thread once it has been handed over.
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

  // It goes out (again): the headers it has to have, those of the credentials and the configuration among them.
  Result<Headers> Begin(CredentialsPtr credentials);

  // From the pool. Heads of status 1xx are not passed on.
  void TakeHead(int status, Headers headers);
  // False: the body is not what its head says, the exchange is to be ended with CheckBody().
  bool TakeData(std::string_view bytes);
  // After the last byte: an error unless the body is whole and could be read.
  Result<void> CheckBody() const;

  // The answer was 401 and other credentials may do better: to be sent again instead of being ended. The handler has
  // seen nothing of it.
  bool refused() const { return refused_; }
  void Retry();

  // Tells the handler and the observer; nothing may be done with the exchange after that.
  void Finish(Result<void> ended);

  // `METHOD "URL": why`, the way Go prints it.
  Error Failed(ErrorCode code, std::string_view why) const;

  const Request& request() const { return request_; }
  bool is_watch() const {
    return request_.timeout == base::Duration::zero() || request_.idle_timeout > base::Duration::zero();
  }
  // The server is to be held back until what it sent has been used. What is used of a compressed answer says nothing
  // about how much was sent of it, so that one is taken as it comes.
  bool is_paced() const { return request_.paced && !decoder_; }
  bool answered() const { return answered_; }
  bool has_begun() const { return begun_ != SteadyTime{}; }
  SteadyTime heard() const { return heard_; }
  // When the silence has been too long.
  SteadyTime idle_deadline() const;

  const CallId id;
  SteadyTime deadline = SteadyTime::max();  // of the whole exchange

  // The dispatcher's.
  SteadyTime timer{};      // the entry in its timers; zero: none
  bool queued = false;     // waits for its turn
  int returned = 0;        // by the pool, unseen by the server
  CredentialsPtr granted;  // fetched for it, good for one use even if they have expired

  // The pool's; null: not on its way.
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
  bool refused_ = false;   // by 401, which the handler has not seen
  bool retried_ = false;
  int status_ = 0;
  size_t received_ = 0;
  bool accepts_gzip_ = false;  // of our own accord: it is for us to decode
  std::optional<GzipDecoder> decoder_;
  std::optional<Error> body_error_;
  SteadyTime begun_{};  // zero: never was on its way
  SteadyTime heard_{};
};

}  // namespace berth::http
