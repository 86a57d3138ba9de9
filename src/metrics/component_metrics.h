// Metrics that every Kubernetes component has: about its API client, leader election, build, versions, feature gates
// and health checks. Names, help texts, labels and buckets are those of k8s.io/component-base v1.36.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "metrics/registry.h"

namespace berth::metrics {

struct RestClientMetrics {
  explicit RestClientMetrics(Registry& registry);

  Family<Counter>& requests;                 // code ("<error>" if there was no answer), method, host
  Family<Counter>& request_retries;          // code, verb, host
  Family<Histogram>& request_duration;       // verb, host
  Family<Histogram>& request_size;           // verb, host
  Family<Histogram>& response_size;          // verb, host
  Family<Histogram>& rate_limiter_duration;  // verb, host
};

// For the credential plugins that kubeconfigs name.
struct ExecPluginMetrics {
  // `shortest_life`: in how many seconds the first of their certificates expires.
  ExecPluginMetrics(Registry& registry, std::function<double()> shortest_life);

  Family<Counter>& calls;  // code, call_status
};

struct LeaderElectionMetrics {
  explicit LeaderElectionMetrics(Registry& registry);

  Family<Gauge>& master_status;  // name of the lease: 1 while leading
  Family<Counter>& slowpath;     // name
};

// For /metrics/slis, which has its own registry.
struct HealthCheckMetrics {
  explicit HealthCheckMetrics(Registry& registry);

  Family<Gauge>& healthcheck;     // name, type: 1 while it passes
  Family<Counter>& healthchecks;  // name, type, status: "success" or "error"
};

// The build, as /version and kubernetes_build_info report it.
struct BuildInfo {
  std::string major;
  std::string minor;
  std::string git_version;
  std::string git_commit;
  std::string git_tree_state;
  std::string build_date;
  std::string go_version;  // of the compiler, whatever the language
  std::string compiler;
  std::string platform;
};
void AddBuildInfo(Registry& registry, const BuildInfo& info);

// The versions of Kubernetes that the component is compatible with.
struct VersionInfo {
  std::string binary;      // "1.36.4"
  std::string emulation;   // "1.36"
  std::string min_compat;  // "1.35"
};
void AddVersionInfo(Registry& registry, const VersionInfo& info);

struct FeatureState {
  std::string name;
  std::string stage;  // "ALPHA", "BETA", "DEPRECATED", "" if generally available
  bool enabled = false;
};
void AddFeatureStates(Registry& registry, const std::vector<FeatureState>& features);

// Metrics about the registry's own metrics.
void AddMetaMetrics(Registry& registry);

}  // namespace berth::metrics
