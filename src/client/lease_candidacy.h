// LeaseCandidacy: announces us to the API server as one that may hold a lease, for leader election that the server
// coordinates (feature gate CoordinatedLeaderElection). Whether we lead is LeaderElector's business.
//
//   list and watch our own LeaseCandidate ──▶ create it, or renew it ──every 5 min──▶ renew it
//                                                  ▲
//                                                  └── at once: the server pinged it (pingTime after renewTime), or it
//                                                      was deleted
//
// Before an election the server pings every candidate and gives each five seconds to renew; who has not is passed over.
// Hence a ping is never answered with a renewTime before it, even where our wall clock is behind the server's; and a
// watch that is silent for half a minute is started again.
//
// The server compares the times that we write, here and in the lease, with its own clock. A clock that differs by more
// than the margin that leader election keeps is reported, once, when the candidate has been created.
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
  std::string identity;    // the candidate's name: the holder that the server writes into the lease
  std::string name_space;  // of the lease and the candidate
  std::string lease_name;
  // Semantic versions. Of candidates with the same strategy the oldest emulation version wins.
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
  // Pings are not answered any more once this has returned. The candidate stays, as upstream's does, until the server
  // collects it; no election waits for it longer than once.
  void Stop();

  // We know whether there is a candidate of ours; false where the server does not serve them.
  bool synced() const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace berth::client
