#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace berth::base {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Mon Nov 16 03:42:26.123456 UTC 2026.
constexpr Time kWhen{std::chrono::microseconds(1794800546123456)};

class LogTest : public testing::Test {
 protected:
  LogTest() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  ~LogTest() override { EXPECT_TRUE(ConfigureLog({}).ok()); }

  void Configure(LogOptions options) {
    options.clock = &clock_;
    options.sink = [this](std::string_view line) { lines_.emplace_back(line); };
    ASSERT_TRUE(ConfigureLog(std::move(options)).ok());
  }
  // The one line since the last call, after its header.
  std::string Rest() {
    EXPECT_EQ(lines_.size(), 1u);
    if (lines_.empty()) return "";
    std::string line = lines_[0];
    lines_.clear();
    return line.substr(line.find("] ") + 2);
  }

  FakeClock clock_{kWhen};
  std::vector<std::string> lines_;
};

TEST_F(LogTest, WritesKlogsHeader) {
  Configure({});
  LOG_INFO(0, "Successfully bound pod to node", {"pod", "default/web"}, {"node", "n1"});
  const int line = __LINE__ - 1;
  char pid[16];
  std::snprintf(pid, sizeof pid, "%7d", static_cast<int>(::getpid()));
  EXPECT_THAT(lines_, ElementsAre("I1116 03:42:26.123456 " + std::string(pid) + " log_test.cc:" + std::to_string(line) +
                                  "] \"Successfully bound pod to node\" pod=\"default/web\" node=\"n1\"\n"));
}

TEST_F(LogTest, SaysHowBadItIs) {
  Configure({});
  LOG_WARNING("careful");
  LOG_ERROR("Error scheduling pod", {"err", Error::Internal("boom")}, {"pod", std::string("default/web")});
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_THAT(lines_[0], AllOf(StartsWith("W1116 "), EndsWith("] \"careful\"\n")));
  EXPECT_THAT(lines_[1],
              AllOf(StartsWith("E1116 "), EndsWith("] \"Error scheduling pod\" err=\"boom\" pod=\"default/web\"\n")));
}

TEST_F(LogTest, SpellsValuesByTheirType) {
  Configure({});
  LOG_INFO(0, "m", {"n", 2}, {"big", uint64_t{18446744073709551615u}}, {"neg", int8_t{-3}}, {"on", true}, {"x", 0.5});
  EXPECT_EQ(Rest(), "\"m\" n=2 big=18446744073709551615 neg=-3 on=true x=0.5\n");
  LOG_INFO(0, "m", {"a", Duration(1500us)}, {"b", Duration(3'723'500ms)}, {"c", Duration(0)}, {"d", Duration(-7)});
  EXPECT_EQ(Rest(), "\"m\" a=\"1.5ms\" b=\"1h2m3.5s\" c=\"0s\" d=\"-7ns\"\n");
  LOG_INFO(0, "a \"b\"\n", {"s", "tab\t, \x01, \x7f, \\, \xff, é"}, {"y", Symbol("zone")});
  EXPECT_EQ(Rest(), "\"a \\\"b\\\"\\n\" s=\"tab\\t, \\x01, \\x7f, \\\\, \\xff, é\" y=\"zone\"\n");
}

TEST_F(LogTest, ListsAreSpelledAsJson) {
  const std::vector<std::string> none, two{"a", "b\"c"};
  Configure({});
  LOG_INFO(0, "m", {"none", none}, {"two", two});
  EXPECT_EQ(Rest(), "\"m\" none=[] two=[\"a\",\"b\\\"c\"]\n");
}

TEST_F(LogTest, IndentsTextOfSeveralLines) {
  Configure({});
  LOG_INFO(0, "dump", {"state", "one\ntwo"}, {"more", "three\n"}, {"n", 1});
  EXPECT_EQ(Rest(), "\"dump\" state=<\n\tone\n\ttwo\n > more=<\n\tthree\n > n=1\n");
}

TEST_F(LogTest, WritesJsonAsUpstreamDoes) {
  Configure({.format = LogFormat::kJson, .verbosity = 3});
  LOG_INFO(3, "say \"hi\"", {"ns", "default"}, {"podnum", 2}, {"time", Duration(1us)}, {"bad", "\xff\x02"});
  const std::string at = "base/log_test.cc:" + std::to_string(__LINE__ - 1);
  LOG_ERROR("wrong namespace", {"err", "invalid"}, {"ns", "default"});
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_EQ(lines_[0], "{\"ts\":1794800546123.456,\"caller\":\"" + at +
                           "\",\"msg\":\"say \\\"hi\\\"\",\"v\":3,\"ns\":\"default\",\"podnum\":2,\"time\":\"1µs\","
                           "\"bad\":\"\\ufffd\\u0002\"}\n");
  EXPECT_THAT(lines_[1], EndsWith("\"msg\":\"wrong namespace\",\"ns\":\"default\",\"err\":\"invalid\"}\n"));
}

TEST_F(LogTest, AboveItsVerbosityNothingIsEvaluated) {
  Configure({.verbosity = 2});
  int evaluated = 0;
  LOG_INFO(3, "off", {"n", ++evaluated});
  EXPECT_EQ(evaluated, 0);
  EXPECT_THAT(lines_, IsEmpty());
  LOG_INFO(2, "on", {"n", ++evaluated});
  EXPECT_EQ(Rest(), "\"on\" n=1\n");
  Configure({.verbosity = 3});
  LOG_INFO(3, "on", {"n", ++evaluated});
  EXPECT_EQ(Rest(), "\"on\" n=2\n");
}

TEST_F(LogTest, VmoduleSetsTheLevelOfMatchingFiles) {
  struct Case {
    std::string vmodule;
    bool file_at_4;
  };
  for (const Case& c : {Case{"log_test=4", true}, Case{"log_test=3", false}, Case{"log*=9", true},
                        Case{"queue=9", false}, Case{"queue=9,log_t?st=4", true}, Case{"log_test=1,log*=9", false}}) {
    Configure({.verbosity = 1, .vmodule = c.vmodule});
    lines_.clear();
    LOG_INFO(4, "m");
    EXPECT_EQ(lines_.size(), c.file_at_4 ? 1u : 0u) << c.vmodule;
  }
}

TEST_F(LogTest, RefusesAMalformedVmodule) {
  for (const char* bad : {"queue", "queue=", "=3", "queue=x", "queue=3x", "a=1,b", "queue=-1"}) {
    const Result<void> configured = ConfigureLog({.vmodule = bad});
    ASSERT_FALSE(configured.ok()) << bad;
    EXPECT_THAT(configured.error().message, HasSubstr("expected a list of pattern=N"));
  }
}

TEST_F(LogTest, LinesOfManyThreadsStayWhole) {
  Configure({});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 250; ++i) LOG_INFO(0, "line", {"thread", t});
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(lines_.size(), 1000u);
  for (const std::string& line : lines_)
    EXPECT_THAT(line, testing::ContainsRegex("^I1116 .*\\] \"line\" thread=[0-3]\n$"));
}

}  // namespace
}  // namespace berth::base
