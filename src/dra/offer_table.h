// OfferTable: the OfferIndexes, by the shape of the request and the pools that nodes see.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "dra/offer_index.h"
#include "dra/requests.h"

namespace berth::dra {

class OfferTable {
 public:
  OfferTable(const Features& features, const SelectorCache& selectors) : features_(features), selectors_(selectors) {}

  // Whether searches over these pools use an index.
  bool Covers(const NodePools& seen) const {
    return seen.devices >= from_devices_ && seen.is_shareable && !seen.has_negative_amounts;
  }
  // With fewer devices than this, each is examined, which is faster than looking up the index.
  void set_from_devices(size_t count) { from_devices_ = count; }

  // The index for a request for a number of devices (without administrator access) on nodes that see these pools; up to
  // date. Nodes that differ only in pools of no use to the request share an index.
  std::shared_ptr<OfferIndex> IndexFor(const RequestState& request, const NodePools& seen,
                                       const AllocatedDevices& allocated);

 private:
  struct Entry {
    std::shared_ptr<OfferIndex> index;
    uint64_t used = 0;
  };
  struct Shape {
    std::shared_ptr<const RequestShape> shape;
    std::unordered_map<uint64_t, Entry> by_set;                           // by NodePools::set
    std::map<std::vector<uint64_t>, std::weak_ptr<OfferIndex>> by_pools;  // by the numbers of the pools that matter
    size_t after_sweep = 0;
    uint64_t swept = 0;
    uint64_t used = 0;
  };

  Shape& ShapeOf(const RequestState& request);
  std::shared_ptr<OfferIndex> MakeIndex(Shape& shape, const NodePools& seen);
  // Drops the indexes that were not used since the last sweep.
  void Sweep(Shape& shape) const;

  const Features& features_;
  const SelectorCache& selectors_;
  size_t from_devices_ = 64;
  std::unordered_map<std::string, Shape> shapes_;
  uint64_t shapes_swept_ = 0;
  uint64_t last_id_ = 0;
  uint64_t clock_ = 0;  // the number of calls
};

}  // namespace berth::dra
