#include "serving/health.h"

#include <set>
#include <utility>

#include "base/go_text.h"
#include "base/log.h"

namespace berth::serving {

HealthCheck PingCheck() {
  return {"ping", [] { return std::nullopt; }};
}

HealthPage::HealthPage(std::string name, std::vector<HealthCheck> checks, metrics::HealthCheckMetrics* metrics)
    : name_(std::move(name)),
      checks_(checks.empty() ? std::vector{PingCheck()} : std::move(checks)),
      metrics_(metrics) {}

void HealthPage::Observe(const HealthCheck& check, bool well) const {
  if (!metrics_) return;
  metrics_->healthcheck.With(check.name, name_).Set(well);
  metrics_->healthchecks.With(check.name, name_, well ? "success" : "error").Add();
}

HttpResponse HealthPage::Serve(const HttpRequest& request) const {
  const std::vector<std::string> exclusions = request.QueryValues("exclude");
  const std::set<std::string> excluded(exclusions.begin(), exclusions.end());
  std::set<std::string> unknown = excluded;
  std::string lines;
  std::string failed;
  std::string details;
  for (const HealthCheck& check : checks_) {
    if (excluded.contains(check.name)) {
      unknown.erase(check.name);
      lines += "[+]" + check.name + " excluded: ok\n";
      continue;
    }
    const std::optional<std::string> problem = check.run();
    Observe(check, !problem);
    if (!problem) {
      const std::string note = check.note ? check.note() : std::string();
      lines += "[+]" + check.name + " ok" + (note.empty() ? "" : ": " + note) + "\n";
      continue;
    }
    lines += "[-]" + check.name + " failed: reason withheld\n";
    details += "[-]" + check.name + " failed: " + *problem + "\n";
    failed += (failed.empty() ? "" : ",") + check.name;
  }
  if (!unknown.empty()) {
    lines += "warn: some health checks cannot be excluded: no matches for ";
    for (const std::string& name : unknown) {
      if (name != *unknown.begin()) lines += ',';
      base::AppendQuoted(lines, name);
    }
    lines += '\n';
  }
  if (!failed.empty()) {
    LOG_INFO(2, "Health check failed", {"page", name_}, {"checks", failed}, {"details", details});
    return TextError(500, lines + name_ + " check failed");
  }
  HttpResponse response{.body = "ok"};
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  if (request.HasQuery("verbose")) response.body = lines + name_ + " check passed\n";
  return response;
}

HttpResponse HealthPage::ServeOne(const HealthCheck& check) const {
  if (const std::optional<std::string> problem = check.run()) {
    return TextError(500, "internal server error: " + *problem);
  }
  return {.body = "ok"};
}

}  // namespace berth::serving
