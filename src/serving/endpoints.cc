#include "serving/endpoints.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/go_text.h"
#include "base/log.h"
#include "metrics/process_metrics.h"
#include "serving/status_body.h"
#include "serving/zpages.h"

namespace berth::serving {
namespace {

AccessQuestion QuestionOf(const HttpRequest& request, User user) {
  return {std::move(user), base::LowerCase(request.method), request.path};
}

HttpResponse MetricsText(std::string body) {
  return {.content_type = std::string(metrics::kContentType), .body = std::move(body)};
}

// What upstream answers if it cannot determine whether a request is allowed.
HttpResponse InternalError(const HttpRequest& request, const Error& error) {
  std::string message = "Internal Server Error: ";
  base::AppendQuoted(message, request.target);
  return TextError(500, message + ": " + error.message);
}

base::Time ProcessStart() {
  return base::Time(
      std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(metrics::ProcessStartTime())));
}

}  // namespace

Endpoints::Endpoints(Pages pages, Authenticator& authenticator, Authorizer& authorizer, const base::Clock& clock)
    : pages_(std::move(pages)),
      authenticator_(authenticator),
      authorizer_(authorizer),
      clock_(clock),
      started_(ProcessStart()),
      health_metrics_(slis_) {
  CHECK(pages_.metrics != nullptr);
  AddHealth("healthz", pages_.healthz);
  AddHealth("livez", pages_.livez);
  AddHealth("readyz", pages_.readyz);
  AddMetrics();
  AddAboutPages();
}

void Endpoints::AddHealth(std::string name, std::vector<HealthCheck> checks) {
  health_pages_.push_back(std::make_unique<HealthPage>(std::move(name), std::move(checks), &health_metrics_));
  const HealthPage& page = *health_pages_.back();
  const std::string path = "/" + page.name();
  routes_[path] = {[&page](const HttpRequest& request) { return page.Serve(request); }, /*quick=*/true};
  for (const HealthCheck& check : page.checks()) {
    routes_[path + "/" + check.name] = {[&page, &check](const HttpRequest&) { return page.ServeOne(check); }, true};
  }
}

void Endpoints::AddMetrics() {
  // DELETE resets everything to zero, as on upstream's pages.
  const auto exposing = [](metrics::Registry& registry) {
    return [&registry](const HttpRequest& request) -> HttpResponse {
      if (request.method != "DELETE") return MetricsText(registry.Expose());
      registry.Reset();
      return {.body = "metrics reset\n"};
    };
  };
  routes_["/metrics"] = {exposing(*pages_.metrics)};
  routes_["/metrics/slis"] = {exposing(slis_)};
  if (!pages_.pod_resources) return;
  routes_["/metrics/resources"] = {[this](const HttpRequest&) {
    PodResourceWriter writer;
    if (!pages_.is_leader || pages_.is_leader()) pages_.pod_resources(writer);
    return MetricsText(writer.Finish());
  }};
}

void Endpoints::AddAboutPages() {
  if (pages_.configuration) {
    routes_["/configz"] = {[this](const HttpRequest&) -> HttpResponse {
      return {.content_type = "application/json", .body = "{\"componentconfig\":" + pages_.configuration() + "}"};
    }};
  }
  if (pages_.flags) {
    routes_["/flagz"] = {
        [this](const HttpRequest& request) { return FlagzPage(request, pages_.component, pages_.flags()); }};
  }
  routes_["/version"] = {[this](const HttpRequest&) { return VersionPage(pages_.build); }};
  routes_["/statusz"] = {[this](const HttpRequest& request) {
    return StatuszPage(request, {pages_.component, started_, clock_.Now(), pages_.build, pages_.binary_version,
                                 pages_.emulation_version, Paths()});
  }};
}

std::vector<std::string> Endpoints::Paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, route] : routes_) paths.push_back(path);
  if (pages_.debug) paths.insert(std::ranges::lower_bound(paths, kDebugPrefix), std::string(kDebugPrefix));
  return paths;
}

HttpResponse Endpoints::Serve(const HttpRequest& request) const {
  if (pages_.debug && request.path.starts_with(kDebugPrefix)) return pages_.debug(request);
  const auto route = routes_.find(request.path);
  return route == routes_.end() ? TextError(404, "404 page not found") : route->second.serve(request);
}

std::optional<HttpResponse> Endpoints::TryHandle(const HttpRequest& request) {
  const auto route = routes_.find(request.path);
  if (route == routes_.end() || !route->second.quick) return std::nullopt;
  std::optional<Result<User>> user = authenticator_.TryAuthenticate(request);
  if (!user) return std::nullopt;
  if (!user->ok()) return Unauthorized(request);
  const AccessQuestion question = QuestionOf(request, std::move(**user));
  const std::optional<AccessAnswer> answer = authorizer_.TryAuthorize(question);
  if (!answer) return std::nullopt;
  return answer->allowed ? Serve(request) : Forbidden(request, question, answer->reason);
}

HttpResponse Endpoints::Handle(const HttpRequest& request) {
  Result<User> user = authenticator_.Authenticate(request);
  if (!user) return Unauthorized(request);
  const AccessQuestion question = QuestionOf(request, std::move(*user));
  const Result<AccessAnswer> answer = authorizer_.Authorize(question);
  if (!answer) return InternalError(request, answer.error());
  if (!answer->allowed) {
    LOG_INFO(4, "Forbidden", {"URI", request.target}, {"reason", answer->reason});
    return Forbidden(request, question, answer->reason);
  }
  return Serve(request);
}

}  // namespace berth::serving
