#include "client/api_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/envelope.h"
#include "client/testing/fake_node_server.h"
#include "codec/protobuf_wire.h"

namespace berth::client {
namespace {

using testing::StatusJson;

TEST(ApiStatus, BecomesAnErrorByWhatItMeans) {
  struct Case {
    int code;
    const char* reason;
    ErrorCode expected;
  };
  for (const Case& c : std::vector<Case>{
           {400, "BadRequest", ErrorCode::kInvalidArgument},
           {401, "Unauthorized", ErrorCode::kInvalidArgument},
           {403, "Forbidden", ErrorCode::kInvalidArgument},
           {404, "NotFound", ErrorCode::kNotFound},
           {409, "AlreadyExists", ErrorCode::kAlreadyExists},
           {409, "Conflict", ErrorCode::kConflict},
           {410, "Expired", ErrorCode::kConflict},
           {422, "Invalid", ErrorCode::kInvalidArgument},
           {429, "TooManyRequests", ErrorCode::kUnavailable},
           {500, "InternalError", ErrorCode::kUnavailable},
           {503, "ServiceUnavailable", ErrorCode::kUnavailable},
           {418, "Teapot", ErrorCode::kInternal},
       }) {
    SCOPED_TRACE(c.reason);
    const ApiStatus status = ReadStatus("PUT", {.status = c.code}, StatusJson(c.code, c.reason, "words"));
    EXPECT_EQ(status.ToError().code, c.expected);
    EXPECT_EQ(status.ToError().message, "words");
    EXPECT_EQ(status.IsExpired(), c.code == 410);
  }
}

TEST(ApiStatus, IsReadFromProtobuf) {
  std::string raw;
  codec::WireWriter writer(raw);
  writer.Bytes(2, "Failure");
  writer.Bytes(3, "Timeout: Too large resource version: 12, current: 11");
  writer.Bytes(4, "Timeout");
  const size_t details = writer.StartMessage(5);
  const size_t cause = writer.StartMessage(4);
  writer.Bytes(1, "ResourceVersionTooLarge");
  writer.Bytes(2, "Too large resource version");
  writer.EndMessage(cause);
  writer.Integer(5, 3);
  writer.EndMessage(details);
  writer.Integer(6, 504);
  const std::string body = api::SealEnvelope({.api_version = "v1", .kind = "Status", .raw = raw});
  const ApiStatus status = ReadStatus("GET", {.status = 504}, body);
  EXPECT_EQ(status.reason, "Timeout");
  EXPECT_TRUE(status.resource_version_too_large);
  EXPECT_TRUE(status.AsksToWait());
  EXPECT_EQ(status.retry_after_seconds, 3);
  EXPECT_EQ(status.ToError().message, "Timeout: Too large resource version: 12, current: 11 (try again in 3 s)");
  EXPECT_FALSE(DecodeStatus(body.substr(0, body.size() - 20)).ok());
}

TEST(ApiStatus, IsMadeUpWhereAProxyAnswers) {
  EXPECT_EQ(ReadStatus("POST", {.status = 409}, "<html>").ToError().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(ReadStatus("PUT", {.status = 409}, "").ToError().code, ErrorCode::kConflict);
  EXPECT_EQ(ReadStatus("GET", {.status = 502}, "bad gateway").message,
            "an error on the server (\"bad gateway\") has prevented the request from succeeding");
  EXPECT_EQ(ReadStatus("GET", {.status = 404}, "").message, "the server could not find the requested resource");
  EXPECT_EQ(ReadStatus("GET", {.status = 403}, "no entry").ToError().message, "no entry");
  for (const int code : {400, 401, 403, 404, 422}) {
    EXPECT_EQ(ReadStatus("GET", {.status = code}, "no").ToError().code, ErrorCode::kUnavailable) << code;
  }
  for (const char* later : {"soon", "-1", "", "1x"}) {
    EXPECT_FALSE(ReadStatus("GET", {.status = 503, .headers = {{"retry-after", later}}}, "").AsksToWait()) << later;
  }
  EXPECT_TRUE(ReadStatus("GET", {.status = 503, .headers = {{"retry-after", "0"}}}, "").AsksToWait());
}

TEST(ApiStatus, AWebPageIsNamedAsOne) {
  const http::ResponseHead html{.status = 502, .headers = {{"content-type", "text/html; charset=utf-8"}}};
  for (const ApiStatus& status : {ReadStatus("GET", html, "<p>Bad gateway"),
                                  ReadStatus("GET", {.status = 403}, "\n<!DOCTYPE HTML><title>Sign in")}) {
    EXPECT_THAT(status.message, ::testing::HasSubstr("is a web page"));
    EXPECT_THAT(status.message, ::testing::HasSubstr("proxy"));
    EXPECT_THAT(status.message, ::testing::Not(::testing::HasSubstr("<")));
  }
  EXPECT_EQ(ReadStatus("GET", html, "x").ToError().code, ErrorCode::kUnavailable) << "worth another try";
  EXPECT_FALSE(IsWebPage({.status = 200}, "{}"));
  EXPECT_FALSE(IsWebPage({.status = 200}, ""));
}

}  // namespace
}  // namespace berth::client
