#include "api/scalars.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/ascii.h"
#include "codec/json_writer.h"
#include "codec/protobuf_wire.h"
#include "codec/value.h"

namespace berth::codec {
namespace {

using api::IntOrString;
using api::MicroTime;
using api::Quantity;
using api::Time;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr int64_t kNanosPerSecond = 1'000'000'000;

// Seconds beyond the range of a Time become its earliest or latest value, as in ParseTime.
Time TimeOf(int64_t whole, int64_t nanos) {
  // One second of slack on both sides leaves room for the nanoseconds.
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / kNanosPerSecond - 1;
  nanos %= kNanosPerSecond;
  if (whole > kMost) return Time::max();
  if (whole < -kMost) return api::kEarliestTime;
  return Time(seconds(whole)) + nanoseconds(nanos);
}

bool ReadTimestamp(std::string_view payload, Time& out) {
  int64_t whole = 0;
  int64_t nanos = 0;
  WireReader reader(payload);
  while (reader.Next()) {
    if (reader.number() == 1) whole = static_cast<int64_t>(reader.integer());
    if (reader.number() == 2) nanos = static_cast<int32_t>(reader.integer());
  }
  out = TimeOf(whole, nanos);
  return reader.ok();
}

void WriteTimestamp(Time time, std::string& payload) {
  const auto whole = std::chrono::floor<seconds>(time);
  WireWriter writer(payload);
  writer.Integer(1, static_cast<uint64_t>(static_cast<int64_t>(whole.time_since_epoch().count())));
  writer.Integer(2, static_cast<uint64_t>(static_cast<int64_t>(nanoseconds(time - whole).count())));
}

}  // namespace

std::string ScalarTraits<Quantity>::FromJson(const Value& value, Quantity& out) {
  if (!value.is_string() && !value.is_number()) return "expected a quantity such as 500m or 2Gi";
  Result<Quantity> parsed = Quantity::Parse(base::Trimmed(value.text()));
  if (!parsed) return "expected a quantity such as 500m or 2Gi";
  out = *parsed;
  return {};
}

void ScalarTraits<Quantity>::ToJson(const Quantity& value, JsonWriter& writer) { writer.String(value.ToString()); }

bool ScalarTraits<Quantity>::FromProtobuf(std::string_view payload, Quantity& out) {
  out = Quantity();
  WireReader reader(payload);
  while (reader.Next()) {
    if (reader.number() != 1) continue;
    Result<Quantity> parsed = Quantity::Parse(reader.bytes());
    if (!parsed) return false;
    out = *parsed;
  }
  return reader.ok();
}

void ScalarTraits<Quantity>::ToProtobuf(const Quantity& value, std::string& payload) {
  WireWriter(payload).Bytes(1, value.ToString());
}

std::string ScalarTraits<IntOrString>::FromJson(const Value& value, IntOrString& out) {
  if (value.is_string()) {
    out = IntOrString::FromString(std::string(value.text()));
    return {};
  }
  int32_t number = 0;
  const std::string_view text = value.text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!value.is_number() || error != std::errc() || end != text.data() + text.size()) {
    return "expected a 32-bit integer or a string";
  }
  out = IntOrString::FromInt(number);
  return {};
}

void ScalarTraits<IntOrString>::ToJson(const IntOrString& value, JsonWriter& writer) {
  if (value.is_string) {
    writer.String(value.string_value);
  } else {
    writer.Int64(value.int_value);
  }
}

bool ScalarTraits<IntOrString>::FromProtobuf(std::string_view payload, IntOrString& out) {
  out = IntOrString();
  WireReader reader(payload);
  while (reader.Next()) {
    if (reader.number() == 1) out.is_string = reader.integer() == 1;
    if (reader.number() == 2) out.int_value = static_cast<int32_t>(reader.integer());
    if (reader.number() == 3) out.string_value = reader.bytes();
  }
  return reader.ok();
}

void ScalarTraits<IntOrString>::ToProtobuf(const IntOrString& value, std::string& payload) {
  WireWriter writer(payload);
  writer.Integer(1, value.is_string ? 1 : 0);
  writer.Integer(2, static_cast<uint64_t>(static_cast<int64_t>(value.int_value)));
  writer.Bytes(3, value.string_value);
}

std::string ScalarTraits<Time>::FromJson(const Value& value, Time& out) {
  constexpr const char* kWanted = "expected a time such as 2024-01-31T10:00:00Z";
  if (!value.is_string()) return kWanted;
  Result<Time> parsed = api::ParseTime(value.text());
  if (!parsed) return kWanted;
  out = *parsed;
  return {};
}

void ScalarTraits<Time>::ToJson(const Time& value, JsonWriter& writer) { writer.String(api::FormatTime(value)); }

// Whole seconds both ways, as in JSON: Kubernetes itself drops the fraction here.
bool ScalarTraits<Time>::FromProtobuf(std::string_view payload, Time& out) {
  if (!ReadTimestamp(payload, out)) return false;
  out = std::chrono::floor<seconds>(out);
  return true;
}

void ScalarTraits<Time>::ToProtobuf(const Time& value, std::string& payload) {
  WriteTimestamp(std::chrono::floor<seconds>(value), payload);
}

std::string ScalarTraits<MicroTime>::FromJson(const Value& value, MicroTime& out) {
  constexpr const char* kWanted = "expected a time such as 2024-01-31T10:00:00.000000Z";
  if (!value.is_string()) return kWanted;
  Result<MicroTime> parsed = api::ParseMicroTime(value.text());
  if (!parsed) return kWanted;
  out = *parsed;
  return {};
}

void ScalarTraits<MicroTime>::ToJson(const MicroTime& value, JsonWriter& writer) {
  writer.String(api::FormatMicroTime(value));
}

bool ScalarTraits<MicroTime>::FromProtobuf(std::string_view payload, MicroTime& out) {
  if (!ReadTimestamp(payload, out.time)) return false;
  out.time = std::chrono::floor<std::chrono::microseconds>(out.time);
  return true;
}

void ScalarTraits<MicroTime>::ToProtobuf(const MicroTime& value, std::string& payload) {
  WriteTimestamp(std::chrono::floor<std::chrono::microseconds>(value.time), payload);
}

template <class T>
void OptionalTimeTraits<T>::ToJson(const std::optional<T>& value, JsonWriter& writer) {
  if (value) {
    ScalarTraits<T>::ToJson(*value, writer);
  } else {
    writer.Null();
  }
}

template struct OptionalTimeTraits<Time>;
template struct OptionalTimeTraits<MicroTime>;

}  // namespace berth::codec
