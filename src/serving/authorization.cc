#include "serving/authorization.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace berth::serving {
namespace {

constexpr size_t kAnswerCapacity = 8192;
// A question larger than this is not cached; upstream has the same limit.
constexpr size_t kMaxCachedQuestion = 10'000;

std::string_view WithoutSlash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

}  // namespace

Authorizer::Authorizer(const AuthorizationOptions& options, Reviewer* reviewer, const base::Clock& monotonic)
    : options_(options), reviewer_(reviewer), answers_(monotonic, kAnswerCapacity) {}

Result<std::unique_ptr<Authorizer>> Authorizer::Create(const AuthorizationOptions& options, Reviewer* reviewer,
                                                       const base::Clock& monotonic) {
  std::unique_ptr<Authorizer> authorizer(new Authorizer(options, reviewer, monotonic));
  for (const std::string& allowed : options.always_allow_paths) {
    const std::string_view path = WithoutSlash(allowed);
    const size_t star = path.find('*');
    if (star == std::string_view::npos) {
      authorizer->paths_.emplace(path);
    } else if (star + 1 == path.size()) {
      authorizer->prefixes_.emplace_back(path.substr(0, star));
    } else {
      return Error::InvalidArgument("--authorization-always-allow-paths: only trailing * allowed in \"" +
                                    std::string(path) + "\"");
    }
  }
  return authorizer;
}

bool Authorizer::AlwaysAllowed(const AccessQuestion& question) const {
  for (const std::string& group : options_.always_allow_groups) {
    if (std::ranges::find(question.user.groups, group) != question.user.groups.end()) return true;
  }
  const std::string_view path = WithoutSlash(question.path);
  return paths_.contains(path) ||
         std::ranges::any_of(prefixes_, [&](const std::string& prefix) { return path.starts_with(prefix); });
}

std::optional<AccessAnswer> Authorizer::TryAuthorize(const AccessQuestion& question) {
  if (AlwaysAllowed(question)) return AccessAnswer{.allowed = true};
  if (!reviewer_) return AccessAnswer{};
  return answers_.Get(AccessSpec(question));
}

Result<AccessAnswer> Authorizer::Authorize(const AccessQuestion& question) {
  if (std::optional<AccessAnswer> known = TryAuthorize(question)) return *known;
  Result<AccessAnswer> answer = reviewer_->ReviewAccess(question);
  if (!answer) {
    LOG_ERROR("Failed to make webhook authorizer request", {"err", answer.error()});
    return answer;
  }
  if (answer->denied) answer->allowed = false;
  if (std::string key = AccessSpec(question); key.size() < kMaxCachedQuestion) {
    answers_.Put(key, *answer, answer->allowed ? options_.allow_cache_ttl : options_.deny_cache_ttl);
  }
  return answer;
}

}  // namespace berth::serving
