// Search: one run of the allocator over one node.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dra/allocator.h"
#include "dra/constraints.h"
#include "dra/offer_table.h"
#include "dra/requests.h"

namespace berth::dra {

// A device that the search has taken.
struct Taken {
  const RequestState* request;
  const Pool::Device* device;
  bool shared = false;
  ConsumedCapacity consumed;
};

class Search {
 public:
  explicit Search(const AllocatorInputs& inputs) : in_(inputs) {}

  AllocationOutcome Run();
  AnswerKey KeyOfAnswer();

 private:
  enum class Step {
    kDone,
    kNo,
    kTooMany,  // every solution from here exceeds the limit of a claim's results
    kFailed,   // failure_ says why: the whole search ends
  };
  struct ClaimState {
    const api::ResourceClaim* claim;
    // By request: the alternatives, or the request itself.
    std::vector<std::vector<RequestState>> requests;
    std::vector<size_t> chosen;  // by request: which alternative
    std::vector<Constraint> constraints;
    bool has_distinct = false;  // among them
    std::vector<Taken> taken;
  };
  struct Cursor {
    size_t claim = 0;
    size_t request = 0;
    size_t alternative = 0;
    int64_t device = 0;  // how many devices have been taken for the request
  };
  // What taking a device changed, to be undone.
  struct Undo {
    bool counters = false;
    size_t constraints = 0;
    bool marked = false;
    bool capacity = false;
    bool had_capacity = false;
  };

  // Before the search: decides everything about the claims that needs no devices to be tried. False: failure_ says why.
  bool Prepare();
  bool PrepareClaim(ClaimState& claim);
  bool PrepareRequest(const ClaimState& claim, RequestState& request);
  bool PrepareConstraints(ClaimState& claim);
  bool ListAll(const ClaimState& claim, RequestState& request);
  // Fills the tables that are needed to examine every device.
  void ListPools();
  // Whether BuildAllocation is certain to succeed for what was taken.
  bool IsSureToBuild() const;
  bool AsksForNegativeAmounts() const;

  Step AllocateOne(const Cursor& at, bool inside_alternative, Location start);
  Step TryAlternatives(Cursor at);
  Step TakeNextOfAll(const Cursor& at, bool inside_alternative);
  Step TakeNext(const Cursor& at, bool inside_alternative, Location start);
  // The same with an index, which lists the devices to examine.
  Step TakeNextListed(const Cursor& at, bool inside_alternative, Location start);
  // The pools to which the claim's constraints limit its next device.
  OfferIndex::Range RangeFor(const Cursor& at);
  // Takes the device and continues the search. kNo: it cannot be taken, or there is no solution with it.
  Step TryDevice(const Cursor& at, bool inside_alternative, const Pool::Device& device, Location next_start);
  // Takes the device if possible; does not continue the search. `must`: if a constraint prevents it, failure_ says so.
  bool Take(const Cursor& at, const Pool::Device& device, bool must);
  void GiveBack(const Cursor& at, const Pool::Device& device, const Undo& undo);

  // kYes, kNo, or kUnknown for a failure.
  RequestState::Match IsSelectable(const ClaimState& claim, RequestState& request, const Pool::Device& device,
                                   size_t position);
  // Evaluates the selectors of class and request; `failed`: failure_ says why.
  bool MatchesRequest(const ClaimState& claim, const RequestState& request, const Pool::Device& device, bool& failed);
  bool MatchesSelectors(const ClaimState& claim, const api::DeviceClass* device_class,
                        const std::vector<std::shared_ptr<const CompiledSelector>>& selectors,
                        const Pool::Device& device, bool& failed);
  bool HasCapacity(const RequestState& request, const Pool::Device& device) const;
  // Taken as a whole in this search.
  bool IsMarked(const Pool::Device& device) const;
  bool IsInUse(const Pool::Device& device) const;
  bool IsTakenBy(const Pool::Device& device, size_t claim) const;
  bool ReserveCounters(const Pool::Device& device);
  void ReleaseCounters(const Pool::Device& device);
  // The most devices from this position on that could serve the request; no limit while some are unknown.
  size_t AtBest(RequestState& request, size_t position);
  bool IsTooLate();

  ClaimState& claim(const Cursor& at) { return claims_[at.claim]; }
  RequestState& request(const Cursor& at) { return claims_[at.claim].requests[at.request][at.alternative]; }
  size_t PositionOf(const Location& at) const { return first_[at.pool] + at.device; }
  Step Fail(std::string why) {
    failure_ = std::move(why);
    return Step::kFailed;
  }

  const AllocatorInputs& in_;
  OfferTable* offers_ = nullptr;
  std::vector<const Pool*> pools_;     // those that can be used; this and the next two are filled when needed
  std::vector<const Pool::Use*> use_;  // of each
  std::vector<size_t> first_;          // position of the first device of each pool, and after the last pool the end
  std::vector<ClaimState> claims_;

  std::vector<std::pair<const Pool::Device*, size_t>> marked_;  // devices taken as a whole, and the claim
  std::map<const Pool::Device*, ConsumedCapacity> sharing_;     // of devices that are shared in this search
  std::map<const Pool*, std::vector<Pool::Amount>> counters_;   // consumed in this search
  std::vector<Undo> undo_;                                      // of the devices taken, in order

  std::string failure_;
  bool timed_out_ = false;
  uint64_t steps_ = 0;

  friend class ResultBuilder;
};

// What the allocation of one claim is built from.
struct ClaimResult {
  const Features& features;
  const api::Node& node;
  const api::ResourceClaim& claim;
  // By request: what was chosen for it.
  std::vector<const RequestState*> chosen;
  const std::vector<Taken>& taken;
};
Result<api::AllocationResult> BuildAllocation(const ClaimResult& result);
// Whether the device's node selector, if it has one, can be made part of an allocation.
bool HasOneSelectorTerm(const Pool::Device& device);

}  // namespace berth::dra
