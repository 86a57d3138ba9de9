// LeaderElector: one of several schedulers holds a Lease and works; the others watch it and take over when it has not
// been renewed for its duration, by their own clocks: times written by others are never compared with ours.
//
//   standby ── the lease is free, released or expired, and we wrote our name into it ──▶ leading
//   leading ── deadline() has passed, or another's name is in the lease ──▶ lost (for good)
//   leading ── Stop() ──▶ released
//
// Coordinated (client-go's Coordinated, with the feature gate CoordinatedLeaderElection), the API server decides who is
// in the lease, out of the candidates that have announced themselves (lease_candidacy.h). The lease is then never
// created and never taken, only renewed, and only after it has been read:
//
//   standby ── the server wrote our name into the lease, and we have renewed it ──▶ leading
//   standby ── the server wrote our name, and then a preferred holder ──▶ standby; the lease is given back
//   leading ── the server names a preferred holder: our term ends ──▶ stepped back; Stop() releases
//
// The fence: is_leader() is true until deadline(), which moves on with every renewal and never lies beyond the moment
// at which somebody else may take over: the lease's duration after the last renewal was *sent*, less one retry period
// for writes on their way. Whoever writes must look at it right before (ApiClientOptions::window); the window is
// shared, so that they may still ask when the elector is gone, which closes it.
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
  // Moved by the elector; its own when there is none.
  std::shared_ptr<WriteWindow> window{};

  // Whether writes that were sent have not ended. The lease is not given back before they have, nor after the time they
  // had: one that arrives late would be a write beside the next leader's.
  std::function<bool()> has_writes{};

  std::function<void()> started_leading{};
  std::function<void()> stopped_leading{};  // once, only after started_leading: lost, stepped back or released
  std::function<void(const std::string& identity)> new_leader{};
  // "X became leader", "X stopped leading": an event about the lease, with the reason LeaderElection.
  std::function<void(const api::Lease& lease, const std::string& message)> record_event{};
  std::function<void(const Error& error)> on_problem{};
  // The server wants another to lead; stopped_leading follows.
  std::function<void(const std::string& preferred)> term_ended{};
  // A renewal had to read the lease first.
  std::function<void()> on_slow_path{};
};

// What upstream refuses too, with the same words.
Result<void> Validate(const LeaderElectionOptions& options);

// How long a request about the lease may take: less than the renewal has.
base::Duration LeaseRequestTimeout(base::Duration renew_deadline);

// "HOSTNAME_UUID": two processes on one host must not take each other for themselves.
std::string MakeIdentity(std::string_view hostname, base::Random& random);

class LeaderElector {
 public:
  // `client` should have a timeout of LeaseRequestTimeout. Options must be valid.
  LeaderElector(ApiClient& client, base::Loop& loop, const base::Clock& clock, LeaderElectionOptions options);
  ~LeaderElector();  // without release
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  void Start();
  // No more leader at once; gives the lease back if we have it, then calls `done` on the loop. Whoever has stepped back
  // has it still: it is given back here and not before, when what ran under it has ended.
  void Stop(std::function<void()> done);

  bool is_leader() const;
  // In the loop's time; zero when not leading.
  base::Duration deadline() const;
  // How long writes are allowed from now on.
  base::Duration time_left() const;
  std::shared_ptr<const WriteWindow> window() const;
  // Whoever was last seen in the lease, "" for nobody.
  std::string leader() const;
  // For health checks: an error when we lead and the lease ran out more than `tolerance` ago.
  Result<void> Check(base::Duration tolerance) const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
