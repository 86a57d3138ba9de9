// NodeVolumeLimits for pods that share answers: their signature, and what is kept between them.
#include <optional>

#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/signature_text.h"
#include "plugins/volume/csi_migration.h"

namespace berth::plugins {

using framework::CycleState;
using framework::NodeIndex;
using framework::PodInfo;

namespace {

constexpr uint8_t kFits = 0;
constexpr uint8_t kExceedsLimit = 1;

}  // namespace

std::optional<NodeVolumeLimits::KeptWishes> NodeVolumeLimits::CollectWishes(const PodInfo& pod) const {
  KeptWishes wishes;
  bool differ = true;
  for (const bool node_has_csi : {true, false}) {
    if (!differ) {
      wishes.without_csi_node = wishes.with_csi_node;
      break;
    }
    std::vector<KeptWish>& list = node_has_csi ? wishes.with_csi_node : wishes.without_csi_node;
    AttachableVolumes volumes;
    if (!CollectAttachable(handle_.objects(), pod.pod(), PodRole::kIncoming, node_has_csi, volumes).ok()) return {};
    differ = false;  // unless there are disks migrated to CSI
    for (const AttachableVolume& volume : volumes) {
      if (list.empty() || list.back().driver != volume.driver) list.push_back({volume.driver, 0, {}});
      if (const AttachedVolumes::Volume* used = attached_.FindUsed(volume)) {
        list.back().in_use.push_back(used);
        wishes.any_in_use = true;
      } else {
        ++list.back().count;
      }
      differ = differ || MigrationToDriver(volume.driver) != nullptr;
    }
  }
  return wishes;
}

// Volumes that no pod uses are all equivalent; the others add nothing on nodes where they are in use.
bool NodeVolumeLimits::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  if (!MayAttachVolumes(pod.pod())) return true;
  if (volume_limit_scaling_ || !attached_.CatchUp(handle_.cluster(), handle_.objects())) return false;
  const std::optional<KeptWishes> wishes = CollectWishes(pod);
  if (!wishes) return false;
  std::string text = NewSignatureText();
  for (const std::vector<KeptWish>* list : {&wishes->with_csi_node, &wishes->without_csi_node}) {
    AppendField(text, static_cast<int64_t>(list->size()));
    for (const KeptWish& wish : *list) {
      AppendField(text, wish.driver);
      AppendField(text, wish.count);
      AppendField(text, static_cast<int64_t>(wish.in_use.size()));
      for (const AttachedVolumes::Volume* volume : wish.in_use) {
        AppendField(text, volume->name.handle);
        AppendField(text, int64_t{volume->name.unprovisioned});
      }
    }
  }
  signature.Add("NodeVolumeLimits", text);
  return true;
}

uint8_t NodeVolumeLimits::VerdictOn(const AttachedVolumes::OfNode& node, const Kept& kept) {
  const std::vector<KeptWish>& wishes = node.has_csi_node ? kept.wishes.with_csi_node : kept.wishes.without_csi_node;
  if (wishes.empty() || !node.has_limits) return kFits;
  if (node.unclear_pods > 0) return framework::FilterPlugin::kAskFilter;
  for (const KeptWish& wish : wishes) {
    const AttachedVolumes::OfDriver* driver = node.Find(wish.driver);
    if (driver == nullptr) continue;
    int64_t added = wish.count;
    for (const AttachedVolumes::Volume* volume : wish.in_use) added += node.IsUsed(*volume) ? 0 : 1;
    if (added > 0 && driver->held + added > driver->limit) return kExceedsLimit;
  }
  return kFits;
}

bool NodeVolumeLimits::FilterRange(const CycleState& state, const PodInfo&, const framework::NodeColumns& columns,
                                   NodeIndex begin, std::span<uint8_t> verdicts) const {
  const State* found = state.Find(state_key_);
  if (found == nullptr || !found->kept) return false;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const NodeIndex node = static_cast<NodeIndex>(begin + i);
    if (columns.live[node]) verdicts[i] = VerdictOn(attached_.On(handle_.cluster().row(node)), *found->kept);
  }
  return true;
}

bool NodeVolumeLimits::CatchUpDevices(CycleState& state, const PodInfo& pod, std::vector<NodeIndex>& changed) const {
  if (!attached_.CatchUp(handle_.cluster(), handle_.objects())) return false;
  State* found = state.FindMutable(state_key_);
  if (found == nullptr) return false;
  const bool is_new = !found->kept;
  if (is_new) {
    found->kept = std::make_shared<Kept>();
    found->kept->rebuilds = attached_.rebuilds();
    found->kept->cursor = attached_.changes().end();
    found->precomputed = nullptr;
  }
  Kept& kept = *found->kept;
  kept.precomputed = nullptr;
  if (kept.rebuilds != attached_.rebuilds() || !attached_.changes().Knows(kept.cursor)) return false;
  // Pods of one signature want the same; only where their volumes are in use may have changed.
  if (is_new || kept.wishes.any_in_use) {
    std::optional<KeptWishes> wishes = CollectWishes(pod);
    if (!wishes) return false;
    kept.wishes = *std::move(wishes);
  }
  for (; kept.cursor < attached_.changes().end(); ++kept.cursor) {
    const framework::NodeInfo* node = handle_.cluster().Find(attached_.changes().at(kept.cursor).str());
    if (node != nullptr) changed.push_back(node->index());
  }
  return true;
}

}  // namespace berth::plugins
