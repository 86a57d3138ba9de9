#include "plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

#include <algorithm>

#include "plugins/args.h"
#include "plugins/node_resources_balanced_allocation/balance.h"
#include "plugins/signature_text.h"

namespace berth::plugins {
namespace {

using framework::CycleState;
using framework::PodInfo;
using framework::Status;

bool AsksForNothing(std::span<const int64_t> demand) {
  return std::all_of(demand.begin(), demand.end(), [](int64_t amount) { return amount == 0; });
}

}  // namespace

NodeResourcesBalancedAllocation::NodeResourcesBalancedAllocation(
    const config::NodeResourcesBalancedAllocationArgs& args, framework::Handle& handle)
    : key_(handle.NewStateKey<Demand>()),
      resources_(args.resources, ScoredResources::Basis::kRequested, handle.gates(), &handle.inventory()) {}

Result<std::unique_ptr<framework::Plugin>> NodeResourcesBalancedAllocation::Create(const config::PluginArgs& args,
                                                                                   framework::Handle& handle) {
  const auto mine = ReadArgs<config::NodeResourcesBalancedAllocationArgs>(args, kName);
  if (!mine) return mine.error();
  return std::unique_ptr<framework::Plugin>(new NodeResourcesBalancedAllocation(*mine, handle));
}

Status NodeResourcesBalancedAllocation::PreScore(CycleState& state, const PodInfo& pod,
                                                 std::span<const framework::NodeInfo* const>) const {
  std::vector<int64_t> amounts = resources_.Demand(pod);
  if (AsksForNothing(amounts)) return Status::Skip();
  auto demand = std::make_unique<Demand>();
  demand->amounts = std::move(amounts);
  state.Put(key_, std::move(demand));
  return Status::Success();
}

framework::ScoreResult NodeResourcesBalancedAllocation::Score(const CycleState& state, const PodInfo& pod,
                                                              const framework::NodeInfo& node) const {
  if (const Demand* demand = state.Find(key_)) {
    return resources_.Score(BalanceChange(), demand->amounts, node);
  }
  // PreScore may be disabled separately.
  const std::vector<int64_t> amounts = resources_.Demand(pod);
  if (AsksForNothing(amounts)) return int64_t{0};
  return resources_.Score(BalanceChange(), amounts, node);
}

bool NodeResourcesBalancedAllocation::ScoreRange(const CycleState& state, const PodInfo&,
                                                 const framework::NodeColumns& columns, framework::NodeIndex begin,
                                                 std::span<int64_t> scores) const {
  const Demand* demand = state.Find(key_);
  return demand && resources_.ScoreColumns(BalanceChange(), demand->amounts, columns, begin, scores);
}

bool NodeResourcesBalancedAllocation::ScoreList(const CycleState& state, const PodInfo&,
                                                const framework::NodeColumns& columns,
                                                std::span<const framework::NodeIndex> nodes,
                                                std::span<int64_t> scores) const {
  const Demand* demand = state.Find(key_);
  return demand && resources_.ScoreColumns(BalanceChange(), demand->amounts, columns, nodes, scores);
}

bool NodeResourcesBalancedAllocation::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  const std::vector<int64_t> demand = resources_.Demand(pod);
  if (resources_.CountsDevices(demand)) return false;
  std::string text = NewSignatureText();
  for (const int64_t amount : demand) AppendField(text, amount);
  signature.Add("NodeResourcesBalancedAllocation", text);
  return true;
}

}  // namespace berth::plugins
