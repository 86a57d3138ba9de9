// The wire format between a client and the model API server: parses requests and builds answers, in JSON or protobuf as
// the client asks for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "base/result.h"
#include "http/transport.h"

namespace berth::storm {

struct ApiRequest {
  api::Kind kind;
  std::string name_space{};
  std::string name{};  // "" for the whole collection
  std::string subresource{};
  std::map<std::string, std::string> query{};
  bool protobuf = false;  // requested for the answer

  const std::string& Parameter(const std::string& key) const;
  std::string Key() const { return name_space.empty() ? name : name_space + "/" + name; }
};

// An error if the path has no known kind.
Result<ApiRequest> ReadRequest(const http::Request& request);
std::string_view FindHeader(const http::Request& request, std::string_view name);

// metav1.Status of a failure.
struct Refusal {
  int code;
  std::string reason{};
  std::string message{};
  int retry_after = 0;  // seconds; 0: none
  std::string cause{};
};

struct Reply {
  int code = 200;
  std::string body{};
  http::Headers headers{};
};

Reply RefusalReply(const Refusal& refusal);
Reply ObjectReply(int code, bool protobuf, const api::Object& object);
Reply ListReply(bool protobuf, api::Kind kind, const std::vector<api::Object>& objects, uint64_t revision,
                const std::string& continue_token);
// A minimal Status of a success.
Reply SuccessReply(int code);

http::Headers WatchHeaders(bool protobuf);
std::string ObjectFrame(bool protobuf, std::string_view type, const api::Object& object);
std::string BookmarkFrame(bool protobuf, api::Kind kind, uint64_t revision, bool initial_events_end);
std::string ErrorFrame(bool protobuf, const Refusal& refusal);

// The object in the body of a POST or PUT.
Result<api::Object> ReadObject(const http::Request& request);
struct BindingBody {
  std::string uid;
  std::string node;
};
Result<BindingBody> ReadBinding(const http::Request& request);

}  // namespace berth::storm
