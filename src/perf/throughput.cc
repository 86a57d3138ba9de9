#include "perf/throughput.h"

#include <algorithm>

namespace berth::perf {

namespace {

constexpr base::Duration kLongest = std::chrono::seconds(1);
constexpr base::Duration kShortest = std::chrono::microseconds(10);
constexpr int kWantedSamples = 10;

double Rate(size_t pods, base::Duration time) {
  return static_cast<double>(pods) / std::chrono::duration<double>(time).count();
}

base::Duration ChooseInterval(base::Duration span) {
  base::Duration interval = kLongest;
  while (interval > kShortest && span / interval < kWantedSamples) interval /= 10;
  return interval;
}

// The value below which `percent` of the samples lie; the samples are sorted.
double Percentile(const std::vector<double>& sorted, size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

}  // namespace

ThroughputSummary SummarizeThroughput(const std::vector<base::Duration>& moments) {
  ThroughputSummary summary;
  if (moments.empty()) return summary;
  summary.pods = moments.size();
  // Never zero, so that the rate is finite.
  summary.span = std::max(moments.back(), base::Duration(1));
  summary.interval = ChooseInterval(summary.span);
  summary.average = Rate(summary.pods, summary.span);

  std::vector<double> samples;
  size_t taken = 0;
  base::Duration since{};
  size_t skipped = 0;
  for (base::Duration tick = summary.interval; tick <= moments.back(); tick += summary.interval) {
    const auto stop = std::upper_bound(moments.begin() + static_cast<std::ptrdiff_t>(taken), moments.end(), tick);
    const size_t seen = static_cast<size_t>(stop - moments.begin());
    if (seen == taken) {
      ++skipped;
      continue;
    }
    samples.insert(samples.end(), skipped + 1, Rate(seen - taken, tick - since));
    taken = seen;
    since = tick;
    skipped = 0;
  }
  if (samples.empty()) samples.push_back(summary.average);
  std::sort(samples.begin(), samples.end());
  summary.perc50 = Percentile(samples, 50);
  summary.perc90 = Percentile(samples, 90);
  summary.perc95 = Percentile(samples, 95);
  summary.perc99 = Percentile(samples, 99);
  return summary;
}

}  // namespace berth::perf
