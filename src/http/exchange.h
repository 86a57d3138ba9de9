// Exchange: one request and its answer, whatever it is carried by. Internal to the transports; used on the dispatcher's
// thread once it has been handed over.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "http/credentials.h"
#include "http/request_observer.h"
#include "http/server.h"
#include "http/transport.h"

namespace berth::http {

using SteadyTime = std::chrono::steady_clock::time_point;

// What a wire keeps about an exchange that is on it.
struct WireState {
  virtual ~WireState() = default;
};

class Exchange {
 public:
  // `observer` may be null; server and observer must outlive this.
  Exchange(CallId id, Request request, ResponseHandler handler, const Server& server, RequestObserver* observer);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // It goes out (again): the headers it has to have, those of the credentials and the configuration among them.
  Result<Headers> Begin(CredentialsPtr credentials);

  // From the wire. Heads of status 1xx are for the wire alone.
  void TakeHead(int status, Headers headers);
  void TakeData(std::string_view bytes);

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
  int returned = 0;        // by the wire, unseen by the server
  CredentialsPtr granted;  // fetched for it, good for one use even if they have expired

  // The wire's; null: not on its way.
  std::unique_ptr<WireState> wire_state;

 private:
  bool HasHeader(std::string_view name) const;

  Request request_;
  ResponseHandler handler_;
  const Server& server_;
  RequestObserver* const observer_;

  CredentialsPtr credentials_;
  bool answered_ = false;  // the head is complete
  bool refused_ = false;   // by 401, and the handler was not told
  bool retried_ = false;
  int status_ = 0;
  size_t received_ = 0;
  SteadyTime begun_{};  // zero: never was on its way
  SteadyTime heard_{};
};

}  // namespace berth::http
