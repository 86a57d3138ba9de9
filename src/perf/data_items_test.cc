#include "perf/data_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/json.h"

namespace berth::perf {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<DataItem> Items() {
  return {{{{"Average", 250}, {"Perc50", 240}}, "pods/s", {{"Name", "A/w/ns"}, {"Metric", "SchedulingThroughput"}}},
          {{{"Average", 3}}, "ms", {{"Name", "A/w/ns"}, {"Metric", "m"}, {"result", "scheduled"}}}};
}

TEST(DataItems, ThresholdsAreComparedAndWrittenDown) {
  std::vector<DataItem> items = Items();
  EXPECT_THAT(ApplyThreshold(items, 200, {"SchedulingThroughput", {}, "Average", false}), IsEmpty());
  EXPECT_EQ(items[0].data["AverageThreshold"], 200);
  EXPECT_FALSE(items[1].data.contains("AverageThreshold"));
  EXPECT_THAT(ApplyThreshold(items, 250, {"SchedulingThroughput", {}, "Average", false}),
              ElementsAre("A/w/ns: expected \"SchedulingThroughput\" \"Average\" to be higher: got 250.000, want "
                          "250.000"));
  EXPECT_THAT(ApplyThreshold(items, 4, {"m", {{"result", "scheduled"}}, "Average", true}), IsEmpty());
  EXPECT_THAT(ApplyThreshold(items, 2, {"m", {{"result", "scheduled"}}, "Average", true}).size(), 1);
  EXPECT_THAT(ApplyThreshold(items, 2, {"m", {{"result", "error"}}, "Average", true}),
              ElementsAre(::testing::HasSubstr("no metric \"m\" with the labels")));
  EXPECT_THAT(ApplyThreshold(items, 0, {"m", {{"result", "error"}}, "Average", true}), IsEmpty());
  EXPECT_THAT(ApplyThreshold(items, 2, {"m", {}, "Perc99", true}),
              ElementsAre("A/w/ns: no data present for \"m\" metric \"Perc99\" bucket"));
}

TEST(DataItems, AreWhatTheDashboardReads) {
  const Result<codec::Document> document = codec::ParseJson(ToJson(Items()), "items.json");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->root().Find("version")->text(), "v1");
  const auto items = document->root().Find("dataItems")->items();
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].Find("unit")->text(), "pods/s");
  EXPECT_EQ(items[0].Find("data")->Find("Perc50")->text(), "240");
  // Every item has every label.
  EXPECT_EQ(items[0].Find("labels")->Find("result")->text(), "not applicable");
  EXPECT_EQ(items[1].Find("labels")->Find("result")->text(), "scheduled");
}

TEST(DataItems, FileNameIsTheOneTheDashboardLooksFor) {
  EXPECT_EQ(DataItemsFileName("misc", base::Time{}),
            "BenchmarkPerfScheduling_benchmark_misc_1970-01-01T00:00:00Z.json");
}

}  // namespace
}  // namespace berth::perf
