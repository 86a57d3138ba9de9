#include "client/api_answer.h"

#include <fmt/core.h>

#include <utility>

#include "codec/json.h"

namespace berth::client {

Error ApiAnswer::ToError() const {
  if (status.code == 0) return {error, status.message};
  return status.ToError();
}

Result<api::Object> DecodeOne(const http::Response& response) {
  Result<api::DecodedObjects> decoded = Error::Internal("");
  if (response.head.Find("content-type").starts_with(kProtobufType)) {
    decoded = api::DecodeProtobufObjects(response.body);
  } else {
    Result<codec::Document> document = codec::ParseJson(response.body, "the server's answer");
    if (!document) return document.error();
    decoded = api::DecodeObjects(*document, {});
  }
  if (!decoded) return decoded.error();
  if (decoded->objects.size() == 1) return std::move(decoded->objects.front().object);
  const std::string found = decoded->unknown.empty() ? fmt::format("{}", decoded->objects.size())
                                                     : fmt::format("a {}", decoded->unknown.front().kind);
  return Error::InvalidArgument(fmt::format("expected one object in the server's answer, found {}", found));
}

}  // namespace berth::client
