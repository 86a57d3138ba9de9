// CacheDebugger: handles SIGUSR2. Compares the scheduler's cache with the API server, reports missing and redundant
// objects, and dumps the cache and the queue to the log.
//
// This process has no second copy of the cluster to compare with, so nodes and pods are listed anew, off the scheduling
// thread; the comparison itself is a message to that thread. The list and the cache are never of exactly the same
// moment: differences are checked again after a pause, and only those found both times are reported.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/loop.h"
#include "client/api_client.h"
#include "live/scheduling_loop.h"

namespace berth::live {

// Names of nodes, or UIDs of pods.
struct CacheMismatch {
  std::set<std::string> missed;     // the server has them, the cache does not
  std::set<std::string> redundant;  // the other way round

  bool empty() const { return missed.empty() && redundant.empty(); }
  // What is in both.
  CacheMismatch And(const CacheMismatch& other) const;
};

struct CacheComparison {
  CacheMismatch nodes, pods;

  bool empty() const { return nodes.empty() && pods.empty(); }
};

// On the scheduling thread. `pods` are those that have not terminated. Pending pods of other schedulers are ignored; a
// pending pod that is being deleted may or may not be in the cache.
CacheComparison CompareCache(const SchedulingLoop& loop, const std::vector<api::Object>& nodes,
                             const std::vector<api::Object>& pods);

class CacheDebugger {
 public:
  // All three must outlive it.
  CacheDebugger(client::ApiClient& client, base::Loop& io, SchedulingLoop& loop);
  // Cancels a comparison in progress.
  ~CacheDebugger();
  CacheDebugger(const CacheDebugger&) = delete;
  CacheDebugger& operator=(const CacheDebugger&) = delete;

  // Returns at once; any thread. The dump comes last, even if the server could not be reached.
  void CompareAndDump();

 private:
  struct Run;
  class Owner;
  const std::shared_ptr<Owner> owner_;
};

}  // namespace berth::live
