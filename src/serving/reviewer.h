// Token and access reviews, which the API server answers for this server.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/transport.h"

namespace berth::serving {

struct User {
  std::string name;
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};

  friend bool operator==(const User&, const User&) = default;
};

// Access to a path that is not an API object: this server has nothing else.
struct AccessQuestion {
  User user;
  std::string verb;  // the HTTP method in lower case
  std::string path;
};

struct AccessAnswer {
  bool allowed = false;
  bool denied = false;  // final; otherwise no authorizer allowed it
  std::string reason{};
};

// Called on the server's workers, concurrently; may block.
class Reviewer {
 public:
  virtual ~Reviewer() = default;
  // Nothing if the token is invalid, or not meant for `audience`; an empty audience is the API server itself.
  virtual Result<std::optional<User>> ReviewToken(const std::string& token, const std::string& audience) = 0;
  virtual Result<AccessAnswer> ReviewAccess(const AccessQuestion& question) = 0;
};

// Uses TokenReview and SubjectAccessReview.
class ApiReviewer final : public Reviewer {
 public:
  explicit ApiReviewer(http::Transport& transport) : transport_(transport) {}

  Result<std::optional<User>> ReviewToken(const std::string& token, const std::string& audience) override;
  Result<AccessAnswer> ReviewAccess(const AccessQuestion& question) override;

 private:
  // Posts the object and returns the `status` of the server's answer; `api` is the path below /apis/.
  Result<std::string> Post(const std::string& api, std::string body);

  http::Transport& transport_;
};

// The SubjectAccessReview's spec as JSON; also the cache key of the question.
std::string AccessSpec(const AccessQuestion& question);

}  // namespace berth::serving
