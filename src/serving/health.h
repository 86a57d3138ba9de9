// /healthz, /livez, /readyz: named checks, and their results in upstream's wording.
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
  // Nothing if the check passes, otherwise the reason. Called on the server's I/O thread: must not block.
  std::function<std::optional<std::string>()> run;
  // Added after "ok" with ?verbose, for information that is no reason to fail; "" and unset: nothing.
  std::function<std::string()> note{};
};

// Always passes: any answer at all shows that the server runs.
HealthCheck PingCheck();

// One of the three pages. Thread-safe if its checks are.
class HealthPage {
 public:
  // `name` is "healthz", "livez" or "readyz"; without checks it has ping. `metrics` may be null.
  HealthPage(std::string name, std::vector<HealthCheck> checks, metrics::HealthCheckMetrics* metrics);

  // The page: "ok", or with ?verbose every check; ?exclude=NAME skips one. 500 with every check if one fails, without
  // the reason, which is only in the log and on the check's own page.
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
