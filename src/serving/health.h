// /healthz, /livez, /readyz: named checks, and their results as upstream words them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "metrics/component_metrics.h"
#include "serving/http.h"

namespace berth::serving {

struct HealthCheck {
  std::string name;
  // Nothing when all is well, else what is wrong. Called on the server's I/O thread: must not block.
  std::function<std::optional<std::string>()> run;
  // Said after "ok" with ?verbose, for what is worth knowing but no reason to fail; "" and unset: nothing.
  std::function<std::string()> note{};
};

// Always well: that an answer comes is the point.
HealthCheck PingCheck();

// One of the three pages. Thread-safe if its checks are.
class HealthPage {
 public:
  // `name` is "healthz", "livez" or "readyz"; without checks it has ping. `metrics` may be null.
  HealthPage(std::string name, std::vector<HealthCheck> checks, metrics::HealthCheckMetrics* metrics);

  // The page: "ok", or with ?verbose every check; ?exclude=NAME leaves one out. 500 with every check when one fails,
  // without the reason, which only the log and the page of the check tell.
  HttpResponse Serve(const HttpRequest& request) const;
  // /healthz/NAME.
  HttpResponse ServeOne(const HealthCheck& check) const;

  const std::vector<HealthCheck>& checks() const { return checks_; }
  const std::string& name() const { return name_; }

 private:
  void Observe(const HealthCheck& check, bool well) const;

  const std::string name_;
  const std::vector<HealthCheck> checks_;
  metrics::HealthCheckMetrics* const metrics_;
};

}  // namespace berth::serving
