// EventRecorder: events.k8s.io/v1 events about what the scheduler did, written in the background.
//
// Alike events (same type, reason, action, reporter and objects, whatever the note) become one with a series: the first
// is created, the second makes it a series of 2, further ones are only counted. The count is written when nothing like
// it has happened for six minutes, and every half an hour meanwhile, so that the server keeps the event.
//
// A write without an answer is tried up to twelve times, about ten seconds apart; a refused one is not. Nobody waits
// for events: with too many unwritten ones, new ones are dropped, counted, and reported now and then. What is
// remembered of events that have been written is bounded by number and by time: one that has been forgotten begins
// anew.
//
// Runs on a loop, in its monotonic time; the wall clock is only for what is written. Public members are thread-safe.
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
  std::string note;  // cut to 1024 bytes
};

api::ObjectReference ReferenceTo(api::Kind kind, const api::ObjectMeta& metadata);

struct EventRecorderOptions {
  std::string hostname;  // reportingInstance is CONTROLLER-HOSTNAME
  // Unwritten events at most. Upstream has no real limit, so this is meant not to be reached by one large backlog.
  size_t max_waiting = 10'000;
  size_t max_in_flight = 32;
  // Events and series that are remembered at most; as many as client-go's event correlator.
  size_t max_remembered = 4096;
  uint64_t seed = 0;
  std::function<void(const Error& error)> on_problem{};  // an event that will not be written
  // So many have been dropped since the last time; once a minute at most. Without it, a line in the log.
  std::function<void(uint64_t count)> on_dropped{};
};

class EventRecorder {
 public:
  EventRecorder(ApiClient& client, base::Loop& loop, const base::Clock& clock, EventRecorderOptions options);
  ~EventRecorder();  // what is not written yet is lost
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  void Record(EventNote note);

  uint64_t dropped() const;
  // Events that are not written yet.
  size_t waiting() const;
  // Events and series that are remembered.
  size_t remembered() const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
