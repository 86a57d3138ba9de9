#include "plugins/pod_topology_spread/domain_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace berth::plugins {
namespace {

TEST(DomainCounts, MinimumStaysExactUnderRandomChanges) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    DomainCounts counts(4);
    std::map<int32_t, int64_t> model;
    for (int32_t domain = 0; domain < 6; domain += 2) {
      const int64_t pods = random() % 3;
      counts.Accumulate(domain, pods);
      model[domain] += pods;
    }
    counts.FindMinimum();
    for (int step = 0; step < 60; ++step) {
      const auto domain = static_cast<int32_t>(random() % 7);
      const int64_t delta = random() % 2 == 0 ? 1 : -1;
      counts.Change(domain, delta);
      model[domain] += delta;
      const auto least = std::min_element(model.begin(), model.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      ASSERT_EQ(counts.minimum(), least->second);
      ASSERT_EQ(counts.domains(), static_cast<int64_t>(model.size()));
      ASSERT_EQ(counts.Get(domain), model[domain]);
    }
  }
}

TEST(DomainCounts, UnknownDomainsHoldNothing) {
  DomainCounts counts(1);
  EXPECT_EQ(counts.Get(0), 0);
  EXPECT_EQ(counts.Get(99), 0);
  EXPECT_EQ(counts.domains(), 0);
  counts.Accumulate(0, 0);
  EXPECT_EQ(counts.domains(), 1);
}

}  // namespace
}  // namespace berth::plugins
