// The report of a run of berth shadow: as text, JSON (docs/schemas/live/ShadowReport.json), Markdown and one HTML page,
// and while it runs as metrics in Prometheus' format.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "shadow/comparison.h"

namespace berth::shadow {

struct ShadowReport {
  std::string version;        // of berth
  std::string server;         // the API server, or the recording
  std::string configuration;  // where it came from; "" for the default one
  base::Time begun{};
  base::Time ended{};
  size_t nodes = 0;      // at the end
  bool samples = false;  // the other scheduler's configuration makes it evaluate only some of the nodes
  Tally tally;
  std::vector<Comparison> differences;  // everything but agreement, in the order of time; at most a few thousand
  size_t differences_left_out = 0;
  std::vector<std::string> notes;

  // Agreement is only counted.
  void Keep(const Comparison& comparison);
};

std::string ToText(const ShadowReport& report);
std::string ToJson(const ShadowReport& report);
std::string ToMarkdown(const ShadowReport& report);
std::string ToHtml(const ShadowReport& report);
std::string ToMetrics(const Tally& tally, size_t waiting);

}  // namespace berth::shadow
