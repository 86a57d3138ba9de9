// Objects the scheduler writes itself: the lease of leader election and the events it reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/meta.h"
#include "api/storage.h"
#include "api/time.h"

namespace berth::api {

struct LeaseSpec {
  std::optional<std::string> holder_identity;
  std::optional<int32_t> lease_duration_seconds;
  std::optional<MicroTime> acquire_time;
  std::optional<MicroTime> renew_time;
  std::optional<int32_t> lease_transitions;
  std::optional<std::string> strategy;
  std::optional<std::string> preferred_holder;
};

// coordination.k8s.io/v1
struct Lease {
  ObjectMeta metadata;
  LeaseSpec spec;
};

struct LeaseCandidateSpec {
  std::string lease_name;
  std::optional<MicroTime> ping_time;
  std::optional<MicroTime> renew_time;
  std::string binary_version;
  std::string emulation_version;
  std::string strategy;
};

// coordination.k8s.io/v1beta1. Not in the registry of kinds: a scheduler reads and writes only its own.
struct LeaseCandidate {
  ObjectMeta metadata;
  LeaseCandidateSpec spec;
};

struct EventSeries {
  int32_t count = 0;
  std::optional<MicroTime> last_observed_time;
};

struct EventSource {
  std::string component;
  std::string host;
};

// events.k8s.io/v1
struct Event {
  ObjectMeta metadata;
  std::optional<MicroTime> event_time;
  std::optional<EventSeries> series;
  std::string reporting_controller;
  std::string reporting_instance;
  std::string action;
  std::string reason;
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string note;
  std::string type;
  EventSource deprecated_source;
  std::optional<Time> deprecated_first_timestamp;
  std::optional<Time> deprecated_last_timestamp;
  int32_t deprecated_count = 0;
};

const codec::Message& Describe(const LeaseSpec*);
const codec::Message& Describe(const Lease*);
const codec::Message& Describe(const LeaseCandidateSpec*);
const codec::Message& Describe(const LeaseCandidate*);
const codec::Message& Describe(const EventSeries*);
const codec::Message& Describe(const EventSource*);
const codec::Message& Describe(const Event*);

}  // namespace berth::api
