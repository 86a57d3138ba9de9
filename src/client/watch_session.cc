#include "client/watch_session.h"

#include <fmt/core.h>

#include <utility>

#include "client/api_path.h"

namespace berth::client {
namespace {

// How much longer than requested from the server a watch may take before the client ends it.
constexpr base::Duration kWatchSlack = std::chrono::seconds(30);

http::Request MakeRequest(const ApiClient& client, const WatchQuery& query) {
  const bool initial = query.send_initial_events;
  http::Request request;
  request.path = query.custom ? query.custom->CollectionPath() : CollectionPath(query.kind);
  request.path += Query({
      {"watch", "true"},
      {"allowWatchBookmarks", "true"},
      {"labelSelector", query.label_selector},
      {"fieldSelector", query.field_selector},
      {"resourceVersion", query.resource_version},
      {"resourceVersionMatch", initial ? "NotOlderThan" : ""},
      {"sendInitialEvents", initial ? "true" : ""},
      {"timeoutSeconds", std::to_string(query.timeout_seconds)},
  });
  request.headers = query.custom ? AcceptCustomObjects() : client.AcceptObjects();
  request.timeout = std::chrono::seconds(query.timeout_seconds) + kWatchSlack;
  request.idle_timeout = query.idle_timeout;
  return request;
}

}  // namespace

std::shared_ptr<WatchSession> WatchSession::Start(ApiClient& client, base::Loop& loop, const WatchQuery& query,
                                                  std::function<void(Arrival)> on_arrival) {
  std::shared_ptr<WatchSession> session(new WatchSession(query, loop.Now(), std::move(on_arrival)));
  session->call_ = WatchCall::Start(client.transport(), loop, MakeRequest(client, query),
                                    [weak = std::weak_ptr<WatchSession>(session)](WatchCall::Arrival bytes) {
                                      if (const std::shared_ptr<WatchSession> self = weak.lock())
                                        self->Take(std::move(bytes));
                                    });
  return session;
}

void WatchSession::Cancel() {
  on_arrival_ = nullptr;
  if (call_ != nullptr) std::exchange(call_, nullptr)->Cancel();
}

void WatchSession::Take(WatchCall::Arrival bytes) {
  if (!on_arrival_) return;
  if (bytes.head) {
    head_ = std::move(bytes.head);
    if (IsSuccess(head_->status)) stream_.emplace(head_->Find("content-type").starts_with(kProtobufType), custom_);
  }
  Arrival arrival;
  if (stream_) {
    stream_->Append(std::move(bytes.data));
    Decode(arrival);
  } else {
    refusal_ += bytes.data;
  }
  if (!arrival.end && bytes.ended) {
    if (head_ && !stream_) {
      arrival.end = End{.how = End::How::kRefused, .status = ReadStatus("GET", *head_, refusal_)};
    } else {
      // The rest of an incomplete event is dropped: the next watch delivers it again.
      arrival.end = End{.how = End::How::kClosed, .closed = *std::move(bytes.ended)};
    }
  }
  // A copy: the callback may cancel this session.
  const auto on_arrival = on_arrival_;
  if (arrival.end) Cancel();
  on_arrival(std::move(arrival));
}

void WatchSession::Decode(Arrival& arrival) {
  while (!arrival.end) {
    Result<std::optional<WatchEvent>> next = stream_->Next();
    if (!next) {
      arrival.end = End{.how = End::How::kUnreadable, .closed = next.error()};
    } else if (!next->has_value()) {
      return;
    } else if ((*next)->type == WatchEvent::Type::kError) {
      arrival.end = End{.how = End::How::kErrorEvent, .status = (*next)->status.value_or(ApiStatus{})};
    } else if ((*next)->object && (*next)->object->kind() != kind_) {
      const std::string why = fmt::format("found a {} in a watch", (*next)->object->info().name);
      arrival.end = End{.how = End::How::kUnreadable, .closed = Error::InvalidArgument(why)};
    } else {
      ++events_;
      arrival.events.push_back(std::move(**next));
    }
  }
}

}  // namespace berth::client
