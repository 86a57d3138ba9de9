#include "plugins/selector_spread/selector_spread.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plugins/args.h"
#include "plugins/pod_topology_spread/default_selector.h"
#include "plugins/pod_topology_spread/spread_constraint.h"
#include "plugins/signature_text.h"
#include "plugins/volume/topology_labels.h"

namespace berth::plugins {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::NodeScore;
using framework::PodInfo;
using framework::Status;

// The share of zones in the score, where nodes have zones.
constexpr double kZoneShare = 2.0 / 3.0;

using Zone = std::pair<Symbol, Symbol>;  // region and zone; both empty for none

Symbol ValueOf(const api::Labels& labels, const Symbol& old_key, const Symbol& key) {
  const Symbol* value = labels.Find(old_key);
  if (value == nullptr) value = labels.Find(key);
  return value ? *value : Symbol();
}

// The beta labels take precedence.
Zone ZoneOf(const NodeInfo& node) {
  const TopologyLabels& keys = GetTopologyLabels();
  return {ValueOf(node.labels(), keys.beta_region, keys.region), ValueOf(node.labels(), keys.beta_zone, keys.zone)};
}

bool IsNone(const Zone& zone) { return zone.first.empty() && zone.second.empty(); }

bool HasOwnConstraints(const PodInfo& pod) { return !pod.pod().spec.topology_spread_constraints.empty(); }

// 100 where there are none, 0 where there are most.
double Rarity(int64_t count, int64_t highest) {
  constexpr auto kMax = static_cast<double>(framework::kMaxNodeScore);
  return highest > 0 ? kMax * (static_cast<double>(highest - count) / static_cast<double>(highest)) : kMax;
}

}  // namespace

SelectorSpread::SelectorSpread(framework::Handle& handle) : handle_(handle), key_(handle.NewStateKey<State>()) {}

Result<std::unique_ptr<framework::Plugin>> SelectorSpread::Create(const config::PluginArgs& args,
                                                                  framework::Handle& handle) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new SelectorSpread(handle));
}

Status SelectorSpread::PreScore(CycleState& state, const PodInfo& pod, std::span<const NodeInfo* const>) const {
  if (HasOwnConstraints(pod)) return Status::Skip();
  auto mine = std::make_unique<State>();
  mine->selector = DefaultSpreadSelector(pod.pod(), handle_.objects());
  state.Put(key_, std::move(mine));
  return Status::Success();
}

framework::ScoreResult SelectorSpread::Score(const CycleState& state, const PodInfo& pod, const NodeInfo& node) const {
  if (HasOwnConstraints(pod)) return int64_t{0};
  if (const State* mine = state.Find(key_)) return CountSelectedPods(node, mine->selector, pod.namespace_());
  // PreScore may be disabled separately.
  return CountSelectedPods(node, DefaultSpreadSelector(pod.pod(), handle_.objects()), pod.namespace_());
}

Status SelectorSpread::NormalizeScore(const CycleState&, const PodInfo& pod, std::span<NodeScore> scores) const {
  if (HasOwnConstraints(pod)) return Status::Success();
  std::vector<Zone> zones;
  std::map<Zone, int64_t> counts;
  int64_t highest_on_node = 0;
  for (const NodeScore& score : scores) {
    highest_on_node = std::max(highest_on_node, score.score);
    zones.push_back(ZoneOf(*score.node));
    if (!IsNone(zones.back())) counts[zones.back()] += score.score;
  }
  int64_t highest_in_zone = 0;
  for (const auto& [zone, count] : counts) highest_in_zone = std::max(highest_in_zone, count);

  for (size_t i = 0; i < scores.size(); ++i) {
    double value = Rarity(scores[i].score, highest_on_node);
    if (!IsNone(zones[i])) {
      value = value * (1.0 - kZoneShare) + kZoneShare * Rarity(counts[zones[i]], highest_in_zone);
    }
    scores[i].score = static_cast<int64_t>(value);
  }
  return Status::Success();
}

bool SelectorSpread::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  if (HasOwnConstraints(pod)) {
    signature.Add(kName, "");
    return true;
  }
  std::string origin;
  AppendField(origin, pod.namespace_().str());
  AppendLabels(origin, pod.labels());
  if (const api::OwnerReference* owner = SpreadingController(pod.pod())) {
    AppendField(origin, owner->kind);
    AppendField(origin, owner->name);
  }
  signature.Add(kName, origin);
  return true;
}

}  // namespace berth::plugins
