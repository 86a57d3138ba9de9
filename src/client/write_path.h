// WritePath: the one way out for writes, so that what matters never waits behind what reports.
//
//   Submit ──▶ line of its class ──a token, a free place in flight──▶ in flight ──▶ done
//                 ▲    ▲                                                  │
//                 │    └── held: Retry-After, or a backoff ◀──────────────┘
//                 └── parked, while another write of the same object is under way
//
// Classes, the most urgent first: lease, bind, evict, status, events. Each has a budget: a bounded line, a number of
// calls in flight, and a share of the rate that it gets however busy the more urgent ones are, so that nothing starves.
// A line that is full refuses (kUnavailable); callers can see it coming (CanAccept) and are told when there is room
// again (on_room). Nobody is promised a token that is not there yet: a token goes to the most urgent write there is
// when it comes. The rate never exceeds that of the bucket; one token is left for leases, which do not come through
// here but take from the same bucket.
//
// Objects: at most one call of an object is in flight, and while it is tried again no other overtakes it, unless that
// is more urgent. A request is made right before each attempt, so that a retry carries the newest wanted state. A write
// that is not needed any more is not sent: make() says so, or a bind has overtaken a status of its pod, which the bind
// makes obsolete; it ends with kNothingToWrite. Retries keep their class and their place in line.
//
// Deterministic: all that happens, happens on the loop, in the loop's time. Submit and CanAccept are thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/loop.h"
#include "client/api_answer.h"
#include "client/token_bucket.h"
#include "http/transport.h"

namespace berth::client {

enum class WriteClass { kLease, kBind, kEvict, kStatus, kEvents };
inline constexpr size_t kWriteClasses = 5;
std::string_view NameOf(WriteClass write_class);

struct WriteBudget {
  size_t max_waiting = 0;
  size_t max_in_flight = 0;
  // The part of the tokens that it gets while more urgent classes want them all.
  double share = 0;
  // The part of the burst that it leaves to more urgent ones, so that these need not wait even for a token.
  double leaves = 0;
};
using WriteBudgets = std::array<WriteBudget, kWriteClasses>;
// In flight, together with one list or watch of each kind: below the 100 streams that a server allows on a connection.
inline constexpr WriteBudgets kDefaultWriteBudgets = {{
    {.max_waiting = 0, .max_in_flight = 0},  // leases are never in line
    {.max_waiting = 10'000, .max_in_flight = 48},
    {.max_waiting = 10'000, .max_in_flight = 8, .share = 0.2},
    {.max_waiting = 10'000, .max_in_flight = 8, .share = 0.1, .leaves = 0.25},
    {.max_waiting = 10'000, .max_in_flight = 8, .share = 0.02, .leaves = 0.5},
}};

// What there is to see of a write path. Called on the loop, but for OnRejected, which is called by the submitter.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  // An attempt goes out, `waited` after it was submitted or could be tried again.
  virtual void OnSent(WriteClass, std::string_view /*method*/, base::Duration /*waited*/) {}
  // A lease or a read goes out, which waits for nobody. From any thread.
  virtual void OnUnlimited(std::string_view /*method*/) {}
  virtual void OnDepth(WriteClass, size_t /*waiting*/, size_t /*in_flight*/) {}
  virtual void OnRetried(WriteClass) {}
  // The line was full.
  virtual void OnRejected(WriteClass) {}
  // A write was not sent because a newer one of its object says more.
  virtual void OnCollapsed(WriteClass) {}
};

struct Write {
  WriteClass write_class = WriteClass::kBind;
  std::string key{};  // of the object; "" for writes that are about none that anybody else writes
  // The request, as of now. Called on the loop before each attempt; nothing when there is nothing left to write.
  std::function<std::optional<http::Request>()> make;
  // The same however often it is applied: also tried again, nine times at most, on conflicts, 5xx and calls without an
  // answer. Others only when the server says Retry-After, ten times at most, as client-go does.
  bool repeatable = false;
  std::function<void(ApiAnswer)> done;  // once, on the loop
};

// The code of an answer to a write that was not needed any more; a success.
inline constexpr int kNothingToWrite = 204;

class WritePath {
 public:
  struct Options {
    std::shared_ptr<TokenBucket> bucket{};  // none: no limit
    WriteBudgets budgets = kDefaultWriteBudgets;
    WriteObserver* observer = nullptr;  // must outlive this
    // A line that was full has a quarter of its places free. On the loop.
    std::function<void(WriteClass)> on_room{};
    uint64_t seed = 0;  // of the jitter of retries
  };
  // Sends one attempt; the answer comes on any thread, even before this returns.
  using SendAttempt = std::function<void(http::Request request, std::function<void(ApiAnswer)> answer)>;

  WritePath(base::Loop& loop, SendAttempt send, Options options);
  ~WritePath();  // what waits or is in flight ends without a word
  WritePath(const WritePath&) = delete;
  WritePath& operator=(const WritePath&) = delete;

  void Submit(Write write);
  // Whether there is room in the line. Another thread may take it first.
  bool CanAccept(WriteClass write_class) const;

  // The two halves of Submit. A place in line must be used by SubmitReserved, on the loop, or given back.
  bool Reserve(WriteClass write_class);
  void SubmitReserved(Write write);
  void Release(WriteClass write_class);
  // Counts a write that has become part of another one.
  void NoteCollapsed(WriteClass write_class);

  // Thread-safe.
  size_t waiting(WriteClass write_class) const;
  size_t in_flight(WriteClass write_class) const;
  // When a write last ended without an answer, in the loop's time: it may still take effect. Unset when none has.
  std::optional<base::Duration> last_unanswered() const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
