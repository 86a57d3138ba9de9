// CacheDebugger: what SIGUSR2 is for. Compares the scheduler's picture with what the API server says, tells what is
// missing and what is too much, and dumps picture and queue to the log.
//
// There is no second copy of the cluster in this process to compare with, so nodes and pods are listed anew, off the
// scheduling thread; the comparison itself is a message to that thread. List and picture are never of the very same
// moment: what differs is looked at once more after a pause, and only what differs both times is told.
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
  std::set<std::string> missed;     // the server has them, the picture has not
  std::set<std::string> redundant;  // the other way round

  bool empty() const { return missed.empty() && redundant.empty(); }
  // What is in both.
  CacheMismatch And(const CacheMismatch& other) const;
};

struct CacheComparison {
  CacheMismatch nodes, pods;

  bool empty() const { return nodes.empty() && pods.empty(); }
};

// On the scheduling thread. `pods` are those that have not run to their end. Pending pods of other schedulers are
// nobody's business here; a pending pod that is being deleted may be known or not.
CacheComparison CompareCache(const SchedulingLoop& loop, const std::vector<api::Object>& nodes,
                             const std::vector<api::Object>& pods);

class CacheDebugger {
 public:
  // All three must outlive it.
  CacheDebugger(client::ApiClient& client, base::Loop& io, SchedulingLoop& loop);
  // What is under way comes to nothing.
  ~CacheDebugger();
  CacheDebugger(const CacheDebugger&) = delete;
  CacheDebugger& operator=(const CacheDebugger&) = delete;

  // Returns at once; any thread. The dump comes last, also when the server could not be asked.
  void CompareAndDump();

 private:
  struct Run;
  class Owner;
  const std::shared_ptr<Owner> owner_;
};

}  // namespace berth::live
