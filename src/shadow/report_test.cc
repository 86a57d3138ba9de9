#include "shadow/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/json.h"

namespace berth::shadow {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Comparison Some(Verdict verdict, const std::string& pod) {
  Comparison comparison;
  comparison.time = base::Time(std::chrono::hours(24 * 365 * 50));
  comparison.pod = pod;
  comparison.uid = "u";
  comparison.scheduler = "default-scheduler";
  comparison.node = "n1";
  comparison.verdict = comparison.without_race = verdict;
  comparison.best = {"n2"};
  comparison.best_count = 1;
  comparison.score = 10;
  comparison.best_score = 30;
  comparison.plugins = {{"NodeResourcesFit", 10, 30}};
  return comparison;
}

ShadowReport ReportOf(const std::vector<Comparison>& comparisons) {
  ShadowReport report;
  report.version = "1";
  report.server = "https://example";
  report.nodes = 2;
  for (const Comparison& comparison : comparisons) {
    report.tally.Add(comparison);
    report.Keep(comparison);
  }
  return report;
}

TEST(ShadowReportTest, WhatIsAgreedIsOnlyCounted) {
  const ShadowReport report = ReportOf({Some(Verdict::kAgreed, "a/b"), Some(Verdict::kLower, "c/d")});
  EXPECT_EQ(report.differences.size(), 1u);
  EXPECT_THAT(ToText(report), HasSubstr("agreed         1   50.0%"));
  EXPECT_THAT(ToText(report), HasSubstr("2 compared: 2 bound, 0 given up"));
  EXPECT_THAT(ToMarkdown(report), HasSubstr("| lower | 1 | 50.0% |"));
  EXPECT_THAT(ToMetrics(report.tally, 3), HasSubstr("berth_shadow_comparisons_total{verdict=\"lower\"} 1\n"));
}

// The API server validates the names of pods, but not the messages of webhooks and plugins, which appear in the same
// places.
TEST(ShadowReportTest, WhatComesFromTheClusterIsText) {
  Comparison evil = Some(Verdict::kInfeasible, "a/<script>alert(1)</script>");
  evil.reason = "<img src=x onerror=alert(1)> & \"quoted\"\x1b[31m";
  evil.plugin = "P";
  const ShadowReport report = ReportOf({evil});
  const std::string page = ToHtml(report);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("@BODY@")));
  EXPECT_THAT(ToMarkdown(report), Not(HasSubstr("<img")));
  EXPECT_THAT(ToMarkdown(report), Not(HasSubstr("\x1b")));
  EXPECT_TRUE(codec::ParseJson(ToJson(report), "report").ok());
}

TEST(ShadowReportTest, SamplingAndPodsOfOthersAreNamed) {
  Comparison sampled = Some(Verdict::kLower, "a/b");
  sampled.is_sampling_likely = true;
  ShadowReport report = ReportOf({sampled});
  report.tally.left_out["volcano"] = 7;
  EXPECT_THAT(ToText(report), HasSubstr("Sampling is the likely cause of 1 of the 1 lower ones"));
  EXPECT_THAT(ToText(report), HasSubstr("7 pods of scheduler \"volcano\" were not compared"));
  EXPECT_THAT(ToHtml(report), HasSubstr("Sampling is the likely cause"));
}

}  // namespace
}  // namespace berth::shadow
