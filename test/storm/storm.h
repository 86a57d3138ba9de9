// Storm: a whole world made from one plan, run until it has settled or violated an invariant.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "storm/actors.h"
#include "storm/api_server.h"
#include "storm/claims.h"
#include "storm/evictions.h"
#include "storm/faults.h"
#include "storm/host.h"
#include "storm/invariants.h"
#include "storm/network.h"
#include "storm/plan.h"
#include "storm/store.h"
#include "storm/timeline.h"
#include "storm/trace.h"
#include "storm/volumes.h"

namespace berth::storm {

class Storm {
 public:
  Storm(const Plan& plan, const Scheduler& scheduler, Trace::Keep keep);
  ~Storm();
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;

  // Unset if every invariant held.
  std::optional<Violation> Run();

  const Trace& trace() const { return trace_; }
  Trace& trace() { return trace_; }
  // Adds a line of the scheduler's own log, from the process that is running.
  void AddLog(std::string_view line);
  const Timeline& timeline() const { return timeline_; }

 private:
  void Schedule();
  void Do(const Action& action);
  void DoToWorld(const Action& action);
  void HideKind(base::Random& random);
  Host& PickHost(base::Random& random);
  void TakeOver(base::Random& random);
  void Terminate(Host& host, base::Random& random);
  void PauseRenewing(const std::string& process);
  Host* FindHost(const std::string& process) const;
  // False if an invariant was violated.
  bool RunUntil(base::Duration until);
  void Calm();
  bool Settle();
  bool StaysQuiet();

  const Plan plan_;
  const Scheduler scheduler_;
  Timeline timeline_;
  Trace trace_;
  Faults faults_;
  Store store_;
  Network network_;
  ApiServer server_;
  Claims claims_;
  Volumes volumes_;
  Actors actors_;
  Invariants invariants_;
  Evictions evictions_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

}  // namespace berth::storm
