#include <benchmark/benchmark.h>

#include "cel/device_environment.h"

namespace berth::cel {
namespace {

DeviceInput BenchDevice() {
  std::vector<DeviceInput::Attribute> attributes = {{"model", std::string("A100-SXM4-80GB")},
                                                    {"driverVersion", VersionText{"1.2.3"}}};
  for (int i = 0; i < 14; ++i) attributes.push_back({"attribute" + std::to_string(i), int64_t{i}});
  return DeviceInput(DeviceFeatures{}, "gpu.example.com", false, attributes, {{"memory", "80Gi"}});
}

void Selector(benchmark::State& state, const char* expression) {
  const auto compiled = Compile(expression, NewDeviceEnvironment(DeviceFeatures{}));
  const std::shared_ptr<const Program> program = std::get<0>(compiled);
  const DeviceInput device = BenchDevice();
  for (auto _ : state) benchmark::DoNotOptimize(Evaluate(*program, device));
}
BENCHMARK_CAPTURE(Selector, Equality, "device.attributes[\"gpu.example.com\"].model == \"A100-SXM4-80GB\"");
BENCHMARK_CAPTURE(
    Selector, Typical,
    "device.driver == \"gpu.example.com\" && device.attributes[\"gpu.example.com\"].model.startsWith(\"A100\") "
    "&& device.capacity[\"gpu.example.com\"].memory.compareTo(quantity(\"40Gi\")) >= 0");
BENCHMARK_CAPTURE(Selector, Version,
                  "device.attributes[\"gpu.example.com\"].driverVersion.isGreaterThan(semver(\"1.2.0\"))");
BENCHMARK_CAPTURE(Selector, Loop, "[1, 2, 3, 4, 5, 6, 7, 8].exists(x, x == 8)");

void CompileTypical(benchmark::State& state) {
  const auto environment = NewDeviceEnvironment(DeviceFeatures{});
  for (auto _ : state) {
    benchmark::DoNotOptimize(Compile("device.attributes[\"gpu.example.com\"].model.startsWith(\"A100\")", environment));
  }
}
BENCHMARK(CompileTypical);

}  // namespace
}  // namespace berth::cel
