// Whether a user may read a path: some groups and paths always, anything else by asking the API server. Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "serving/reviewer.h"
#include "serving/ttl_cache.h"

namespace berth::serving {

struct AuthorizationOptions {
  // --authorization-always-allow-paths: exact, or a prefix if it ends in *.
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
  std::vector<std::string> always_allow_groups = {"system:masters"};
  base::Duration allow_cache_ttl = std::chrono::seconds(10);  // --authorization-webhook-cache-authorized-ttl
  base::Duration deny_cache_ttl = std::chrono::seconds(10);   // --authorization-webhook-cache-unauthorized-ttl
};

class Authorizer {
 public:
  // Without `reviewer` everything else is forbidden. Both must outlive it.
  static Result<std::unique_ptr<Authorizer>> Create(const AuthorizationOptions& options, Reviewer* reviewer,
                                                    const base::Clock& monotonic);

  // TryAuthorize never calls the API server: it has no answer if that must be asked.
  std::optional<AccessAnswer> TryAuthorize(const AccessQuestion& question);
  Result<AccessAnswer> Authorize(const AccessQuestion& question);

 private:
  Authorizer(const AuthorizationOptions& options, Reviewer* reviewer, const base::Clock& monotonic);
  bool AlwaysAllowed(const AccessQuestion& question) const;

  const AuthorizationOptions options_;
  Reviewer* const reviewer_;
  std::set<std::string, std::less<>> paths_;  // without the leading slash, which is optional in the flag
  std::vector<std::string> prefixes_;
  TtlCache<AccessAnswer> answers_;
};

}  // namespace berth::serving
