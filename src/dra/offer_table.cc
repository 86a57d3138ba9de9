#include "dra/offer_table.h"

#include <algorithm>

namespace berth::dra {
namespace {

// What evaluating selectors for devices that no search has reached may cost, in CEL's units: some hundredths of a
// second. The others are evaluated when a search reaches them.
constexpr uint64_t kBudget = 2'000'000;
constexpr size_t kMaxShapes = 256;

template <class T>
void AppendBytes(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendText(std::string& text, const std::string& value) {
  AppendBytes(text, value.size());
  text += value;
}

// Compared, never read. Compiled selectors are told apart by their addresses, so the shape has to hold them.
std::string KeyOf(const RequestState& request) {
  std::string key;
  for (const auto* selectors : {&request.class_selectors, &request.selectors}) {
    AppendBytes(key, selectors->size());
    for (const auto& selector : *selectors) AppendBytes(key, selector.get());
  }
  AppendBytes(key, request.view.tolerations->size());
  for (const api::DeviceToleration& toleration : *request.view.tolerations) {
    for (const std::string* text : {&toleration.key, &toleration.op, &toleration.value, &toleration.effect}) {
      AppendText(key, *text);
    }
  }
  if (!request.view.capacity) return key;
  for (const auto& [name, amount] : request.view.capacity->requests) {
    AppendText(key, name);
    AppendBytes(key, amount.nanos());
    AppendBytes(key, amount.format());
  }
  // An empty list asks for nothing, as none does.
  return key;
}

}  // namespace

OfferTable::Shape& OfferTable::ShapeOf(const RequestState& request) {
  std::string key = KeyOf(request);
  auto found = shapes_.find(key);
  if (found == shapes_.end()) {
    if (shapes_.size() >= kMaxShapes) {
      std::erase_if(shapes_, [&](const auto& entry) { return entry.second.used <= shapes_swept_; });
      if (shapes_.size() >= kMaxShapes) shapes_.clear();
      shapes_swept_ = clock_;
    }
    auto shape = std::make_shared<RequestShape>();
    shape->class_selectors = request.class_selectors;
    shape->selectors = request.selectors;
    shape->tolerations = *request.view.tolerations;
    if (request.view.capacity) shape->capacity = *request.view.capacity;
    found = shapes_.try_emplace(std::move(key)).first;
    found->second.shape = std::move(shape);
  }
  found->second.used = ++clock_;
  return found->second;
}

void OfferTable::Sweep(Shape& shape) const {
  std::erase_if(shape.by_set, [&](const auto& entry) { return entry.second.used <= shape.swept; });
  std::erase_if(shape.by_pools, [](const auto& entry) { return entry.second.expired(); });
  shape.after_sweep = shape.by_set.size();
  shape.swept = clock_;
}

std::shared_ptr<OfferIndex> OfferTable::MakeIndex(Shape& shape, const NodePools& seen) {
  uint64_t budget = kBudget;
  std::vector<PoolPtr> pools;
  std::vector<uint64_t> serials;
  for (const PoolPtr& pool : *seen.pools) {
    if (!pool->usable()) continue;
    const bool matters = std::ranges::any_of(pool->devices, [&](const Pool::Device& device) {
      return JudgeSelectors(*shape.shape, features_, selectors_.features(), device, budget).value_or(true);
    });
    if (!matters) continue;
    pools.push_back(pool);
    serials.push_back(pool->serial());
  }
  std::weak_ptr<OfferIndex>& place = shape.by_pools[std::move(serials)];
  std::shared_ptr<OfferIndex> index = place.lock();
  if (!index) {
    index = std::make_shared<OfferIndex>(features_, selectors_.features(), shape.shape, std::move(pools), ++last_id_,
                                         budget);
    place = index;
  }
  return index;
}

std::shared_ptr<OfferIndex> OfferTable::IndexFor(const RequestState& request, const NodePools& seen,
                                                 const AllocatedDevices& allocated) {
  Shape& shape = ShapeOf(request);
  if (shape.by_set.size() > 2 * shape.after_sweep + 64) Sweep(shape);
  Entry& entry = shape.by_set[seen.set];
  if (!entry.index) entry.index = MakeIndex(shape, seen);
  entry.used = clock_;
  entry.index->CatchUp(allocated);
  return entry.index;
}

}  // namespace berth::dra
