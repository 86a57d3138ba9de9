#include "live/request_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::live {
namespace {

using ::testing::HasSubstr;

TEST(RequestMetrics, TellHowManyWritesOfEachClassWaitAndForHowLong) {
  metrics::Registry registry;
  const std::string host = "server";
  RequestMetrics metrics(registry, host);
  metrics.OnDepth(client::WriteClass::kStatus, 7, 3);
  metrics.OnSent(client::WriteClass::kBind, "POST", std::chrono::milliseconds(20));
  metrics.OnCollapsed(client::WriteClass::kStatus);
  metrics.CountDroppedEvents(5);
  const std::string text = registry.Expose();
  EXPECT_THAT(text, HasSubstr("berth_client_events_dropped_total 5\n"));
  EXPECT_THAT(text, HasSubstr("berth_client_writes_waiting{class=\"status\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("berth_client_writes_in_flight{class=\"status\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("berth_client_write_wait_seconds_bucket{class=\"bind\",le=\"0.005\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("berth_client_write_wait_seconds_bucket{class=\"bind\",le=\"0.025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("berth_client_writes_total{class=\"status\",event=\"collapsed\"} 1\n"));
}

}  // namespace
}  // namespace berth::live
