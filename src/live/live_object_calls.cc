// What plugins read and write through the handle, for objects of any kind, and the events that they record.
#include <fmt/format.h>

#include "client/api_path.h"
#include "client/object_source.h"
#include "live/live_api.h"

namespace berth::live {

using framework::ObjectCall;
using Verb = framework::ObjectCall::Verb;

namespace {

std::string PathOf(const ObjectCall& call) {
  std::string path = call.resource.CollectionPath();
  if (!call.name_space.empty()) {
    const size_t resource = path.rfind('/');
    path = fmt::format("{}/namespaces/{}{}", path.substr(0, resource), client::Encoded(call.name_space),
                       path.substr(resource));
  }
  if (!call.name.empty()) path += "/" + client::Encoded(call.name);
  if (!call.subresource.empty()) path += "/" + client::Encoded(call.subresource);
  if (call.verb == Verb::kList) path += client::Query({{"labelSelector", call.label_selector}});
  return path;
}

std::string_view MethodOf(Verb verb) {
  switch (verb) {
    case Verb::kGet:
    case Verb::kList:
      return "GET";
    case Verb::kCreate:
      return "POST";
    case Verb::kUpdate:
      return "PUT";
    case Verb::kPatch:
      return "PATCH";
    case Verb::kDelete:
      return "DELETE";
  }
  return "";
}

std::string_view ContentTypeOf(const ObjectCall& call) {
  if (call.verb != Verb::kPatch) return "application/json";
  switch (call.patch_type) {
    case ObjectCall::PatchType::kMerge:
      return "application/merge-patch+json";
    case ObjectCall::PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
    case ObjectCall::PatchType::kJson:
      return "application/json-patch+json";
  }
  return "";
}

Result<void> CheckNames(const ObjectCall& call) {
  const bool needs_name = call.verb != Verb::kList && call.verb != Verb::kCreate;
  if (needs_name && call.name.empty()) return Error::InvalidArgument("expected the name of an object, found none");
  if (!needs_name && !call.name.empty() && call.subresource.empty()) {
    return Error::InvalidArgument(fmt::format("expected no name in this call, found \"{}\"", call.name));
  }
  return {};
}

http::Request RequestOf(const ObjectCall& call) {
  http::Request request;
  request.method = MethodOf(call.verb);
  request.path = PathOf(call);
  request.headers = client::AcceptCustomObjects();
  if (!call.body.empty()) request.headers.emplace_back("Content-Type", ContentTypeOf(call));
  request.body = call.body;
  return request;
}

}  // namespace

Result<std::string> LiveApi::Call(const ObjectCall& call) {
  if (std::this_thread::get_id() == scheduling_thread_.load()) {
    return Error::InvalidArgument(fmt::format(
        "{}: objects cannot be read or written on the scheduling thread, which must not wait", call.resource.Text()));
  }
  if (const Result<void> sound = CheckNames(call); !sound) return sound.error();
  return Call<std::string>([&](auto done) {
    const auto take = [done = std::move(done)](client::ApiAnswer answer) {
      if (answer.ok()) return done(std::move(answer.response.body));
      Error error = answer.ToError();
      // An API server says so without a Status if it does not serve the resource.
      if (answer.status.code == 404) error.code = ErrorCode::kNotFound;
      done(std::move(error));
    };
    if (call.verb == Verb::kGet || call.verb == Verb::kList) return client_.Read(RequestOf(call), take);
    // Usually part of binding a pod; and the sooner a pod is bound, the sooner its place in the queue is free.
    const std::string key = call.verb == Verb::kCreate ? std::string() : PathOf(call);
    client_.Write(client::WriteClass::kBind, key, RequestOf(call), take);
  });
}

void LiveApi::Record(const std::string& reporter, const framework::EventReport& event) {
  events_.Record({.reporting_controller = reporter,
                  .regarding = event.regarding,
                  .related = event.related,
                  .type = event.is_warning ? "Warning" : "Normal",
                  .reason = event.reason,
                  .action = event.action,
                  .note = event.note});
}

}  // namespace berth::live
