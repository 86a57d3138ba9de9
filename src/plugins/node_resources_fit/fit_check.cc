#include "plugins/node_resources_fit/fit_check.h"

#include <algorithm>

namespace berth::plugins {
namespace {

using framework::Code;
using framework::NodeColumns;
using framework::Resource;
using framework::Shortfall;
using framework::Status;

// Bits of a column verdict.
constexpr uint8_t kTooManyPods = 1 << 0;
constexpr uint8_t kCpu = 1 << 1;
constexpr uint8_t kMemory = 1 << 2;
constexpr uint8_t kEphemeralStorage = 1 << 3;
constexpr uint8_t kUnresolvable = 1 << 4;

class Rejection {
 public:
  void Check(const Symbol& name, int64_t requested, int64_t used, int64_t capacity) {
    if (requested <= framework::WrappingSubtract(capacity, used)) return;
    Add("Insufficient " + std::string(name.str()), {name, requested, used, capacity});
    if (requested > capacity) code_ = Code::kUnschedulableAndUnresolvable;
  }
  void Add(std::string reason, Shortfall shortfall) {
    reasons_.push_back(std::move(reason));
    shortfalls_.push_back(std::move(shortfall));
  }
  Status Take() && {
    if (reasons_.empty()) return Status::Success();
    return Status(code_, std::move(reasons_), std::move(shortfalls_));
  }

 private:
  Code code_ = Code::kUnschedulable;
  std::vector<std::string> reasons_;
  std::vector<Shortfall> shortfalls_;
};

// What one resource adds to a verdict, branch-free, so that the compiler can vectorize it.
uint8_t Objection(int64_t requested, int64_t used, int64_t capacity, uint8_t bit) {
  const bool is_short = requested > framework::WrappingSubtract(capacity, used);
  const bool never = is_short & (requested > capacity);
  return static_cast<uint8_t>((is_short ? bit : 0) | (never ? kUnresolvable : 0));
}

// at(i) is the node of the i-th verdict. One pass per resource.
template <class At>
void CheckNodes(const Resource& request, const NodeColumns& columns, const At& at, std::span<uint8_t> verdicts) {
  const int64_t* const pods = columns.pod_count.data();
  const int64_t* const allowed = columns.allowed_pod_number.data();
  for (size_t i = 0; i < verdicts.size(); ++i) verdicts[i] = pods[at(i)] + 1 > allowed[at(i)] ? kTooManyPods : 0;
  const auto check = [&](int64_t requested, const std::vector<int64_t>& used_column,
                         const std::vector<int64_t>& capacity_column, uint8_t bit) {
    if (requested <= 0) return;
    const int64_t* const used = used_column.data();
    const int64_t* const capacity = capacity_column.data();
    for (size_t i = 0; i < verdicts.size(); ++i) verdicts[i] |= Objection(requested, used[at(i)], capacity[at(i)], bit);
  };
  check(request.milli_cpu, columns.requested_milli_cpu, columns.allocatable_milli_cpu, kCpu);
  check(request.memory, columns.requested_memory, columns.allocatable_memory, kMemory);
  check(request.ephemeral_storage, columns.requested_ephemeral_storage, columns.allocatable_ephemeral_storage,
        kEphemeralStorage);
}

}  // namespace

bool IgnoredResources::Cover(const Symbol& name) const {
  if (!framework::IsExtendedResourceName(name.str())) return false;
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  const std::string_view group = name.str().substr(0, name.str().find('/'));
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

Resource RequestToCheck(Resource request, const IgnoredResources& ignored) {
  base::FlatMap<Symbol, int64_t> checked;
  for (const auto& [name, amount] : request.scalar) {
    if (amount != 0 && !ignored.Cover(name)) checked.Set(name, amount);
  }
  request.scalar = std::move(checked);
  return request;
}

Status CheckFit(const Resource& request, const NodeRoom& room) {
  const Resource& capacity = room.allocatable;
  const Resource& used = room.requested;
  Rejection rejection;
  if (room.pod_count + 1 > capacity.allowed_pod_number) {
    rejection.Add("Too many pods", {framework::PodsName(), 1, room.pod_count, capacity.allowed_pod_number});
  }
  // A request of nothing fits even where more is used than there is.
  if (request.milli_cpu > 0) {
    rejection.Check(framework::CpuName(), request.milli_cpu, used.milli_cpu, capacity.milli_cpu);
  }
  if (request.memory > 0) rejection.Check(framework::MemoryName(), request.memory, used.memory, capacity.memory);
  if (request.ephemeral_storage > 0) {
    rejection.Check(framework::EphemeralStorageName(), request.ephemeral_storage, used.ephemeral_storage,
                    capacity.ephemeral_storage);
  }
  for (const auto& [name, amount] : request.scalar) {
    if (room.classes && capacity.Get(name) <= 0 && room.classes->Find(name)) continue;
    rejection.Check(name, amount, used.Get(name), capacity.Get(name));
  }
  return std::move(rejection).Take();
}

void CheckFitColumns(const Resource& request, const NodeColumns& columns, framework::NodeIndex begin,
                     std::span<uint8_t> verdicts) {
  CheckNodes(
      request, columns, [begin](size_t i) { return begin + i; }, verdicts);
}

void CheckFitColumns(const Resource& request, const NodeColumns& columns, std::span<const framework::NodeIndex> nodes,
                     std::span<uint8_t> verdicts) {
  CheckNodes(
      request, columns, [nodes](size_t i) { return nodes[i]; }, verdicts);
}

}  // namespace berth::plugins
