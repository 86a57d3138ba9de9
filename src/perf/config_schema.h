// The tables of the file's structs; see config.h. Internal to this folder.
#pragma once

#include "codec/schema.h"
#include "perf/config.h"

namespace berth::codec {

class JsonWriter;

template <>
struct ScalarTraits<perf::FileDuration> {
  static std::string FromJson(const Value& value, perf::FileDuration& out);
  static void ToJson(const perf::FileDuration& value, JsonWriter& writer);
};

template <>
struct ScalarTraits<perf::Threshold> {
  static std::string FromJson(const Value& value, perf::Threshold& out);
  static void ToJson(const perf::Threshold& value, JsonWriter& writer);
};

}  // namespace berth::codec

namespace berth::perf {

const codec::Message& Describe(const NodeAllocatableStrategy*);
const codec::Message& Describe(const LabelNodePrepareStrategy*);
const codec::Message& Describe(const UniqueNodeLabelStrategy*);
const codec::Message& Describe(const LabelValues*);
const codec::Message& Describe(const MetricsCollectorConfig*);
const codec::Message& Describe(const ThresholdMetricSelector*);
const codec::Message& Describe(const Workload*);
const codec::Message& Describe(const TestCase*);

struct OpcodeEntry {
  std::string_view name;
  Opcode code;
  const codec::Message& (*fields)();
};

// Null for an unknown opcode.
const OpcodeEntry* FindOpcode(std::string_view name);
// All names, for the error about an unknown one.
std::string KnownOpcodes();

}  // namespace berth::perf
