// Reflector: keeps a ChangeSink up to date with the objects of one kind, whatever happens to server and connection.
//
//              ┌──────────── 410, a stream that cannot be trusted, CatchUp() ───────────┐
//              ▼                                                                        │
//   ── sync: everything there is ── first time, or the difference to what was told ──▶ watch
//              │    ▲                                                                 │   ▲
//              │    └── after a wait: any other failure                               └───┘
//              ▼                                               from the last resourceVersion: the server closed it,
//        not served (404), asked again now and then            nothing came for idle_timeout, the connection broke
//
// A sync is a watch with sendInitialEvents, which then goes on as the watch; when that fails, a paged list. As in
// client-go, the next sync tries to stream again.
//
// Not served: the kind counts as having no objects. Three answers of 404 in a row are needed, since a load balancer may
// give one during a rollout; and once there are objects, nothing but 404 for not_served_after. Until then what is known
// stays, as with a server that cannot be reached. Then its deletion is reported, then OnNotServed: nothing is left
// behind, and a kind that comes and goes does so no faster than that. A kind that is always_served never gets there.
//
// Waits are those of client-go: 800 ms to 30 s with jitter, or what Retry-After says.
//
// Silence: a watch without a byte for idle_timeout is given up and started again where it was, at once; no list is
// needed for that. kube-apiserver sends a bookmark about every minute as long as anything changes in its etcd, so two
// minutes tell a dead connection from a quiet one in most clusters, and in a quiet one cost one request per kind in two
// minutes. The watch's own end, five to ten minutes, would leave a scheduler blind for as long.
//
// Threads: the transport's only puts bytes aside; decoding and the calls of the sink are the loop's, with everything
// that has arrived in one batch. Loops may be shared by reflectors. Public members are thread-safe.
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
  bool streaming_list = true;  // where the server has it
  bool always_served = false;  // a 404 is a fault to wait out, never an answer (IsAlwaysServed)
  base::Duration idle_timeout = std::chrono::minutes(2);
  base::Duration not_served_after = std::chrono::minutes(2);
  base::Duration not_served_retry = std::chrono::minutes(1);
  BackoffOptions backoff{};
  uint64_t seed = 0;  // of the jitter
  // What goes wrong and is tried again: refused (with the status of HTTP: 401, 403), unreachable or undecodable (0). On
  // the loop.
  std::function<void(const Error& error, int http_status)> on_problem{};
};

// How far a reflector has got, for health checks and logs.
struct ReflectorState {
  api::Kind kind{};
  std::string resource{};   // "pods", "licencepools.v1.example.com"
  bool synced = false;      // the sink has had everything once, or the kind is not served
  bool not_served = false;  // counts as having no objects
  // In the loop's time: since when it has been trying to get a list or a watch; unset while it follows the server.
  std::optional<base::Duration> behind_since{};
  std::string last_error{};  // since then; "" when nothing went wrong
  int http_status = 0;       // of that error; 0: none
};

class Reflector {
 public:
  Reflector(ApiClient& client, base::Loop& loop, ChangeSink& sink, ReflectorOptions options);
  ~Reflector();  // as Stop()
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // What the first list has to be: a standby is content with whatever the server has in its cache, which may be seconds
  // old; who decides at once is not.
  enum class From { kAnyVersion, kLatest };
  void Start(From from = From::kAnyVersion);
  // The sink is not called any more once this has returned.
  void Stop();

  // Asks the server for everything as it is now, tells the sink the difference, and then calls `done` on the loop: what
  // a new leader does before its first write. Not called when the reflector is stopped first.
  void CatchUp(std::function<void()> done);

  // Of the latest state the sink has been told; "" before the first.
  std::string resource_version() const;
  ReflectorState state() const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
