// Who is asking, and may they: questions that the API server answers for this one.
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

// A path that is no API object: all this server has.
struct AccessQuestion {
  User user;
  std::string verb;  // the HTTP method in lower case
  std::string path;
};

struct AccessAnswer {
  bool allowed = false;
  bool denied = false;  // final; otherwise nobody allowed it
  std::string reason{};
};

// Called on the server's workers, several at a time; may block.
class Reviewer {
 public:
  virtual ~Reviewer() = default;
  // Nothing when the token is nobody's, or not meant for `audience`, which is the API server itself when empty.
  virtual Result<std::optional<User>> ReviewToken(const std::string& token, const std::string& audience) = 0;
  virtual Result<AccessAnswer> ReviewAccess(const AccessQuestion& question) = 0;
};

// By TokenReview and SubjectAccessReview.
class ApiReviewer final : public Reviewer {
 public:
  explicit ApiReviewer(http::Transport& transport) : transport_(transport) {}

  Result<std::optional<User>> ReviewToken(const std::string& token, const std::string& audience) override;
  Result<AccessAnswer> ReviewAccess(const AccessQuestion& question) override;

 private:
  // The `status` of what the server made of the object; `api` is the path below /apis/.
  Result<std::string> Post(const std::string& api, std::string body);

  http::Transport& transport_;
};

// The SubjectAccessReview's spec as JSON; also what tells two questions apart.
std::string AccessSpec(const AccessQuestion& question);

}  // namespace berth::serving
