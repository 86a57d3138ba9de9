// Inspection: the pages below /debug/berth/, which show what the scheduler knows: its queue, its nodes, its last
// decisions, and why a pod is where it is. Read only. They can show other things than a scheduler, too (Inspected).
//
// A page consists of a look, which runs on the scheduling thread between cycles, and its rendering, which runs on the
// server's worker. Looks are kept short by limits on what they may return; an explanation, which asks every plugin
// about every node, has a time budget and omits what does not fit. One explanation runs at a time and one more may wait
// for it; after each, scheduling has four times as long for itself. So explanations, however many are requested, take
// at most a fifth of that thread's time.
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
    // How long an explanation may occupy the scheduling thread, roughly.
    base::Duration explain_budget = std::chrono::milliseconds(100);
    // Unset: always. A standby has nothing to show.
    std::function<bool()> is_leader{};
    // Used to distinguish our own pages from those of another origin.
    std::string scheme = "https";
  };

  // The loop must outlive it.
  Inspection(SchedulingLoop& loop, Options options)
      : Inspection(std::make_unique<InspectedLoop>(loop), std::move(options)) {}
  Inspection(std::unique_ptr<Inspected> inspected, Options options);

  // For paths that begin with serving::kDebugPrefix. A stream that it returns must end before this is destroyed.
  serving::HttpResponse Serve(const serving::HttpRequest& request);

 private:
  // The result of `look` on the scheduling thread; unset if that took too long.
  template <class Look>
  auto Ask(Look look) -> std::optional<decltype(look())>;

  serving::HttpResponse ServeQueue(const serving::HttpRequest& request);
  serving::HttpResponse ServeDecisions(const serving::HttpRequest& request);
  serving::HttpResponse ServeNodes(const serving::HttpRequest& request);
  serving::HttpResponse ServeEvents(const serving::HttpRequest& request);
  serving::HttpResponse ServePod(const serving::HttpRequest& request, std::string_view rest);

  // Why there is nothing to show; empty if there is.
  std::string Silence() const;

  const std::unique_ptr<Inspected> inspected_;
  const Options options_;
  EventFeed feed_;
  std::atomic<int> explaining_ = 0;  // running, or waiting for their turn
  std::binary_semaphore explain_turn_{1};
  std::chrono::steady_clock::time_point next_explanation_{};  // not before this; used by the one whose turn it is
};

}  // namespace berth::live
