// ApiClient: requests to the API server with Kubernetes' manners, and the writes a scheduler makes.
//
// Every call is asynchronous; Await() makes one that waits. Callbacks run once, on the transport's thread or the
// loop's, and must not block it. What the server refuses is an Error whose code says what it means (api_status.h).
//
// An answer of 429 or 5xx that says Retry-After is asked again after that time, up to ten times, as client-go does;
// otherwise nothing is repeated, except where said. Thread-safe; must outlive its calls.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "api/coordination.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/storage.h"
#include "base/clock.h"
#include "base/loop.h"
#include "client/api_status.h"
#include "client/write_bodies.h"
#include "http/transport.h"

namespace berth::client {

struct ApiClientOptions {
  bool protobuf = true;  // else JSON; patches are always JSON
  base::Duration timeout = std::chrono::seconds(60);
  // Asked once before each attempt: how long to wait before it is sent.
  std::function<base::Duration()> throttle{};
  // How long writes are allowed from now on (until leader election's deadline, say). Asked right before a write is
  // handed to the transport; with no time left it is refused with kConflict, and it never outlives the window.
  std::function<base::Duration()> write_window{};
  // Told how long each attempt is made to wait by `throttle`, mostly not at all.
  std::function<void(std::string_view method, base::Duration delay)> on_throttled{};
};

struct ApiAnswer {
  ApiStatus status;  // code 0: no answer, see `error`
  http::Response response{};
  ErrorCode error = ErrorCode::kUnavailable;  // of a call without answer

  bool ok() const { return IsSuccess(status.code); }
  Error ToError() const;
};

class ApiClient {
 public:
  template <class T>
  using Done = std::function<void(Result<T>)>;

  ApiClient(http::Transport& transport, base::Loop& loop, const base::Clock& clock, ApiClientOptions options);
  ~ApiClient();
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  // pods/binding.
  void Bind(const api::Pod& pod, std::string_view node, Done<void> done);
  // pods/status; nothing is sent when nothing changes. Tried up to four times on conflicts, 500, 503 and broken
  // connections, as upstream does: the patch is the same however often it is applied.
  void PatchPodStatus(const api::Pod& pod, const PodStatusChange& change, Done<void> done);
  // Only the pod with this very UID: kConflict when it is another by now.
  void DeletePod(const api::Pod& pod, Done<void> done);

  // kConflict when the object is not as it was when it was read. The result is the object as it is now.
  void PatchClaimRef(const api::PersistentVolume& volume, const api::ObjectReference& claim,
                     const api::Annotations& annotations, Done<api::Object> done);
  void PatchAnnotations(const api::Object& object, const api::Annotations& annotations, Done<api::Object> done);

  void Get(api::Kind kind, std::string_view name_space, std::string_view name, Done<api::Object> done);
  // POST, and PUT with the resourceVersion the object has. For kinds that are whole here: leases and events.
  void Create(const api::Object& object, Done<api::Object> done);
  void Update(const api::Object& object, Done<api::Object> done);

  // JSON to a path, JSON back: TokenReview, SubjectAccessReview.
  void PostJson(std::string_view path, std::string json, Done<std::string> done);

  // The manners alone. `is_write` says whether the write window counts.
  void Send(http::Request request, bool is_write, std::function<void(ApiAnswer)> done);

  // For callers that look at the answer themselves.
  http::Request CreateRequest(const api::Object& object) const;
  http::Request SeriesRequest(const api::Event& event) const;
  // The headers of a request whose answer may come in either encoding.
  http::Headers AcceptObjects() const;

  // For watches, which go past Send: the wait before the next request.
  http::Transport& transport() const { return transport_; }
  base::Duration ThrottleDelay(std::string_view method) const;

 private:
  struct Call;
  using CallPtr = std::shared_ptr<Call>;

  void Throttle(const CallPtr& call);
  void Attempt(const CallPtr& call);
  void Finish(const CallPtr& call, ApiAnswer answer);
  void SendForObject(http::Request request, bool is_write, Done<api::Object> done);
  void SendForNothing(http::Request request, Done<void> done);
  void TryPatch(const std::shared_ptr<struct StatusPatch>& patch);
  http::Request ObjectRequest(std::string method, std::string path) const;

  http::Transport& transport_;
  base::Loop& loop_;
  const base::Clock& clock_;
  const ApiClientOptions options_;
  std::atomic<uint64_t> seed_{0};
};

// Waits for a call:  Result<void> bound = Await<void>([&](auto done) { client.Bind(pod, node, done); });
// Never on the transport's or the loop's thread.
template <class T, class Start>
Result<T> Await(Start start) {
  auto promise = std::make_shared<std::promise<Result<T>>>();
  std::future<Result<T>> answer = promise->get_future();
  start(ApiClient::Done<T>([promise](Result<T> result) { promise->set_value(std::move(result)); }));
  return answer.get();
}

// One object from the body of an answer, by what it says it is.
Result<api::Object> DecodeOne(const http::Response& response);

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kStrategicMergeType = "application/strategic-merge-patch+json";

}  // namespace berth::client
