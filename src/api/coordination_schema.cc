#include "api/coordination.h"
#include "api/scalars.h"
#include "api/selector_schema.h"
#include "codec/schema.h"

namespace berth::api {

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const LeaseSpec*) {
  static const codec::Message message = codec::MessageOf<LeaseSpec>("LeaseSpec", {
      codec::Field("holderIdentity", 1, &LeaseSpec::holder_identity),
      codec::Field("leaseDurationSeconds", 2, &LeaseSpec::lease_duration_seconds),
      codec::Field("acquireTime", 3, &LeaseSpec::acquire_time),
      codec::Field("renewTime", 4, &LeaseSpec::renew_time),
      codec::Field("leaseTransitions", 5, &LeaseSpec::lease_transitions),
      codec::Field("strategy", 6, &LeaseSpec::strategy),
      codec::Field("preferredHolder", 7, &LeaseSpec::preferred_holder),
  });
  return message;
}

const codec::Message& Describe(const Lease*) {
  static const codec::Message message = codec::MessageOf<Lease>("Lease", {
      codec::Field("metadata", 1, &Lease::metadata),
      codec::Field("spec", 2, &Lease::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const LeaseCandidateSpec*) {
  static const codec::Message message = codec::MessageOf<LeaseCandidateSpec>("LeaseCandidateSpec", {
      codec::Field("leaseName", 1, &LeaseCandidateSpec::lease_name),
      codec::Field("pingTime", 2, &LeaseCandidateSpec::ping_time),
      codec::Field("renewTime", 3, &LeaseCandidateSpec::renew_time),
      codec::Field("binaryVersion", 4, &LeaseCandidateSpec::binary_version),
      codec::Field("emulationVersion", 5, &LeaseCandidateSpec::emulation_version),
      codec::Field("strategy", 6, &LeaseCandidateSpec::strategy),
  });
  return message;
}

const codec::Message& Describe(const LeaseCandidate*) {
  static const codec::Message message = codec::MessageOf<LeaseCandidate>("LeaseCandidate", {
      codec::Field("metadata", 1, &LeaseCandidate::metadata),
      codec::Field("spec", 2, &LeaseCandidate::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const EventSeries*) {
  static const codec::Message message = codec::MessageOf<EventSeries>("EventSeries", {
      codec::Field("count", 1, &EventSeries::count),
      codec::Field("lastObservedTime", 2, &EventSeries::last_observed_time),
  });
  return message;
}

const codec::Message& Describe(const EventSource*) {
  static const codec::Message message = codec::MessageOf<EventSource>("EventSource", {
      codec::Field("component", 1, &EventSource::component),
      codec::Field("host", 2, &EventSource::host),
  });
  return message;
}

const codec::Message& Describe(const Event*) {
  static const codec::Message message = codec::MessageOf<Event>("Event", {
      codec::Field("metadata", 1, &Event::metadata),
      codec::Field("eventTime", 2, &Event::event_time),
      codec::Field("series", 3, &Event::series),
      codec::Field("reportingController", 4, &Event::reporting_controller),
      codec::Field("reportingInstance", 5, &Event::reporting_instance),
      codec::Field("action", 6, &Event::action),
      codec::Field("reason", 7, &Event::reason),
      codec::Field("regarding", 8, &Event::regarding),
      codec::Field("related", 9, &Event::related),
      codec::Field("note", 10, &Event::note),
      codec::Field("type", 11, &Event::type),
      codec::Field("deprecatedSource", 12, &Event::deprecated_source),
      codec::Field("deprecatedFirstTimestamp", 13, &Event::deprecated_first_timestamp),
      codec::Field("deprecatedLastTimestamp", 14, &Event::deprecated_last_timestamp),
      codec::Field("deprecatedCount", 15, &Event::deprecated_count),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

// clang-format on

}  // namespace berth::api
