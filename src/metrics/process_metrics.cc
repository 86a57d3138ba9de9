#include "metrics/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace berth::metrics {
namespace {

// Empty if /proc does not have it: then the metric is not exposed.
std::string ReadProc(const char* path) {
  Result<std::string> text = base::ReadFile(path);
  return text ? *std::move(text) : std::string();
}

// The fields of /proc/self/stat from the third on; the second is the name, which may contain anything.
std::vector<std::string> StatFields() {
  const std::string text = ReadProc("/proc/self/stat");
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

// Numbered as in proc(5), where the first field is 1.
std::optional<double> StatField(const std::vector<std::string>& fields, size_t number) {
  if (fields.size() + 3 <= number) return std::nullopt;
  const std::string& text = fields[number - 3];
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<double> CpuSeconds() {
  const std::vector<std::string> fields = StatFields();
  const std::optional<double> user = StatField(fields, 14);
  const std::optional<double> system = StatField(fields, 15);
  if (!user || !system) return std::nullopt;
  return (*user + *system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::optional<double> VirtualMemory() { return StatField(StatFields(), 23); }

std::optional<double> ResidentMemory() {
  const std::optional<double> pages = StatField(StatFields(), 24);
  if (!pages) return std::nullopt;
  return *pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::optional<double> OpenFiles() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return std::nullopt;
  double count = 0;
  while (const dirent* entry = readdir(folder.get())) count += entry->d_name[0] != '.';
  return count - 1;  // the folder itself
}

std::optional<double> Limit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return std::nullopt;
  // The Go library prints "unlimited" as the largest number.
  return static_cast<double>(limit.rlim_cur);
}

// Bytes over all interfaces of the process's network namespace: {received, sent}.
std::optional<std::pair<double, double>> NetworkBytes() {
  std::istringstream lines(ReadProc("/proc/self/net/netstat"));
  std::string names;
  std::string numbers;
  while (std::getline(lines, names) && std::getline(lines, numbers)) {
    if (!names.starts_with("IpExt:")) continue;
    std::istringstream name_fields(names);
    std::istringstream number_fields(numbers);
    std::string name;
    std::string number;
    std::pair<double, double> bytes{0, 0};
    while (name_fields >> name && number_fields >> number) {
      if (name == "InOctets") bytes.first = std::strtod(number.c_str(), nullptr);
      if (name == "OutOctets") bytes.second = std::strtod(number.c_str(), nullptr);
    }
    return bytes;
  }
  return std::nullopt;
}

std::optional<double> BytesReceived() {
  const auto bytes = NetworkBytes();
  return bytes ? std::optional(bytes->first) : std::nullopt;
}

std::optional<double> BytesSent() {
  const auto bytes = NetworkBytes();
  return bytes ? std::optional(bytes->second) : std::nullopt;
}

}  // namespace

double ProcessStartTime() {
  const std::optional<double> ticks_after_boot = StatField(StatFields(), 22);
  std::istringstream lines(ReadProc("/proc/stat"));
  std::string word;
  while (lines >> word) {
    double boot = 0;
    if (word != "btime" || !(lines >> boot)) continue;
    return ticks_after_boot ? boot + *ticks_after_boot / static_cast<double>(sysconf(_SC_CLK_TCK)) : 0;
  }
  return 0;
}

void AddProcessMetrics(Registry& registry) {
  struct Row {
    const char* name;
    const char* help;
    MetricType type;
    std::optional<double> (*read)();
  };
  static constexpr Row kRows[] = {
      {"process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", MetricType::kCounter,
       CpuSeconds},
      {"process_open_fds", "Number of open file descriptors.", MetricType::kGauge, OpenFiles},
      {"process_max_fds", "Maximum number of open file descriptors.", MetricType::kGauge,
       [] { return Limit(RLIMIT_NOFILE); }},
      {"process_virtual_memory_bytes", "Virtual memory size in bytes.", MetricType::kGauge, VirtualMemory},
      {"process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.", MetricType::kGauge,
       [] { return Limit(RLIMIT_AS); }},
      {"process_resident_memory_bytes", "Resident memory size in bytes.", MetricType::kGauge, ResidentMemory},
      {"process_start_time_seconds", "Start time of the process since unix epoch in seconds.", MetricType::kGauge,
       [] { return std::optional(ProcessStartTime()); }},
      {"process_network_receive_bytes_total", "Number of bytes received by the process over the network.",
       MetricType::kCounter, BytesReceived},
      {"process_network_transmit_bytes_total", "Number of bytes sent by the process over the network.",
       MetricType::kCounter, BytesSent},
  };
  for (const Row& row : kRows) {
    registry.AddComputed({.name = row.name, .help = row.help}, row.type, [read = row.read](SampleSink& sink) {
      if (const std::optional<double> value = read()) sink.Add({}, *value);
    });
  }
}

}  // namespace berth::metrics
