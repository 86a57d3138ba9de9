#include "deadline_sort.h"

#include <berth/testing.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace example {
namespace {

using berth::framework::PodInfoPtr;
using berth::testing::ArgsOf;
using berth::testing::At;
using berth::testing::FakeHandle;
using berth::testing::MakePlugin;
using berth::testing::MakePod;
using berth::testing::PodBuilder;
using ::testing::ElementsAre;

struct Queued {
  PodInfoPtr pod;
  std::string added = "2030-01-01T00:00:00Z";
};

class DeadlineSortTest : public ::testing::Test {
 protected:
  static PodBuilder Due(std::string_view name, std::string_view deadline) {
    return MakePod(name).Annotation("example.com/deadline", deadline);
  }

  std::vector<std::string> Sorted(std::vector<Queued> pods, const berth::PluginArgs& args = {}) {
    const auto plugin = MakePlugin<DeadlineSort>(handle, args);
    std::sort(pods.begin(), pods.end(), [&](const Queued& a, const Queued& b) {
      return plugin->Less({*a.pod, At(a.added)}, {*b.pod, At(b.added)});
    });
    std::vector<std::string> names;
    for (const Queued& queued : pods) names.push_back(queued.pod->name());
    return names;
  }

  FakeHandle handle;
};

TEST_F(DeadlineSortTest, TheNearestDeadlineGoesFirstWhateverThePriority) {
  EXPECT_THAT(Sorted({{MakePod("important").Priority(1000).Info()},
                      {Due("later", "2030-01-02T00:00:00Z").Priority(5).Info()},
                      {Due("soon", "2030-01-01T06:00:00+02:00").Info()}}),
              ElementsAre("soon", "later", "important"));
}

TEST_F(DeadlineSortTest, ThenPriorityThenTheTimeInTheQueue) {
  EXPECT_THAT(Sorted({{MakePod("low").Priority(std::numeric_limits<int32_t>::min()).Info()},
                      {MakePod("second").Info(), "2030-01-01T00:00:02Z"},
                      {MakePod("first").Info(), "2030-01-01T00:00:01Z"},
                      {MakePod("high").Priority(1).Info(), "2030-01-01T00:00:03Z"}}),
              ElementsAre("high", "first", "second", "low"));
}

TEST_F(DeadlineSortTest, ADeadlineThatDoesNotParseCountsAsNone) {
  EXPECT_THAT(Sorted({{Due("typo", "tomorrow").Info()}, {Due("due", "2035-01-01T00:00:00Z").Info()}}),
              ElementsAre("due", "typo"));
}

TEST_F(DeadlineSortTest, TheAnnotationIsConfigurable) {
  EXPECT_THAT(Sorted({{Due("other", "2030-01-01T00:00:00Z").Info()},
                      {MakePod("mine").Annotation("due", "2031-01-01T00:00:00Z").Info()}},
                     ArgsOf(R"({"annotation": "due"})")),
              ElementsAre("mine", "other"));
  EXPECT_FALSE(DeadlineSort::Create(ArgsOf(R"({"annotation": ""})"), handle));
}

TEST_F(DeadlineSortTest, APodIsNotBeforeItself) {
  const PodInfoPtr pod = Due("p", "2030-01-01T00:00:00Z").Info();
  const auto plugin = MakePlugin<DeadlineSort>(handle);
  EXPECT_FALSE(plugin->Less({*pod, {}}, {*pod, {}}));
}

}  // namespace
}  // namespace example
