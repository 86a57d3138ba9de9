// Reflector: keeps a ChangeSink up to date with the objects of one kind, whatever happens to the server and the
// connection.
//
//              ┌──────────── 410, a stream that cannot be trusted, CatchUp() ───────────┐
//              ▼                                                                        │
//   ── sync: every object ── at first all, then what differs from what was reported ─▶ watch
//              │    ▲                                                                 │   ▲
//              │    └── after a wait: any other failure                               └───┘
//              ▼                                               from the last resourceVersion: the server closed it,
//        not served (404), asked again now and then            nothing came for idle_timeout, the connection broke
//
// A sync is a watch with sendInitialEvents, which then continues as the watch; if that fails, a paged list. As in
// client-go, the next sync tries to stream again. With whole_list, a sync is one plain list, decoded while it arrives:
// that costs the API server a quarter of the time. If it fails, the next sync is as above, and the one after lists
// again.
//
// Not served: the kind counts as having no objects. This takes three 404 answers in a row, since a load balancer may
// give one during a rollout; and if objects are known, nothing but 404 for not_served_after. Until then the known
// objects stay, as with a server that cannot be reached. Then they are reported as deleted, followed by OnNotServed, so
// nothing is left behind; a kind that comes and goes cannot do so any faster. A kind that is always_served never gets
// here.
//
// Backoff is client-go's: 800 ms to 30 s with jitter, or what Retry-After says, up to a minute.
//
// Catching up needs a list, because nothing else tells what exists now. While lists fail, the watch goes on in between,
// from where it was. If they have failed for unlisted_after, the caller may go on without one (UnlistedStart).
//
// Silence: a watch without a byte for idle_timeout is closed and restarted at once from where it was; that needs no
// list. kube-apiserver sends a bookmark about every minute as long as anything changes in its etcd, so two minutes
// distinguish a dead connection from a quiet one in most clusters, and cost one request per kind in two minutes in a
// quiet cluster. Waiting for the watch's own end, five to ten minutes, would leave a scheduler blind for that long.
//
// Threads: the transport's thread only stores bytes; decoding and the calls to the sink happen on the loop, in one
// batch for everything that has arrived. Reflectors may share loops. Public members are thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/kind.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/result.h"
#include "client/api_client.h"
#include "client/backoff.h"
#include "client/object_change.h"
#include "client/object_source.h"

namespace berth::client {

struct ReflectorOptions {
  api::Kind kind;
  std::optional<CustomSource> custom{};  // with kCustomObject: of this resource
  std::string label_selector{};
  std::string field_selector{};
  bool whole_list = false;     // for kinds with many objects
  bool streaming_list = true;  // if the server supports it
  bool always_served = false;  // a 404 is a failure to retry, and never means "not served" (IsAlwaysServed)
  base::Duration idle_timeout = std::chrono::minutes(2);
  base::Duration not_served_after = std::chrono::minutes(2);
  base::Duration not_served_retry = std::chrono::minutes(1);
  base::Duration unlisted_after = std::chrono::minutes(2);
  BackoffOptions backoff{};
  uint64_t seed = 0;  // of the jitter
  // Called on the loop for failures that are retried: rejected (with the HTTP status: 401, 403), unreachable or
  // undecodable (0).
  std::function<void(const Error& error, int http_status)> on_problem{};
};

// A reflector's progress, for health checks and logs.
struct ReflectorState {
  api::Kind kind{};
  std::string resource{};   // "pods", "licencepools.v1.example.com"
  bool synced = false;      // the sink has had every object once, or the kind is not served
  bool not_served = false;  // counts as having no objects
  // In the loop's time: since when it has been trying to get a list or a watch; unset while it follows the server.
  std::optional<base::Duration> behind_since{};
  std::string last_error{};  // since then; "" if nothing failed
  int http_status = 0;       // of that error; 0: none
  bool catching_up = false;  // CatchUp() has been called and has not ended
};

// How CatchUp() may end without a list, after lists have failed for unlisted_after: by a watch that the server accepts.
struct UnlistedStart {
  // The resourceVersion that the watch must have reached, by an event or a bookmark; "": any.
  std::string version{};
  // Called on the loop instead of CatchUp's `done`, with the last error. Null: only a list will do.
  std::function<void(const std::string& why)> done{};
};

class Reflector {
 public:
  Reflector(ApiClient& client, base::Loop& loop, ChangeSink& sink, ReflectorOptions options);
  ~Reflector();  // as Stop()
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // How recent the first list must be: a standby accepts whatever the server has cached, which may be seconds old; a
  // scheduler that takes decisions at once does not.
  enum class From { kAnyVersion, kLatest };
  void Start(From from = From::kAnyVersion);
  // The sink is not called after this has returned.
  void Stop();

  // Lists everything as it is now, reports the difference to the sink, and then calls `done` on the loop: what a new
  // leader does before its first write. `done` is not called if the reflector is stopped first.
  void CatchUp(std::function<void()> done, UnlistedStart unlisted = {});

  // The version of the latest state reported to the sink; "" before the first.
  std::string resource_version() const;
  ReflectorState state() const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
