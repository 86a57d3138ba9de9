// Decisions: which pods one life of the scheduler decides to bind where, and what it had been told by then. A binding
// is judged by the moment of its decision: what happened after that cannot have been known.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ticket.h"
#include "http/transport.h"
#include "scheduler/driver.h"
#include "storm/instance.h"
#include "storm/network.h"

namespace berth::storm {

class Decisions {
 public:
  using Report = std::function<void(std::string invariant, std::string message, std::vector<std::string> subjects)>;
  using OnBinding = std::function<void(const SentBinding& binding)>;

  Decisions(const base::Clock& clock, Report report, OnBinding on_binding)
      : clock_(clock), report_(std::move(report)), on_binding_(std::move(on_binding)) {}

  // What the transport sees.
  void NoteDelivery(const Delivery& delivery);
  void NoteRequest(const http::Request& request);
  void NoteAnswer(const http::Request& request, int status);

  // Around each turn of the scheduling loop, which reads all its mail first.
  void BeginTurn();
  void EndTurn(const scheduler::Driver& driver);

 private:
  struct Decision {
    base::Ticket ticket;
    SentBinding binding;
    base::Time decided;
    bool was_bound;  // in the picture, before
  };
  struct Arrival {
    base::Time time;
    uint64_t revision;
  };

  void CheckBinding(const http::Request& request);
  uint64_t ReadUntilNow(api::Kind kind);

  const base::Clock& clock_;
  const Report report_;
  const OnBinding on_binding_;
  std::map<api::Kind, std::vector<Arrival>> arrivals_;  // the last of them may not have been read yet
  uint64_t nodes_seen_ = 0;
  uint64_t pods_seen_ = 0;
  std::map<std::string, std::vector<Decision>> decisions_;  // by UID; of attempts that may still be under way
  std::set<std::string> bound_;                             // UIDs: in the picture at the end of the last turn
  // By UID: of pods whose binding was answered with success, what had been seen of pods when that was decided.
  std::map<std::string, uint64_t> answered_;
};

}  // namespace berth::storm
