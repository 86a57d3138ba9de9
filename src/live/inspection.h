// Inspection: the pages below /debug/berth/, which tell what the scheduler knows: its queue, its nodes, its last
// decisions, and why a pod is where it is. Read only. Other things than a scheduler can be told of, too (Inspected).
//
// A page is made of a look that runs on the scheduling thread between cycles, and of its text, which the server's
// worker writes. Looks are short by what they may return; an explanation, which asks every plugin about every node, has
// a budget of time, of which it leaves out what it cannot afford. One explanation runs at a time and one more may wait
// for it; after each, scheduling has four times as long for itself. So whoever asks, however often, takes a fifth of
// that thread at most.
//
// Serve is thread-safe and may block; it must not be called on the scheduling thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>

#include "base/clock.h"
#include "live/event_feed.h"
#include "live/inspected.h"
#include "live/scheduling_loop.h"
#include "serving/http.h"

namespace berth::live {

class Inspection {
 public:
  struct Options {
    // How long a page waits for its turn.
    base::Duration patience = std::chrono::seconds(5);
    // How long an explanation may keep the scheduling thread, roughly.
    base::Duration explain_budget = std::chrono::milliseconds(100);
    // Missing: always. A standby has nothing to tell.
    std::function<bool()> is_leader{};
    // By which a page of ours is told from one of another origin.
    std::string scheme = "https";
  };

  // The loop outlives it.
  Inspection(SchedulingLoop& loop, Options options)
      : Inspection(std::make_unique<InspectedLoop>(loop), std::move(options)) {}
  Inspection(std::unique_ptr<Inspected> inspected, Options options);

  // For paths that begin with serving::kDebugPrefix. A stream that it gives must have ended before this does.
  serving::HttpResponse Serve(const serving::HttpRequest& request);

 private:
  // The answer of `look` on the scheduling thread; unset when that took too long.
  template <class Look>
  auto Ask(Look look) -> std::optional<decltype(look())>;

  serving::HttpResponse ServeQueue(const serving::HttpRequest& request);
  serving::HttpResponse ServeDecisions(const serving::HttpRequest& request);
  serving::HttpResponse ServeNodes(const serving::HttpRequest& request);
  serving::HttpResponse ServeEvents(const serving::HttpRequest& request);
  serving::HttpResponse ServePod(const serving::HttpRequest& request, std::string_view rest);

  // Why there is nothing to tell; empty when there is.
  std::string Silence() const;

  const std::unique_ptr<Inspected> inspected_;
  const Options options_;
  EventFeed feed_;
  std::atomic<int> explaining_ = 0;  // under way, or waiting for their turn
  std::binary_semaphore explain_turn_{1};
  std::chrono::steady_clock::time_point next_explanation_{};  // not before; for who has the turn
};

}  // namespace berth::live
