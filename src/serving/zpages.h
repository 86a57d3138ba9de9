// /statusz and /flagz: what runs here and how it was started, as text for people or as config.k8s.io objects.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "metrics/component_metrics.h"
#include "serving/http.h"

namespace berth::serving {

struct ComponentStatus {
  std::string component;
  base::Time started;
  base::Time now;
  metrics::BuildInfo build;
  std::string binary_version;     // "1.36.4"
  std::string emulation_version;  // "1.36"
  std::vector<std::string> paths;
};

HttpResponse StatuszPage(const HttpRequest& request, const ComponentStatus& status);
HttpResponse FlagzPage(const HttpRequest& request, const std::string& component,
                       const std::map<std::string, std::string>& flags);

// The object behind kubectl's and client-go's GET /version.
HttpResponse VersionPage(const metrics::BuildInfo& build);

}  // namespace berth::serving
