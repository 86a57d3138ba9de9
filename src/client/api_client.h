// ApiClient: requests to the API server that follow Kubernetes' conventions, and the writes that a scheduler makes.
//
// Every call is asynchronous; Await() makes it a blocking one. Callbacks run once, on the transport's thread or the
// loop's, and must not block it. If the server rejects a request, the Error's code says what that means (api_status.h).
//
// Writes go through one WritePath: by class, the most urgent first, within the bucket's rate, one at a time per object.
// Leases and reads never wait there, but take from the same bucket; only the reads that tell how a write has ended go
// through it. Watches take nothing (WatchSession).
//
// A request that is answered 429 or 5xx with Retry-After is sent again after that time, up to ten times, as in
// client-go; otherwise nothing is retried, except where noted. A Retry-After of more than a minute is ignored. Reads
// and leases also end within their timeout, retries included, as in client-go: the elector must be able to retry by
// itself before its deadline. Thread-safe; must outlive its calls.
#pragma once

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
#include "client/api_answer.h"
#include "client/pod_status_writer.h"
#include "client/token_bucket.h"
#include "client/write_bodies.h"
#include "client/write_path.h"
#include "client/write_window.h"
#include "http/transport.h"

namespace berth::client {

struct ApiClientOptions {
  bool protobuf = true;                               // otherwise JSON; patches are always JSON
  base::Duration timeout = std::chrono::seconds(60);  // of a read or a lease with its retries, of a write without
  // The request rate; clients of one server share it. None: no limit.
  std::shared_ptr<TokenBucket> bucket{};
  // Until when writes are allowed. Checked right before a write is handed to the transport: with no time left the write
  // fails with kConflict, and no write outlives the window. None: always. Leases, which open the window, are exempt.
  std::shared_ptr<const WriteWindow> window{};
  WriteBudgets budgets = kDefaultWriteBudgets;
  bool urgent = false;                        // its requests wait for no others of the same transport
  WriteObserver* observer = nullptr;          // must outlive the client
  std::function<void(WriteClass)> on_room{};  // as WritePath's
};

class ApiClient {
 public:
  template <class T>
  using Done = std::function<void(Result<T>)>;

  ApiClient(http::Transport& transport, base::Loop& loop, const base::Clock& clock, ApiClientOptions options);
  ~ApiClient();
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  // pods/binding. Supersedes unsent status patches of the same pod. If the answer leaves open whether the pod was bound
  // (no answer, a 5xx, a conflict that an earlier attempt may have caused), the pod is read until that is known or the
  // write window has closed: if the pod is on `node` by then, it was bound. Only an answer of the API server about this
  // pod counts. After any other answer (a proxy's 404, a login page, 401, 403) the pod is read again, up to ten times,
  // in which time the watch is likely to show the binding; then the pod counts as not bound.
  void Bind(const api::Pod& pod, std::string_view node, Done<void> done);
  // The same reads, for a binding that somebody else was to make and that may have failed with `refusal`.
  void ConfirmBound(const api::Pod& pod, std::string_view node, const Error& refusal, Done<void> done);
  // pods/status; nothing is sent if nothing changes. Pending changes of one pod become one patch, and its patches are
  // sent in order (PodStatusWriter). Tried up to ten times, within about a minute, on conflicts, 5xx and calls without
  // an answer: the patch is idempotent.
  void PatchPodStatus(const api::Pod& pod, const PodStatusChange& change, Done<void> done,
                      WriteClass write_class = WriteClass::kStatus);
  // Deletes only the pod with this UID: kConflict if another pod has its name by now.
  void DeletePod(const api::Pod& pod, Done<void> done);

  // kConflict if the object has changed since it was read. The result is the object as it is now.
  void PatchClaimRef(const api::PersistentVolume& volume, const api::ObjectReference& claim,
                     const api::Annotations& annotations, Done<api::Object> done);
  void PatchAnnotations(const api::Object& object, const api::Annotations& annotations, Done<api::Object> done);

  // Resource claims: parts of binding a pod. kConflict as above; the result is the claim as it is now.
  enum class ClaimWrite { kFinalizers, kStatus, kDeallocation };
  void PatchResourceClaim(const api::ResourceClaim& claim, ClaimWrite what, Done<api::Object> done);
  void CreateResourceClaim(const api::ResourceClaim& claim, Done<api::Object> done);
  // Repeated up to ten times until its outcome is known, reads included; later writes of the claim wait for that.
  void UnreserveResourceClaim(const api::ResourceClaim& claim, std::string_view pod_uid, Done<void> done);
  void DeleteResourceClaim(const api::ResourceClaim& claim, Done<void> done);
  // A part of a pod's status that nothing else here writes, as a strategic merge patch.
  void PatchPodClaims(const api::Pod& pod, std::string body, Done<void> done);

  void Get(api::Kind kind, std::string_view name_space, std::string_view name, Done<api::Object> done);
  // POST, and PUT with the object's resourceVersion. For leases, which are decoded in full.
  void Create(const api::Object& object, Done<api::Object> done);
  void Update(const api::Object& object, Done<api::Object> done);

  // A read; never queued.
  void Read(http::Request request, std::function<void(ApiAnswer)> done);
  // A write whose caller inspects the answer itself. `key` is the object's, "" for none.
  void Write(WriteClass write_class, std::string key, http::Request request, std::function<void(ApiAnswer)> done);
  // Whether the class's queue has room; on_room is called when it has room again.
  bool CanAccept(WriteClass write_class) const { return path_->CanAccept(write_class); }
  const WritePath& writes() const { return *path_; }

  // For callers that inspect the answer themselves.
  http::Request CreateRequest(const api::Object& object) const;
  http::Request SeriesRequest(const api::Event& event) const;
  // The headers of a request whose answer may come in either encoding.
  http::Headers AcceptObjects() const;

  // For watches.
  http::Transport& transport() const { return transport_; }

 private:
  struct Direct;
  struct Doubt;

  // Bypass the queues: reads and leases.
  void SendDirect(const std::shared_ptr<Direct>& call);
  void Attempt(http::Request request, bool is_fenced, std::function<void(ApiAnswer)> done);
  static std::shared_ptr<Doubt> DoubtAboutBinding(const api::Pod& pod, std::string_view node, Done<void> done);
  void Resolve(const std::shared_ptr<Doubt>& doubt, const ApiAnswer& answer);
  void ReadBack(const std::shared_ptr<Doubt>& doubt);
  void WriteForObject(WriteClass write_class, const api::Object& object, http::Request request, Done<api::Object> done);
  void WriteForNothing(WriteClass write_class, const api::Pod& pod, http::Request request, Done<void> done);
  http::Request ObjectRequest(std::string method, std::string path) const;
  http::Request PatchRequest(std::string path, std::string body) const;

  http::Transport& transport_;
  base::Loop& loop_;
  const base::Clock& clock_;
  const ApiClientOptions options_;
  std::unique_ptr<WritePath> path_;
  std::unique_ptr<PodStatusWriter> statuses_;
};

// Waits for a call:  Result<void> bound = Await<void>([&](auto done) { client.Bind(pod, node, done); });
// Never use it on the transport's or the loop's thread.
template <class T, class Start>
Result<T> Await(Start start) {
  auto promise = std::make_shared<std::promise<Result<T>>>();
  std::future<Result<T>> answer = promise->get_future();
  start(ApiClient::Done<T>([promise](Result<T> result) { promise->set_value(std::move(result)); }));
  return answer.get();
}

}  // namespace berth::client
