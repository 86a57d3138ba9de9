#include "api/time.h"

#include <gtest/gtest.h>

namespace berth::api {
namespace {

using namespace std::chrono_literals;

TEST(Time, ReadsRfc3339AndPrintsUtc) {
  const struct {
    std::string_view text, seconds, micros;
  } tests[] = {
      {"2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00.000000Z"},
      {"2024-02-29T23:59:59.123456789Z", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59.123456Z"},
      {"2024-01-01T01:30:00+02:00", "2023-12-31T23:30:00Z", "2023-12-31T23:30:00.000000Z"},
      {"2024-01-01T1:00:00,5Z", "2024-01-01T01:00:00Z", "2024-01-01T01:00:00.500000Z"},
      {"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.500000Z"},
  };
  for (const auto& test : tests) {
    const Result<Time> time = ParseTime(test.text);
    ASSERT_TRUE(time.ok()) << test.text;
    EXPECT_EQ(FormatTime(*time), test.seconds);
    EXPECT_EQ(FormatMicroTime({*time}), test.micros);
  }
}

TEST(Time, SaysWhatItCouldNotRead) {
  const std::string layout = " as \"2006-01-02T15:04:05Z07:00\": cannot parse ";
  const std::pair<std::string, std::string> tests[] = {
      {"", "parsing time \"\"" + layout + "\"\" as \"2006\""},
      {"abc", "parsing time \"abc\"" + layout + "\"abc\" as \"2006\""},
      {"2024-01-01 00:00:00Z", "parsing time \"2024-01-01 00:00:00Z\"" + layout + "\" 00:00:00Z\" as \"T\""},
      {"2024-01-01T00:00:00", "parsing time \"2024-01-01T00:00:00\"" + layout + "\"\" as \"Z07:00\""},
      {"2024-01-01T00:00:00Zx", "parsing time \"2024-01-01T00:00:00Zx\": extra text: \"x\""},
      {"2024-13-01T00:00:00Z", "parsing time \"2024-13-01T00:00:00Z\": month out of range"},
      {"2023-02-29T00:00:00Z", "parsing time \"2023-02-29T00:00:00Z\": day out of range"},
      {"2024-01-01T24:00:00Z", "parsing time \"2024-01-01T24:00:00Z\": hour out of range"},
      {"2024-01-01T00:00:60Z", "parsing time \"2024-01-01T00:00:60Z\": second out of range"},
      {"2024-01-01T00:00:00-25:00", "parsing time \"2024-01-01T00:00:00-25:00\": time zone offset hour out of range"},
  };
  for (const auto& [text, message] : tests) {
    const Result<Time> time = ParseTime(text);
    ASSERT_FALSE(time.ok()) << text;
    EXPECT_EQ(time.error().message, message);
  }
}

TEST(Time, FarOffDatesAreClampedNotRefused) {
  EXPECT_EQ(*ParseTime("9999-12-31T23:59:59Z"), Time::max());
  EXPECT_EQ(*ParseTime("0001-01-01T00:00:00Z"), kEarliestTime);
}

// Rounding the earliest time down to a second once overflowed.
TEST(Time, ADateTooFarBackPrintsAndReadsTheSame) {
  const Time earliest = *ParseTime("1011-11-14T22:20:13Z");
  EXPECT_EQ(FormatTime(earliest), "1677-09-21T00:12:44Z");
  EXPECT_EQ(*ParseTime(FormatTime(earliest)), earliest);
  EXPECT_EQ(FormatMicroTime({earliest}), "1677-09-21T00:12:44.000000Z");
  const Time latest = *ParseTime("9999-12-31T23:59:59Z");
  EXPECT_EQ(*ParseTime(FormatTime(latest)), latest);
}

TEST(MicroTime, WantsExactlySixDigits) {
  EXPECT_EQ(FormatMicroTime(*ParseMicroTime("2024-01-01T00:00:00.000001Z")), "2024-01-01T00:00:00.000001Z");
  EXPECT_EQ(ParseMicroTime("2024-01-01T00:00:00Z").error().message,
            "parsing time \"2024-01-01T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as "
            "\".000000\"");
  EXPECT_FALSE(ParseMicroTime("2024-01-01T00:00:00.0000001Z").ok());
}

TEST(Duration, ReadsAndPrintsAsGoDoes) {
  const struct {
    std::string_view text;
    Duration duration;
    std::string_view printed;
  } tests[] = {
      {"0", 0ns, "0s"},
      {"-0", 0ns, "0s"},
      {"1h2m3.5s", 3723500ms, "1h2m3.5s"},
      {"1.5h", 90min, "1h30m0s"},
      {"90s", 90s, "1m30s"},
      {"+5s", 5s, "5s"},
      {"-.5s", -500ms, "-500ms"},
      {"1.s", 1s, "1s"},
      {"1500us", 1500us, "1.5ms"},
      {"1\u00b5s", 1us, "1\u00b5s"},
      {"1\u03bcs", 1us, "1\u00b5s"},
      {"999ns", 999ns, "999ns"},
      {"100h", 100h, "100h0m0s"},
      {"9223372036854775807ns", Duration::max(), "2562047h47m16.854775807s"},
      {"-9223372036854775808ns", Duration::min(), "-2562047h47m16.854775808s"},
  };
  for (const auto& test : tests) {
    const Result<Duration> duration = ParseDuration(test.text);
    ASSERT_TRUE(duration.ok()) << test.text;
    EXPECT_EQ(*duration, test.duration) << test.text;
    EXPECT_EQ(FormatDuration(*duration), test.printed);
  }
}

TEST(Duration, SaysWhatItCouldNotRead) {
  const std::pair<std::string_view, std::string_view> tests[] = {
      {"", "time: invalid duration \"\""},
      {"-", "time: invalid duration \"-\""},
      {".s", "time: invalid duration \".s\""},
      {"abc", "time: invalid duration \"abc\""},
      {"100", "time: missing unit in duration \"100\""},
      {"1d", "time: unknown unit \"d\" in duration \"1d\""},
      {"9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""},
      {"10000000h", "time: invalid duration \"10000000h\""},
  };
  for (const auto& [text, message] : tests) {
    const Result<Duration> duration = ParseDuration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_EQ(duration.error().message, message);
  }
}

}  // namespace
}  // namespace berth::api
