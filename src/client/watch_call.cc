#include "client/watch_call.h"

#include <utility>

namespace berth::client {
namespace {

// Seldom enough to cost nothing, often enough that the server need not wait.
constexpr size_t kReportEvery = http::kPacedBytes / 4;

}  // namespace

std::shared_ptr<WatchCall> WatchCall::Start(http::Transport& transport, base::Loop& loop, http::Request request,
                                            std::function<void(Arrival)> on_arrival) {
  std::shared_ptr<WatchCall> call(new WatchCall(transport, loop, std::move(on_arrival)));
  request.paced = true;
  call->call_ = transport.Start(
      std::move(request),
      {
          .on_head =
              [call](const http::ResponseHead& head) { Note(call, [&](Arrival& arrival) { arrival.head = head; }); },
          .on_data = [call](std::string_view bytes) { Note(call, [&](Arrival& arrival) { arrival.data += bytes; }); },
          .on_done =
              [call](Result<void> ended) { Note(call, [&](Arrival& arrival) { arrival.ended = std::move(ended); }); },
      });
  return call;
}

void WatchCall::Cancel() {
  if (!on_arrival_) return;
  on_arrival_ = nullptr;
  transport_.Cancel(call_);
}

void WatchCall::Note(const std::shared_ptr<WatchCall>& call, const std::function<void(Arrival&)>& note) {
  {
    std::lock_guard lock(call->mutex_);
    note(call->arrived_);
    if (std::exchange(call->awaited_, true)) return;
  }
  call->loop_.Post([call] { call->Fetch(); });
}

void WatchCall::Fetch() {
  Arrival arrival;
  {
    std::lock_guard lock(mutex_);
    std::swap(arrival, arrived_);
    awaited_ = false;
  }
  if (!on_arrival_) return;
  // A copy: the callback may cancel this call.
  const auto on_arrival = on_arrival_;
  unreported_ += arrival.data.size();
  on_arrival(std::move(arrival));
  if (!on_arrival_ || unreported_ < kReportEvery) return;
  transport_.Consumed(call_, std::exchange(unreported_, 0));
}

}  // namespace berth::client
