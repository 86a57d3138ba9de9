// EventRecorder: writes events.k8s.io/v1 events about what the scheduler did, in the background.
//
// Similar events (same type, reason, action, reporter and objects, whatever the note) become one event with a series:
// the first is created, the second makes it a series of 2, further ones are only counted. The count is written after
// six minutes without another one, and every half an hour in between, so that the server keeps the event.
//
// A write without an answer is tried up to twelve times, about ten seconds apart; a rejected one is not retried. Events
// never block the caller: if too many are unwritten, new ones are dropped, counted, and reported from time to time. The
// memory of written events is bounded in size and time: after that, a similar event is created anew.
//
// Runs on a loop, in its monotonic time; the wall clock is used only for the times written. Public members are
// thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/coordination.h"
#include "api/kind.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/result.h"
#include "client/api_client.h"

namespace berth::client {

struct EventNote {
  std::string reporting_controller;  // the profile's name
  api::ObjectReference regarding;
  std::optional<api::ObjectReference> related{};
  std::string type;  // Normal or Warning
  std::string reason;
  std::string action;
  std::string note;  // truncated to 1024 bytes
};

using api::ReferenceTo;  // for `regarding`

struct EventRecorderOptions {
  std::string hostname;  // reportingInstance is CONTROLLER-HOSTNAME
  // The most unwritten events. Upstream has no effective limit, so one large backlog should not reach this.
  size_t max_waiting = 10'000;
  size_t max_in_flight = 32;
  // The most events and series remembered; as many as in client-go's event correlator.
  size_t max_remembered = 4096;
  uint64_t seed = 0;
  std::function<void(const Error& error)> on_problem{};  // an event that will not be written
  // The number of events dropped since the last call, when that is logged: at most once a minute.
  std::function<void(uint64_t count)> on_dropped{};
};

class EventRecorder {
 public:
  EventRecorder(ApiClient& client, base::Loop& loop, const base::Clock& clock, EventRecorderOptions options);
  ~EventRecorder();  // discards unwritten events
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void Record(EventNote note);

  // Unwritten events.
  size_t waiting() const;
  // Events and series that are remembered.
  size_t remembered() const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
