// The scheduler's pages, by path, behind authentication and authorization.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "metrics/component_metrics.h"
#include "metrics/registry.h"
#include "serving/authentication.h"
#include "serving/authorization.h"
#include "serving/health.h"
#include "serving/pod_resource_metrics.h"
#include "serving/server.h"

namespace berth::serving {

// What the pages show. Callbacks run on the server's threads; a page whose callback is unset does not exist.
struct Pages {
  std::string component = "kube-scheduler";
  metrics::BuildInfo build{};
  std::string binary_version{};
  std::string emulation_version{};

  // Upstream's: healthz has leaderElection, livez none of its own, readyz leaderElection, shutdown and
  // sched-handler-sync. A page without checks has ping.
  std::vector<HealthCheck> healthz{};
  std::vector<HealthCheck> livez{};
  std::vector<HealthCheck> readyz{};

  metrics::Registry* metrics = nullptr;  // required; must outlive the endpoints
  // Calls Add for every pod. Empty on a standby: only the leader reports, or everything would be counted twice.
  std::function<void(PodResourceWriter& writer)> pod_resources{};
  std::function<bool()> is_leader{};  // unset: always

  std::function<std::string()> configuration{};  // KubeSchedulerConfiguration as JSON, for /configz
  std::function<std::map<std::string, std::string>()> flags{};
  // Every path below /debug/berth/.
  std::function<HttpResponse(const HttpRequest& request)> debug{};
};

// Thread-safe.
class Endpoints final : public RequestHandler {
 public:
  // All must outlive it.
  Endpoints(Pages pages, Authenticator& authenticator, Authorizer& authorizer, const base::Clock& clock);

  std::optional<HttpResponse> TryHandle(const HttpRequest& request) override;
  HttpResponse Handle(const HttpRequest& request) override;

  std::vector<std::string> Paths() const;  // sorted

 private:
  struct Route {
    std::function<HttpResponse(const HttpRequest& request)> serve;
    bool quick = false;  // never blocks: may run on the I/O thread
  };

  void AddHealth(std::string name, std::vector<HealthCheck> checks);
  void AddMetrics();
  void AddAboutPages();
  HttpResponse Serve(const HttpRequest& request) const;

  const Pages pages_;
  Authenticator& authenticator_;
  Authorizer& authorizer_;
  const base::Clock& clock_;
  const base::Time started_;
  metrics::Registry slis_;  // of /metrics/slis
  metrics::HealthCheckMetrics health_metrics_;
  std::vector<std::unique_ptr<HealthPage>> health_pages_;
  std::map<std::string, Route, std::less<>> routes_;  // constant after construction
};

}  // namespace berth::serving
