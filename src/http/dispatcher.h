// Dispatcher: what all transports have in common, whatever carries their exchanges: which request is sent when, with
// which credentials and timeouts, and what its outcome means.
//
// One thread runs all exchanges and the handlers; a second one fetches credentials, so that a slow plugin delays only
// the requests that need it. Timeouts start when a request is handed over, so they include the time it is queued or
// waits for credentials.
//
// A request that is answered 401 is sent once more, with fresh credentials, if the source may have any; the handler
// sees only the second answer.
//
//   Start → incoming_ → queued → in flight → done
//                          ^          | 401: once; not processed by the server: a few times; unsuitable pool
//                          +----------+
//
// An exchange leaves calls_ exactly once, through End(). The destructor ends pending exchanges with kUnavailable and
// returns after the last handler has.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "http/connection_pool.h"
#include "http/credentials_fetcher.h"
#include "http/exchange.h"
#include "http/server.h"
#include "http/transport_options.h"
#include "http/wake_signal.h"

namespace berth::http {

class Dispatcher final : private ExchangeListener {
 public:
  // `server` and `observer`, which may be null, must outlive this. `fallback` makes the pool to use when the first
  // turns out to be unsuitable; both are called on the dispatcher's thread.
  Dispatcher(const Server& server, TransportOptions options, RequestObserver* observer, MakePool make_pool,
             MakePool fallback = {});
  ~Dispatcher() override;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Thread-safe.
  CallId Start(Request request, ResponseHandler handler);
  void Cancel(CallId call);
  void Consumed(CallId call, size_t bytes);

 private:
  struct Mail {
    std::vector<std::unique_ptr<Exchange>> incoming;
    std::vector<CallId> canceled;
    std::vector<std::pair<CallId, size_t>> consumed;
    std::optional<Result<CredentialsPtr>> fetched;

    bool empty() const { return incoming.empty() && canceled.empty() && consumed.empty() && !fetched; }
  };

  void Run();
  // Adds to the mailbox; wakes the thread if it sleeps.
  template <class Add>
  void Post(const Add& add);
  // Returns false when the thread has to stop.
  bool ReadMailbox();
  void Sleep();
  // Exchanges of one kind, with a limit of their own: no kind delays another.
  struct Lane {
    const int limit;              // in flight
    std::deque<CallId> queued{};  // may hold calls that have ended
    int active = 0;

    bool CanStart() const { return !queued.empty() && active < limit; }
  };

  void Queue(Exchange& exchange, bool first);
  void GrantCredentials(const Result<CredentialsPtr>& fetched);
  void RunTimers();
  void SetTimer(Exchange& exchange, SteadyTime when);
  void OnTimer(Exchange& exchange, SteadyTime now);
  void StartQueued(Lane& lane);
  void Send(Exchange& exchange, CredentialsPtr credentials);
  bool CanStart() const;
  void TakeOff(Exchange& exchange);
  void End(Exchange& exchange, Result<void> ended);
  void EndAll();
  void FallBack();
  Lane& LaneOf(const Exchange& exchange);

  void OnEnded(Exchange& exchange, Result<void> ended) override;
  void OnReturned(Exchange& exchange, const Error& why) override;

  // Constant after construction.
  const Server& server_;
  const TransportOptions options_;
  RequestObserver* const observer_;
  const MakePool make_pool_, fallback_;

  std::atomic<CallId> last_id_{0};
  WakeSignal wake_;

  std::mutex mutex_;
  // Guarded by mutex_.
  Mail mail_;
  bool stopping_ = false;
  bool asleep_ = false;

  // Used by the transport's thread only.
  std::unique_ptr<ConnectionPool> pool_;
  Mail reading_;  // kept for its memory
  std::unordered_map<CallId, std::unique_ptr<Exchange>> calls_;
  std::set<std::pair<SteadyTime, CallId>> timers_;
  Lane urgent_, requests_, watches_;
  bool fetching_ = false;
  SteadyTime woken_{};  // when there last was something to do

  std::optional<CredentialFetcher> fetcher_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace berth::http
