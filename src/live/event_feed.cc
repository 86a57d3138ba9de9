#include "live/event_feed.h"

#include <fmt/format.h>

#include <utility>

#include "inspect/render.h"

namespace berth::live {

namespace {

// After a broken connection.
constexpr std::chrono::milliseconds kFeedReconnectAfter(1000);

// Everything in a view except its attempts and its time.
std::string FeedCountsOf(const inspect::EventsView& view) {
  std::string text = fmt::format("{} {} {} {}", view.nodes, view.placed, view.sequence, view.about);
  for (const auto& [place, count] : view.lanes) text += fmt::format(" {}", count);
  return text;
}

}  // namespace

EventFeed::View EventFeed::Newest() {
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (looking_ || (last_look_at_ && now - *last_look_at_ < pause_)) return newest_;
    looking_ = true;
    last_look_at_ = now;
  }
  View view = look_();
  const std::lock_guard lock(mutex_);
  looking_ = false;
  if (view) newest_ = std::move(view);
  return newest_;
}

std::string EventReader::Next() {
  const EventFeed::View newest = feed_.Newest();
  if (!newest) return "";
  std::string counts = FeedCountsOf(*newest);
  if (counts == counts_) return "";
  counts_ = std::move(counts);
  inspect::EventsView fresh = *newest;
  // A number from before this scheduler was started is ignored.
  const uint64_t after = after_ > fresh.sequence ? 0 : after_;
  std::erase_if(fresh.attempts, [&](const scheduler::AttemptRecord& attempt) { return attempt.sequence <= after; });
  after_ = fresh.sequence;
  return inspect::ToEvent(fresh, kFeedReconnectAfter);
}

}  // namespace berth::live
