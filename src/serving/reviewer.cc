#include "serving/reviewer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "codec/json.h"
#include "codec/json_writer.h"

namespace berth::serving {
namespace {

constexpr auto kReviewTimeout = std::chrono::seconds(10);

void WriteStrings(codec::JsonWriter& writer, const std::vector<std::string>& strings) {
  writer.StartArray();
  for (const std::string& text : strings) writer.String(text);
  writer.EndArray();
}

void WriteSpec(codec::JsonWriter& writer, const AccessQuestion& question) {
  writer.StartObject();
  writer.Key("nonResourceAttributes");
  writer.StartObject();
  writer.Key("path");
  writer.String(question.path);
  writer.Key("verb");
  writer.String(question.verb);
  writer.EndObject();
  writer.Key("user");
  writer.String(question.user.name);
  if (!question.user.groups.empty()) {
    writer.Key("groups");
    WriteStrings(writer, question.user.groups);
  }
  if (!question.user.extra.empty()) {
    writer.Key("extra");
    writer.StartObject();
    for (const auto& [key, values] : question.user.extra) {
      writer.Key(key);
      WriteStrings(writer, values);
    }
    writer.EndObject();
  }
  if (!question.user.uid.empty()) {
    writer.Key("uid");
    writer.String(question.user.uid);
  }
  writer.EndObject();
}

// {"kind":…,"apiVersion":…,"spec":…}, the spec by `write_spec`.
template <class WriteSpecFunction>
std::string Review(std::string_view kind, std::string_view api_version, WriteSpecFunction write_spec) {
  std::string body;
  codec::JsonWriter writer(body);
  writer.StartObject();
  writer.Key("kind");
  writer.String(kind);
  writer.Key("apiVersion");
  writer.String(api_version);
  writer.Key("spec");
  write_spec(writer);
  writer.EndObject();
  return body;
}

bool Flag(const codec::Value& object, std::string_view key) {
  const codec::Value* found = object.Find(key);
  return found && found->boolean();
}

std::vector<std::string> Texts(const codec::Value& list) {
  std::vector<std::string> texts;
  for (const codec::Value& item : list.items()) texts.emplace_back(item.text());
  return texts;
}

User ReadUser(const codec::Value& value) {
  User user{.name = std::string(value.StringAt("username")), .uid = std::string(value.StringAt("uid"))};
  if (const codec::Value* groups = value.Find("groups")) user.groups = Texts(*groups);
  if (const codec::Value* extra = value.Find("extra")) {
    for (const codec::Member& member : extra->members()) user.extra[std::string(member.key)] = Texts(member.value);
  }
  return user;
}

}  // namespace

std::string AccessSpec(const AccessQuestion& question) {
  std::string out;
  codec::JsonWriter writer(out);
  WriteSpec(writer, question);
  return out;
}

Result<std::string> ApiReviewer::Post(const std::string& api, std::string body) {
  Result<http::Response> response =
      transport_.SendAndWait({.method = "POST",
                              .path = "/apis/" + api,
                              .headers = {{"content-type", "application/json"}, {"accept", "application/json"}},
                              .body = std::move(body),
                              .timeout = kReviewTimeout});
  if (!response) return response.error();
  if (response->head.status < 200 || response->head.status > 299) {
    return Error::Unavailable("POST /apis/" + api + ": expected status 201, found " +
                              std::to_string(response->head.status));
  }
  return std::move(response->body);
}

Result<std::optional<User>> ApiReviewer::ReviewToken(const std::string& token, const std::string& audience) {
  std::string review = Review("TokenReview", "authentication.k8s.io/v1", [&](codec::JsonWriter& writer) {
    writer.StartObject();
    writer.Key("token");
    writer.String(token);
    if (!audience.empty()) {
      writer.Key("audiences");
      WriteStrings(writer, {audience});
    }
    writer.EndObject();
  });
  Result<std::string> answer = Post("authentication.k8s.io/v1/tokenreviews", std::move(review));
  if (!answer) return answer.error();
  Result<codec::Document> document = codec::ParseJson(std::move(*answer), "TokenReview");
  if (!document) return document.error();
  const codec::Value* status = document->root().Find("status");
  if (!status) return Error::Unavailable("TokenReview: the answer has no status");
  if (!Flag(*status, "authenticated")) {
    if (std::string problem(status->StringAt("error")); !problem.empty()) return Error::Unavailable(std::move(problem));
    return std::optional<User>();
  }
  // A server that does not know audiences would authenticate any token of its own.
  const codec::Value* audiences = status->Find("audiences");
  const std::vector<std::string> meant_for = audiences ? Texts(*audiences) : std::vector<std::string>();
  if (!audience.empty() && std::ranges::find(meant_for, audience) == meant_for.end()) return std::optional<User>();
  const codec::Value* user = status->Find("user");
  return std::optional(user ? ReadUser(*user) : User());
}

Result<AccessAnswer> ApiReviewer::ReviewAccess(const AccessQuestion& question) {
  std::string review = Review("SubjectAccessReview", "authorization.k8s.io/v1",
                              [&](codec::JsonWriter& writer) { WriteSpec(writer, question); });
  Result<std::string> answer = Post("authorization.k8s.io/v1/subjectaccessreviews", std::move(review));
  if (!answer) return answer.error();
  Result<codec::Document> document = codec::ParseJson(std::move(*answer), "SubjectAccessReview");
  if (!document) return document.error();
  const codec::Value* status = document->root().Find("status");
  if (!status) return Error::Unavailable("SubjectAccessReview: the answer has no status");
  return AccessAnswer{Flag(*status, "allowed"), Flag(*status, "denied"), std::string(status->StringAt("reason"))};
}

}  // namespace berth::serving
