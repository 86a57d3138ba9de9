// Prometheus' text exposition format 0.0.4, formatted as by Prometheus' Go library.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "metrics/metric.h"

namespace berth::metrics {

inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };
// Kubernetes' stability level of a metric, printed before the help text. kRaw guarantees nothing and prints nothing.
enum class Stability : uint8_t { kRaw, kAlpha, kBeta, kStable };

struct Label {
  std::string_view name;
  std::string_view value;
};

// Appends to a string. A family's lines stay together: first Header, then its samples, then the next family.
class ExpositionWriter {
 public:
  explicit ExpositionWriter(std::string& out) : out_(out) {}

  void Header(std::string_view name, std::string_view help, MetricType type, Stability stability);
  // In the order given; Prometheus' own library sorts labels by name, so pass them sorted.
  void Sample(std::string_view name, std::span<const Label> labels, double value);
  void Sample(std::string_view name, std::span<const Label> labels, const Histogram& histogram);

 private:
  void Name(std::string_view name, std::string_view suffix, std::span<const Label> labels, std::string_view le = {});

  std::string& out_;
};

std::string_view StabilityName(Stability stability);  // "STABLE"; "" for kRaw

}  // namespace berth::metrics
