#include "client/api_client.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "client/api_path.h"
#include "client/backoff.h"
#include "codec/json.h"

namespace berth::client {
namespace {

constexpr int kMaxRetries = 10;

// client-go's retry.DefaultBackoff.
constexpr int kPatchTries = 4;
constexpr BackoffOptions kPatchBackoff = {.initial = std::chrono::milliseconds(10),
                                          .max = std::chrono::seconds(10),
                                          .factor = 5.0,
                                          .jitter = 0.1,
                                          .reset_after = base::Duration::zero()};

bool IsWorthAnotherPatch(const ApiAnswer& answer) {
  const ApiStatus& status = answer.status;
  if (status.code == 0) return answer.error == ErrorCode::kUnavailable;
  return status.code == 500 || status.code == 503 || status.ToError().code == ErrorCode::kConflict;
}

}  // namespace

struct ApiClient::Call {
  http::Request request;
  bool is_write = false;
  std::function<void(ApiAnswer)> done;
  int retries = 0;
};

struct StatusPatch {
  http::Request request;
  ApiClient::Done<void> done;
  Backoff backoff;
  int tries = 0;
};

Error ApiAnswer::ToError() const {
  if (status.code == 0) return {error, status.message};
  return status.ToError();
}

ApiClient::ApiClient(http::Transport& transport, base::Loop& loop, const base::Clock& clock, ApiClientOptions options)
    : transport_(transport), loop_(loop), clock_(clock), options_(std::move(options)) {}

ApiClient::~ApiClient() = default;

http::Headers ApiClient::AcceptObjects() const {
  // Not every server has protobuf for every kind: JSON is always the second choice.
  if (options_.protobuf) return {{"Accept", "application/vnd.kubernetes.protobuf, application/json"}};
  return {{"Accept", std::string(kJsonType)}};
}

http::Request ApiClient::ObjectRequest(std::string method, std::string path) const {
  return {.method = std::move(method), .path = std::move(path), .headers = AcceptObjects()};
}

void ApiClient::Send(http::Request request, bool is_write, std::function<void(ApiAnswer)> done) {
  if (request.timeout == base::Duration::zero()) request.timeout = options_.timeout;
  Throttle(std::make_shared<Call>(Call{std::move(request), is_write, std::move(done)}));
}

base::Duration ApiClient::ThrottleDelay(std::string_view method) const {
  const base::Duration delay = options_.throttle ? options_.throttle() : base::Duration::zero();
  if (options_.on_throttled) options_.on_throttled(method, delay);
  return delay;
}

void ApiClient::Throttle(const CallPtr& call) {
  const base::Duration wait = ThrottleDelay(call->request.method);
  if (wait <= base::Duration::zero()) return Attempt(call);
  loop_.RunAfter(wait, [this, call] { Attempt(call); });
}

void ApiClient::Attempt(const CallPtr& call) {
  http::Request request = call->request;
  if (call->is_write && options_.write_window) {
    const base::Duration left = options_.write_window();
    if (left <= base::Duration::zero()) {
      ApiAnswer refused;
      refused.error = ErrorCode::kConflict;
      refused.status.message = fmt::format("not sent: no longer the leader ({} {})", request.method, request.path);
      return call->done(std::move(refused));
    }
    request.timeout = std::min(request.timeout, left);
  }
  transport_.Send(std::move(request), [this, call](Result<http::Response> response) {
    ApiAnswer answer;
    if (response) {
      answer.response = std::move(*response);
      answer.status.code = answer.response.head.status;
      if (!answer.ok()) answer.status = ReadStatus(call->request.method, answer.response.head, answer.response.body);
    } else {
      answer.status = NoAnswer(response.error());
      answer.error = response.error().code;
    }
    Finish(call, std::move(answer));
  });
}

void ApiClient::Finish(const CallPtr& call, ApiAnswer answer) {
  if (answer.status.AsksToWait() && call->retries < kMaxRetries) {
    ++call->retries;
    loop_.RunAfter(std::chrono::seconds(answer.status.retry_after_seconds), [this, call] { Throttle(call); });
    return;
  }
  call->done(std::move(answer));
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

void ApiClient::SendForObject(http::Request request, bool is_write, Done<api::Object> done) {
  Send(std::move(request), is_write, [done = std::move(done)](const ApiAnswer& answer) {
    done(answer.ok() ? DecodeOne(answer.response) : Result<api::Object>(answer.ToError()));
  });
}

void ApiClient::SendForNothing(http::Request request, Done<void> done) {
  Send(std::move(request), true, [done = std::move(done)](const ApiAnswer& answer) {
    done(answer.ok() ? Result<void>() : Result<void>(answer.ToError()));
  });
}

void ApiClient::Bind(const api::Pod& pod, std::string_view node, Done<void> done) {
  const api::ObjectMeta& metadata = pod.metadata;
  http::Request request =
      ObjectRequest("POST", ObjectPath(api::Kind::kPod, metadata.namespace_.str(), metadata.name) + "/binding");
  request.headers.emplace_back("Content-Type", options_.protobuf ? kProtobufType : kJsonType);
  request.body = options_.protobuf ? BindingProtobuf(pod, node) : BindingJson(pod, node);
  SendForNothing(std::move(request), std::move(done));
}

void ApiClient::PatchPodStatus(const api::Pod& pod, const PodStatusChange& change, Done<void> done) {
  const api::ObjectMeta& metadata = pod.metadata;
  http::Request request =
      ObjectRequest("PATCH", ObjectPath(api::Kind::kPod, metadata.namespace_.str(), metadata.name) + "/status");
  request.headers.emplace_back("Content-Type", kStrategicMergeType);
  request.body = client::PodStatusPatch(pod, change, clock_.Now());
  if (request.body.empty()) return done({});
  TryPatch(std::make_shared<StatusPatch>(
      StatusPatch{std::move(request), std::move(done), Backoff(kPatchBackoff, ++seed_, loop_.Now())}));
}

void ApiClient::TryPatch(const std::shared_ptr<StatusPatch>& patch) {
  ++patch->tries;
  Send(patch->request, true, [this, patch](const ApiAnswer& answer) {
    if (answer.ok()) return patch->done({});
    if (patch->tries >= kPatchTries || !IsWorthAnotherPatch(answer)) return patch->done(answer.ToError());
    loop_.RunAfter(patch->backoff.Next(loop_.Now()), [this, patch] { TryPatch(patch); });
  });
}

void ApiClient::DeletePod(const api::Pod& pod, Done<void> done) {
  const api::ObjectMeta& metadata = pod.metadata;
  http::Request request =
      ObjectRequest("DELETE", ObjectPath(api::Kind::kPod, metadata.namespace_.str(), metadata.name));
  request.headers.emplace_back("Content-Type", kJsonType);
  request.body = DeleteJson(metadata.uid);
  SendForNothing(std::move(request), std::move(done));
}

void ApiClient::PatchClaimRef(const api::PersistentVolume& volume, const api::ObjectReference& claim,
                              const api::Annotations& annotations, Done<api::Object> done) {
  http::Request request = ObjectRequest("PATCH", ObjectPath(api::Kind::kPersistentVolume, {}, volume.metadata.name));
  request.headers.emplace_back("Content-Type", kStrategicMergeType);
  request.body = ClaimRefPatch(volume, claim, annotations);
  SendForObject(std::move(request), true, std::move(done));
}

void ApiClient::PatchAnnotations(const api::Object& object, const api::Annotations& annotations,
                                 Done<api::Object> done) {
  const api::ObjectMeta& metadata = object.metadata();
  http::Request request = ObjectRequest("PATCH", ObjectPath(object.kind(), metadata.namespace_.str(), metadata.name));
  request.headers.emplace_back("Content-Type", kStrategicMergeType);
  request.body = AnnotationsPatch(metadata.resource_version, annotations);
  SendForObject(std::move(request), true, std::move(done));
}

void ApiClient::Get(api::Kind kind, std::string_view name_space, std::string_view name, Done<api::Object> done) {
  SendForObject(ObjectRequest("GET", ObjectPath(kind, name_space, name)), false, std::move(done));
}

http::Request ApiClient::CreateRequest(const api::Object& object) const {
  http::Request request = ObjectRequest("POST", CollectionPath(object.kind(), object.metadata().namespace_.str()));
  request.headers.emplace_back("Content-Type", options_.protobuf ? kProtobufType : kJsonType);
  request.body = options_.protobuf ? api::EncodeProtobuf(object) : api::EncodeJson(object);
  return request;
}

void ApiClient::Create(const api::Object& object, Done<api::Object> done) {
  SendForObject(CreateRequest(object), true, std::move(done));
}

http::Request ApiClient::SeriesRequest(const api::Event& event) const {
  const api::ObjectMeta& metadata = event.metadata;
  http::Request request =
      ObjectRequest("PATCH", ObjectPath(api::Kind::kEvent, metadata.namespace_.str(), metadata.name));
  request.headers.emplace_back("Content-Type", kStrategicMergeType);
  request.body = SeriesPatch(event.series.value_or(api::EventSeries{}));
  return request;
}

void ApiClient::Update(const api::Object& object, Done<api::Object> done) {
  const api::ObjectMeta& metadata = object.metadata();
  http::Request request = ObjectRequest("PUT", ObjectPath(object.kind(), metadata.namespace_.str(), metadata.name));
  request.headers.emplace_back("Content-Type", options_.protobuf ? kProtobufType : kJsonType);
  request.body = options_.protobuf ? api::EncodeProtobuf(object) : api::EncodeJson(object);
  SendForObject(std::move(request), true, std::move(done));
}

void ApiClient::PostJson(std::string_view path, std::string json, Done<std::string> done) {
  http::Request request{.method = "POST", .path = std::string(path), .body = std::move(json)};
  request.headers = {{"Accept", std::string(kJsonType)}, {"Content-Type", std::string(kJsonType)}};
  // Reviews change nothing: a standby asks them too.
  Send(std::move(request), false, [done = std::move(done)](ApiAnswer answer) {
    done(answer.ok() ? Result<std::string>(std::move(answer.response.body)) : Result<std::string>(answer.ToError()));
  });
}

}  // namespace berth::client
