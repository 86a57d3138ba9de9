#include "metrics/version_info.h"

#include <utility>

namespace berth::metrics {

void AddVersionInfo(Registry& registry, const VersionInfo& info) {
  Description description{
      .name = "version_info",
      .help =
          "Provides the compatibility version info of the component. The component label is the name of the "
          "component, usually kube, but is relevant for aggregated-apiservers.",
      .stability = Stability::kAlpha,
      .labels = {"component", "binary", "emulation", "min_compat"}};
  registry.AddComputed(std::move(description), MetricType::kGauge, [info](SampleSink& sink) {
    sink.Add({"kube", info.binary, info.emulation, info.min_compat}, 1);
  });
}

}  // namespace berth::metrics
