// The search where an index says which devices to look at.
#include "dra/search.h"

namespace berth::dra {

AnswerKey Search::KeyOfAnswer() {
  const AnswerKey by_pools = {0, in_.seen.set};
  // What is wrong with a pool that cannot be used is part of the answer.
  if (!in_.seen.pools || in_.seen.has_unusable || !Prepare()) return by_pools;
  AnswerKey key = {1, 0};
  for (const ClaimState& claim : claims_) {
    for (const std::vector<RequestState>& alternatives : claim.requests) {
      for (const RequestState& request : alternatives) {
        if (!request.index) return by_pools;
        key.push_back(request.index->id());
      }
    }
  }
  key[1] = key.size();
  return key;
}

OfferIndex::Range Search::RangeFor(const Cursor& at) {
  const RequestState& current = request(at);
  const std::string& base = current.parent ? *current.parent : *current.view.name;
  const std::string& sub = current.parent ? *current.view.name : std::string();
  // A distinctAttribute forgets with every device that another constraint refuses: no such device may be passed over.
  if (claim(at).has_distinct) return {};
  for (const Constraint& constraint : claim(at).constraints) {
    if (const api::DeviceAttribute* value = constraint.MustMatch(base, sub)) {
      return current.index->PoolsWith(constraint.attribute(), *value);
    }
  }
  return {};
}

Search::Step Search::TakeNextListed(const Cursor& at, bool inside_alternative, Location start) {
  RequestState& current = request(at);
  OfferIndex& index = *current.index;
  const size_t missing = static_cast<size_t>(current.wanted - at.device);
  const OfferIndex::Range range = RangeFor(at);
  for (Location here = start; index.Next(range, here); ++here.device) {
    // A selector that fails further on counts.
    if (missing > 1 && !index.has_unknown() && index.CountFrom(range, here) < missing) return Step::kNo;
    const Pool::Device& device = index.device(here);
    if (IsMarked(device)) continue;
    if (index.IsUnknown(here)) {
      bool failed = false;
      const bool matches = MatchesRequest(claim(at), current, device, failed);
      if (failed) return Step::kFailed;
      index.Learn(here, matches, in_.allocated);
      if (!matches) continue;
    }
    if (!HasCapacity(current, device)) continue;
    const Step step = TryDevice(at, inside_alternative, device, {here.pool, here.device + 1});
    if (step != Step::kNo) return step;
  }
  return Step::kNo;
}

}  // namespace berth::dra
