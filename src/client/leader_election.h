// LeaderElector: one of several schedulers holds a Lease and works; the others watch it and take over when it has not
// been renewed for its duration, by their own clocks: times written by others are never compared with ours.
//
//   standby ── the lease is free, released or expired, and we wrote our name into it ──▶ leading
//   leading ── deadline() has passed, or another's name is in the lease ──▶ lost (permanently)
//   leading ── Stop() ──▶ released
//
// Coordinated (client-go's Coordinated, with the feature gate CoordinatedLeaderElection), the API server decides who
// holds the lease, among the candidates that have announced themselves (lease_candidacy.h). The elector then never
// creates or takes the lease; it only renews it, and only after having read it:
//
//   standby ── the server wrote our name into the lease, and we have renewed it ──▶ leading
//   standby ── the server wrote our name, and then a preferred holder ──▶ standby; the lease is released
//   leading ── the server names a preferred holder: our term ends ──▶ stepped down; Stop() releases
//
// The fence: is_leader() is true until deadline(), which moves with every renewal and is never later than the moment at
// which another may take over: the lease's duration after the last renewal was *sent*, less one retry period for writes
// in flight. Every writer must check it right before it writes (ApiClientOptions::window). The window is shared, so
// that it can still be checked after the elector, which closes it, is gone.
//
// Runs on a loop; callbacks do too. The other members are thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/coordination.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/random.h"
#include "base/result.h"
#include "client/api_client.h"
#include "client/write_window.h"

namespace berth::client {

struct LeaderElectionOptions {
  std::string identity;
  std::string name_space;
  std::string name;
  base::Duration lease_duration = std::chrono::seconds(15);
  base::Duration renew_deadline = std::chrono::seconds(10);
  base::Duration retry_period = std::chrono::seconds(2);
  bool coordinated = false;  // the API server decides who leads
  uint64_t seed = 0;         // of the jitter
  // Moved by the elector, which makes its own if this is null.
  std::shared_ptr<WriteWindow> window{};

  // Whether any write that was sent has not ended. The lease is released neither before they have ended nor after their
  // time has run out: a write that takes effect late would race with the next leader's.
  std::function<bool()> has_writes{};

  std::function<void()> started_leading{};
  std::function<void()> stopped_leading{};  // once, only after started_leading: lost, stepped down or released
  std::function<void(const std::string& identity)> new_leader{};
  // "X became leader", "X stopped leading": an event about the lease, with the reason LeaderElection.
  std::function<void(const api::Lease& lease, const std::string& message)> record_event{};
  std::function<void(const Error& error)> on_problem{};
  // The server wants another candidate to lead; stopped_leading follows.
  std::function<void(const std::string& preferred)> term_ended{};
  // A renewal had to read the lease first.
  std::function<void()> on_slow_path{};
};

// Rejects what upstream rejects, with the same messages.
Result<void> Validate(const LeaderElectionOptions& options);

// How long a request about the lease may take: less than the renew deadline.
base::Duration LeaseRequestTimeout(base::Duration renew_deadline);

// "HOSTNAME_UUID": two processes on one host must not have the same identity.
std::string MakeIdentity(std::string_view hostname, base::Random& random);

class LeaderElector {
 public:
  // `client` should have a timeout of LeaseRequestTimeout. Options must be valid.
  LeaderElector(ApiClient& client, base::Loop& loop, const base::Clock& clock, LeaderElectionOptions options);
  ~LeaderElector();  // does not release the lease
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  void Start();
  // Stops leading at once; releases the lease if we hold it, then calls `done` on the loop. An elector that has stepped
  // down still holds the lease: it is released here and not before, when everything that ran under it has ended.
  void Stop(std::function<void()> done);

  bool is_leader() const;
  // In the loop's time; zero when not leading.
  base::Duration deadline() const;
  std::shared_ptr<const WriteWindow> window() const;
  // The last holder seen in the lease, "" for none.
  std::string leader() const;
  // The lease's resourceVersion as the server last sent it. On the loop only.
  const std::string& lease_version() const;
  // For health checks: an error if we lead and the lease expired more than `tolerance` ago.
  Result<void> Check(base::Duration tolerance) const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
