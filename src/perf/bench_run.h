// Engine benchmarks: schedules pods one after another with the real scheduler on an in-memory cluster, each pod with
// those before it in place. There is no API: binding succeeds at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::perf {

struct EngineBenchOptions {
  std::string kind = "basic";
  uint64_t nodes = 5000;
  uint64_t pods = 10000;
  uint64_t existing = 0;  // pods bound before the start, spread over the nodes
  bool unlike = false;    // each of those has its own labels, requests and image
  uint64_t lifetime = 0;  // a pod is deleted when this many more have been scheduled; 0: never
  uint64_t seed = 1;
  uint64_t threads = 1;  // that share passes over many nodes
  bool verify_incremental = false;
  uint64_t journal_mb = 0;  // attempts are recorded, as in the live scheduler, within this many megabytes
};

struct EngineBenchResult {
  double pods_per_second = 0;
  double us_per_pod = 0;  // mean
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
  uint64_t scheduled = 0;
  uint64_t unschedulable = 0;
  uint64_t preempted = 0;
  double start_up_s = 0;  // from an empty cluster to the first decision
  double making_s = 0;    // the part of it that making the existing pods took, as decoding a list would
  // The memory added with the nodes and with the existing pods, divided by their number.
  double bytes_per_node = 0;
  double bytes_per_existing_pod = 0;
  double warm_rss_mb = 0;  // when timing began
  double end_rss_mb = 0;   // when it ended
  double rss_mb = 0;       // peak of the process
};

// In the order of the table in docs/performance.md.
std::vector<std::string_view> EngineBenchKinds();

// A tenth as many pods are scheduled before those that are timed. Fails for an unknown kind.
Result<EngineBenchResult> RunEngineBench(const EngineBenchOptions& options);

}  // namespace berth::perf
