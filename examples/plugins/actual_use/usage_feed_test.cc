#include "usage_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "loopback_server.h"

namespace example {
namespace {

using ::testing::HasSubstr;

std::string Metrics(const std::string& node, const std::string& cpu) {
  return R"({"kind": "NodeMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": [
    {"metadata": {"name": ")" +
         node + R"("}, "timestamp": "2030-01-01T00:00:00Z", "window": "20s", "usage": {"cpu": ")" + cpu +
         R"(", "memory": "1Gi"}}]})";
}

UsageFeed::Options Once(const std::string& url) {
  return {.url = url, .refresh = std::chrono::hours(1), .timeout = std::chrono::seconds(30)};
}

TEST(UsageFeed, HasTheEndpointsAnswer) {
  LoopbackServer server(Metrics("n", "250m"));
  UsageFeed feed(Once(server.url()));
  feed.AwaitFirst();
  const auto latest = feed.Latest();
  ASSERT_TRUE(latest) << feed.LastError();
  EXPECT_EQ(latest->at("n").cpu.MilliValue(), 250);
  EXPECT_EQ(latest->at("n").memory.Value(), 1 << 30);
}

TEST(UsageFeed, AsksAgain) {
  LoopbackServer server(Metrics("n", "1"));
  UsageFeed::Options options = Once(server.url());
  options.refresh = std::chrono::milliseconds(1);
  UsageFeed feed(std::move(options));
  feed.AwaitFirst();
  server.Answer(Metrics("n", "2"));
  server.AwaitRequests(3);  // the first may have been under way, and the third is made after the second was taken in
  ASSERT_TRUE(feed.Latest());
  EXPECT_EQ(feed.Latest()->at("n").cpu.Value(), 2);
}

TEST(UsageFeed, KeepsTheLastAnswerWhileItIsYoungEnough) {
  LoopbackServer server(Metrics("n", "1"));
  std::atomic<int> seconds = 0;
  UsageFeed::Options options = Once(server.url());
  options.refresh = std::chrono::milliseconds(1);
  options.max_age = std::chrono::seconds(60);
  options.now = [&] { return UsageFeed::Clock::time_point(std::chrono::seconds(seconds)); };
  UsageFeed feed(std::move(options));
  feed.AwaitFirst();
  server.Answer("broken", "503 Service Unavailable");
  server.AwaitRequests(3);
  EXPECT_THAT(feed.LastError(), HasSubstr("503 Service Unavailable"));
  seconds = 60;
  EXPECT_TRUE(feed.Latest());
  seconds = 61;
  EXPECT_FALSE(feed.Latest());
}

TEST(UsageFeed, HasNothingFromAnEndpointThatIsDownOrTalksNonsense) {
  LoopbackServer server("[1, 2");
  for (const char* body : {"[1, 2", "[]", R"({"kind": "Status", "message": "forbidden"})",
                           R"({"kind": "NodeMetricsList", "items": [{"usage": {"cpu": "lots"}}]})"}) {
    server.Answer(body);
    UsageFeed feed(Once(server.url()));
    feed.AwaitFirst();
    EXPECT_FALSE(feed.Latest()) << body;
    EXPECT_NE(feed.LastError(), "") << body;
  }
  server.Stop();
  UsageFeed feed(Once(server.url()));
  feed.AwaitFirst();
  EXPECT_FALSE(feed.Latest());
  EXPECT_THAT(feed.LastError(), HasSubstr(server.url()));
}

}  // namespace
}  // namespace example
