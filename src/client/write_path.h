// WritePath: the one path for writes, so that important writes never wait behind reports.
//
//   Submit ──▶ queue of its class ─a token, a free slot in flight──▶ in flight ──▶ done
//                 ▲    ▲                                                  │
//                 │    └── held: Retry-After, or a backoff ◀──────────────┘
//                 └── parked, while another write of the same object is in progress
//
// Classes, the most urgent first: lease, bind, evict, status, events. Each has a budget: a bounded queue, a number of
// calls in flight, and a share of the rate that it gets however busy the more urgent ones are, so that nothing starves.
// A full queue rejects writes (kUnavailable); callers can check before (CanAccept) and are notified when there is room
// again (on_room). No future token is promised: a token goes to the most urgent write when it becomes available. The
// rate never exceeds that of the bucket; one token is reserved for leases, which do not come through here but take from
// the same bucket.
//
// Objects: at most one call per object is in flight, and while it is being retried no other overtakes it, unless that
// is more urgent. A request is made right before each attempt, so that a retry carries the newest wanted state. A write
// that is no longer needed is not sent and ends with kNothingToWrite: because make() says so, or because a bind has
// overtaken a status of its pod, which the bind makes obsolete. Retries keep their class and their place in the queue.
//
// Deterministic: everything happens on the loop, in the loop's time. Submit and CanAccept are thread-safe.
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
  // The fraction of the tokens that the class gets while more urgent classes want them all.
  double share = 0;
  // The fraction of the burst that it leaves to more urgent ones, so that these need not even wait for a token.
  double leaves = 0;
};
using WriteBudgets = std::array<WriteBudget, kWriteClasses>;
// In flight, together with one list or watch per kind: below the 100 streams that a server allows on a connection.
inline constexpr WriteBudgets kDefaultWriteBudgets = {{
    {.max_waiting = 0, .max_in_flight = 0},  // leases are never queued
    {.max_waiting = 10'000, .max_in_flight = 48},
    {.max_waiting = 10'000, .max_in_flight = 8, .share = 0.2},
    {.max_waiting = 10'000, .max_in_flight = 8, .share = 0.1, .leaves = 0.25},
    {.max_waiting = 10'000, .max_in_flight = 8, .share = 0.02, .leaves = 0.5},
}};

// Observes a write path. Called on the loop, except for OnRejected, which is called by the submitter.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  // An attempt is sent, `waited` after it was submitted or could be retried.
  virtual void OnSent(WriteClass, std::string_view /*method*/, base::Duration /*waited*/) {}
  // A lease or a read is sent, which is never queued. From any thread.
  virtual void OnUnlimited(std::string_view /*method*/) {}
  virtual void OnDepth(WriteClass, size_t /*waiting*/, size_t /*in_flight*/) {}
  virtual void OnRetried(WriteClass) {}
  // The queue was full.
  virtual void OnRejected(WriteClass) {}
  // A write was not sent because a newer one of its object supersedes it.
  virtual void OnCollapsed(WriteClass) {}
};

enum class Again {
  kNo,
  kAtOnce,  // it was a read that the write needed
  kLater,   // after a backoff, as often as a repeatable write is retried
};

struct Write {
  WriteClass write_class = WriteClass::kBind;
  std::string key{};  // of the object; "" for writes about an object that only one caller writes
  // Makes the current request. Called on the loop before each attempt; returns nothing if there is nothing left to
  // write.
  std::function<std::optional<http::Request>()> make;
  // Called with each answer first, and may request another attempt whatever the answer.
  std::function<Again(const ApiAnswer&)> again{};
  // Idempotent: also retried, nine times at most, on conflicts, 5xx and calls without an answer. Other writes are
  // retried only if the server sends Retry-After of up to a minute, ten times at most, as in client-go.
  bool repeatable = false;
  // Goes ahead of the others of its class, because the end of an earlier call waits for it, and is never retried: its
  // caller does that.
  bool first = false;
  std::function<void(ApiAnswer)> done;  // once, on the loop
};

// The code of an answer to a write that was no longer needed; a success.
inline constexpr int kNothingToWrite = 204;

class WritePath {
 public:
  struct Options {
    std::shared_ptr<TokenBucket> bucket{};  // none: no limit
    WriteBudgets budgets = kDefaultWriteBudgets;
    WriteObserver* observer = nullptr;  // must outlive this
    // A queue that was full has a quarter of its places free. On the loop.
    std::function<void(WriteClass)> on_room{};
    uint64_t seed = 0;  // of the jitter of retries
  };
  // Sends one attempt; the answer arrives on any thread, even before this returns.
  using SendAttempt = std::function<void(http::Request request, std::function<void(ApiAnswer)> answer)>;

  WritePath(base::Loop& loop, SendAttempt send, Options options);
  ~WritePath();  // drops what waits or is in flight without calling done
  WritePath(const WritePath&) = delete;
  WritePath& operator=(const WritePath&) = delete;

  void Submit(Write write);
  // Whether the queue has room. Another thread may take it first.
  bool CanAccept(WriteClass write_class) const;

  // The two halves of Submit. A reserved place must be used by SubmitReserved, on the loop, or given back.
  bool Reserve(WriteClass write_class);
  void SubmitReserved(Write write);
  void Release(WriteClass write_class);
  // Counts a write that has been merged into another one.
  void NoteCollapsed(WriteClass write_class);

  // Thread-safe.
  size_t waiting(WriteClass write_class) const;
  size_t in_flight(WriteClass write_class) const;
  // When a write last ended without an answer, in the loop's time: it may still take effect. Unset if none has.
  std::optional<base::Duration> last_unanswered() const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
