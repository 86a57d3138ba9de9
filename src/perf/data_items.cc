#include "perf/data_items.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "api/time.h"
#include "base/file.h"
#include "codec/json_writer.h"

namespace berth::perf {

namespace {

bool IsAbout(const ThresholdMetricSelector& selector, const DataItem& item) {
  const auto metric = item.labels.find("Metric");
  if (metric == item.labels.end() || metric->second != selector.name) return false;
  for (const auto& [label, value] : selector.labels) {
    const auto found = item.labels.find(label);
    if (found == item.labels.end() || found->second != value) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> ApplyThreshold(std::vector<DataItem>& items, double threshold,
                                        const ThresholdMetricSelector& selector) {
  std::vector<std::string> misses;
  if (threshold == 0) return misses;
  bool any = false;
  for (DataItem& item : items) {
    if (!IsAbout(selector, item)) continue;
    any = true;
    const auto found = item.data.find(selector.data_bucket);
    if (found == item.data.end()) {
      misses.push_back(fmt::format("{}: no data present for \"{}\" metric \"{}\" bucket", item.labels["Name"],
                                   selector.name, selector.data_bucket));
      continue;
    }
    const double value = found->second;
    item.data[selector.data_bucket + "Threshold"] = threshold;
    if (selector.expect_lower ? value < threshold : value > threshold) continue;
    misses.push_back(fmt::format("{}: expected \"{}\" \"{}\" to be {}: got {:.3f}, want {:.3f}", item.labels["Name"],
                                 selector.name, selector.data_bucket, selector.expect_lower ? "lower" : "higher", value,
                                 threshold));
  }
  // A threshold that no item matches must not look as if it were met.
  if (!any && !items.empty()) {
    misses.push_back(fmt::format("{}: no metric \"{}\" with the labels of the threshold's selector was collected",
                                 items.front().labels["Name"], selector.name));
  }
  return misses;
}

std::string ToJson(std::vector<DataItem> items) {
  std::set<std::string> labels;
  for (const DataItem& item : items) {
    for (const auto& [label, value] : item.labels) labels.insert(label);
  }
  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  json.StartObject();
  json.Key("version");
  json.String("v1");
  json.Key("dataItems");
  json.StartArray();
  for (DataItem& item : items) {
    json.StartObject();
    json.Key("data");
    json.StartObject();
    for (const auto& [bucket, value] : item.data) {
      json.Key(bucket);
      json.Double(value);
    }
    json.EndObject();
    json.Key("unit");
    json.String(item.unit);
    json.Key("labels");
    json.StartObject();
    for (const std::string& label : labels) {
      json.Key(label);
      json.String(item.labels.emplace(label, "not applicable").first->second);
    }
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return out + "\n";
}

std::string DataItemsFileName(std::string_view topic, base::Time now) {
  return fmt::format("BenchmarkPerfScheduling_benchmark_{}_{}.json", topic, api::FormatTime(now));
}

Result<std::string> WriteDataItems(const std::string& folder, std::string_view topic, base::Time now,
                                   const std::vector<DataItem>& items) {
  std::error_code made;
  std::filesystem::create_directories(folder, made);
  const std::string path = (std::filesystem::path(folder) / DataItemsFileName(topic, now)).string();
  const Result<void> written = base::WriteFile(path, ToJson(items));
  if (!written) return Error::Unavailable(fmt::format("{}: cannot write: {}", path, written.error().message));
  return path;
}

}  // namespace berth::perf
