// A Reviewer that answers from tables and counts its calls.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "serving/reviewer.h"

namespace berth::serving {

class FakeReviewer final : public Reviewer {
 public:
  // A token for an audience is listed as "AUDIENCE:TOKEN".
  Result<std::optional<User>> ReviewToken(const std::string& token, const std::string& audience) override {
    ++token_reviews;
    if (down) return Error::Unavailable("the API server is down");
    const auto found = tokens.find(audience.empty() ? token : audience + ":" + token);
    return found == tokens.end() ? std::optional<User>() : std::optional(found->second);
  }
  Result<AccessAnswer> ReviewAccess(const AccessQuestion& question) override {
    ++access_reviews;
    if (down) return Error::Unavailable("the API server is down");
    return AccessAnswer{allowed.contains({question.user.name, question.path}), false, reason};
  }

  std::map<std::string, User> tokens;
  std::set<std::pair<std::string, std::string>> allowed;  // user, path
  std::string reason;
  std::atomic<bool> down = false;
  std::atomic<int> token_reviews = 0;
  std::atomic<int> access_reviews = 0;
};

}  // namespace berth::serving
