// LeaseCandidacy: announces this process to the API server as a candidate for a lease, for leader election that the
// server coordinates (feature gate CoordinatedLeaderElection). LeaderElector handles whether we lead.
//
//   list and watch our own LeaseCandidate ──▶ create it, or renew it ──every 5 min──▶ renew it
//                                                  ▲
//                                                  └── at once: the server pinged it (pingTime after renewTime), or it
//                                                      was deleted
//
// Before an election the server pings every candidate and gives each five seconds to renew; candidates that have not
// are skipped. So a ping is never answered with an earlier renewTime, even if our wall clock is behind the server's;
// and a watch that is silent for half a minute is restarted.
//
// The server compares the times that we write, here and in the lease, with its own clock. If the clocks differ by more
// than leader election's margin, that is reported once, when the candidate has been created.
//
// Runs on a loop; callbacks do too. The other members are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/loop.h"
#include "base/result.h"
#include "client/api_client.h"

namespace berth::client {

struct LeaseCandidacyOptions {
  std::string identity;    // the candidate's name, which the server writes into the lease as the holder
  std::string name_space;  // of the lease and the candidate
  std::string lease_name;
  // Semantic versions. Among candidates with the same strategy the oldest emulation version wins.
  std::string binary_version;
  std::string emulation_version;
  uint64_t seed = 0;  // of the jitter
  std::function<void(const Error& error)> on_problem{};
};

class LeaseCandidacy {
 public:
  LeaseCandidacy(ApiClient& client, base::Loop& loop, const base::Clock& clock, LeaseCandidacyOptions options);
  ~LeaseCandidacy();  // as Stop()
  LeaseCandidacy(const LeaseCandidacy&) = delete;
  LeaseCandidacy& operator=(const LeaseCandidacy&) = delete;

  void Start();
  // No ping is answered after this has returned. As upstream, the candidate stays until the server garbage-collects it;
  // at most one election waits for it.
  void Stop();

  // It is known whether our candidate exists; false if the server does not serve LeaseCandidates.
  bool synced() const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
