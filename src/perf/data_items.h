// Data items: results as Kubernetes' performance dashboard (perf-dash) reads them, and their thresholds.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "perf/config.h"

namespace berth::perf {

struct DataItem {
  std::map<std::string, double> data;  // "Average", "Perc50" …
  std::string unit;
  std::map<std::string, std::string, std::less<>> labels;  // "Name", "Metric" …
};

// Adds the threshold to the items that it applies to (AverageThreshold …). Returns what was expected for each that
// misses it; a threshold of 0 is none.
std::vector<std::string> ApplyThreshold(std::vector<DataItem>& items, double threshold,
                                        const ThresholdMetricSelector& selector);

// {"version": "v1", "dataItems": […]}. All items get the same labels, "not applicable" if one has none: the dashboard
// ignores other items.
std::string ToJson(std::vector<DataItem> items);

// BenchmarkPerfScheduling_benchmark_<topic>_<time>.json, which is what the dashboard looks for.
std::string DataItemsFileName(std::string_view topic, base::Time now);
// Writes the file into the folder, which is created if it is missing. Returns its path.
Result<std::string> WriteDataItems(const std::string& folder, std::string_view topic, base::Time now,
                                   const std::vector<DataItem>& items);

}  // namespace berth::perf
