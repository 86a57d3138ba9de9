// The part of an API server that coordinates leader election, in memory: one lease, its candidates with their watches,
// and the controller that elects among them by kube-apiserver's rules. JSON only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/coordination.h"
#include "base/clock.h"
#include "http/testing/fake_transport.h"

namespace berth::client::testing {

class FakeCoordinationServer {
 public:
  explicit FakeCoordinationServer(const base::Clock& clock) : clock_(clock) {}

  // For FakeTransport.
  void Handle(const http::testing::FakeCallPtr& call);

  // One step of the controller, which runs periodically: pings, waits five seconds for answers, or elects.
  void Elect();

  // The controller's writes, made by the test.
  void Assign(const std::string& holder);
  void Prefer(const std::string& holder);
  void Ping(const std::string& candidate);
  void Delete(const std::string& candidate);
  // Ends all watches.
  void BreakWatches();
  // The watches stay open, but nothing arrives any more.
  void MuteWatches() { watchers_.clear(); }

  std::optional<api::Lease> lease;
  std::map<std::string, api::LeaseCandidate> candidates;
  bool serves_candidates = true;
  std::vector<std::string> lease_writes;      // "PUT {…}", accepted ones
  std::vector<std::string> candidate_writes;  // the same

 private:
  struct Change {
    uint64_t version;
    std::string type;
    std::string name;
    std::string json;
  };
  struct Watcher {
    http::testing::FakeCallPtr call;
    std::string name;
  };

  void HandleLease(const http::testing::FakeCallPtr& call);
  void HandleCandidates(const http::testing::FakeCallPtr& call);
  void WriteCandidate(const http::testing::FakeCallPtr& call);
  void Watch(const http::testing::FakeCallPtr& call, const std::string& name);
  void Put(api::LeaseCandidate candidate);
  void Tell(Change change);
  bool IsLeaseExpired() const;
  bool PingAsNeeded();

  const base::Clock& clock_;
  uint64_t version_ = 0;
  std::vector<Change> history_;
  std::vector<Watcher> watchers_;
};

}  // namespace berth::client::testing
