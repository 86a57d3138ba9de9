// Parts of timestamps and durations: getFullYear() and its like.
#include <fmt/format.h>

#include "cel/environment.h"
#include "cel/operations.h"
#include "cel/time.h"

namespace berth::cel {
namespace {

using Arguments = std::span<const Value>;

enum class Part {
  kYear,
  kMonth,
  kDayOfYear,
  kDayOfMonth,
  kDate,
  kDayOfWeek,
  kHours,
  kMinutes,
  kSeconds,
  kMilliseconds
};

int64_t PartOf(Part part, const CivilTime& civil, int32_t nanos) {
  switch (part) {
    case Part::kYear:
      return civil.year;
    case Part::kMonth:
      return civil.month - 1;
    case Part::kDayOfYear:
      return civil.year_day;
    case Part::kDayOfMonth:
      return civil.day - 1;
    case Part::kDate:
      return civil.day;
    case Part::kDayOfWeek:
      return civil.weekday;
    case Part::kHours:
      return civil.hour;
    case Part::kMinutes:
      return civil.minute;
    case Part::kSeconds:
      return civil.second;
    case Part::kMilliseconds:
      return nanos / 1000000;
  }
  return 0;
}

template <Part kPart>
Value Get(Evaluation& evaluation, Arguments arguments) {
  const TimestampObject& time = arguments[0].timestamp();
  int64_t offset = 0;
  if (arguments.size() == 2) {
    Result<int64_t> found = ZoneOffset(arguments[1].text(), time.seconds);
    if (!found) return MakeError(evaluation.arena(), found.error().message);
    offset = *found;
  }
  return Value::Int(PartOf(kPart, ToCivil(time.seconds + offset), time.nanos));
}

Value Milliseconds(Evaluation&, Arguments arguments) { return Value::Int(arguments[0].as_duration() / 1000000); }

template <int64_t kUnit>
Value DurationIn(Evaluation&, Arguments arguments) {
  // Through floating point, as upstream: a nanosecond before a full second may round up.
  const int64_t nanos = arguments[0].as_duration();
  return Value::Int(static_cast<int64_t>(static_cast<double>(nanos / kUnit) +
                                         static_cast<double>(nanos % kUnit) / static_cast<double>(kUnit)));
}

template <Part kPart>
void AddPart(Environment& environment, std::string_view function, std::string_view part) {
  using namespace types;
  environment.Member(function, fmt::format("timestamp_to_{}", part), {&kTimestamp}, &kInt, Get<kPart>)
      .Member(function, fmt::format("timestamp_to_{}_with_tz", part), {&kTimestamp, &kString}, &kInt, Get<kPart>);
}

}  // namespace

void AddTimeLibrary(Environment& environment) {
  using namespace types;
  AddPart<Part::kYear>(environment, "getFullYear", "year");
  AddPart<Part::kMonth>(environment, "getMonth", "month");
  AddPart<Part::kDayOfYear>(environment, "getDayOfYear", "day_of_year");
  AddPart<Part::kDayOfMonth>(environment, "getDayOfMonth", "day_of_month");
  AddPart<Part::kDate>(environment, "getDate", "day_of_month_1_based");
  AddPart<Part::kDayOfWeek>(environment, "getDayOfWeek", "day_of_week");
  AddPart<Part::kHours>(environment, "getHours", "hours");
  environment.Member("getHours", "duration_to_hours", {&kDuration}, &kInt, DurationIn<3600000000000>);
  AddPart<Part::kMinutes>(environment, "getMinutes", "minutes");
  environment.Member("getMinutes", "duration_to_minutes", {&kDuration}, &kInt, DurationIn<60000000000>);
  AddPart<Part::kSeconds>(environment, "getSeconds", "seconds");
  environment.Member("getSeconds", "duration_to_seconds", {&kDuration}, &kInt, DurationIn<1000000000>);
  AddPart<Part::kMilliseconds>(environment, "getMilliseconds", "milliseconds");
  environment.Member("getMilliseconds", "duration_to_milliseconds", {&kDuration}, &kInt, Milliseconds);
}

}  // namespace berth::cel
