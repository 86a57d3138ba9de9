// Which limit would be enough. The Status already has what is attached and what is requested.
#include <fmt/format.h>

#include <algorithm>

#include "framework/explanation.h"
#include "plugins/node_volume_limits/node_volume_limits.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kPrefix = "attachable-volumes-csi-";

// A limit belongs to the driver, and most can be configured. The volumes of a pod are fixed.
class VolumeLimitExplainer final : public framework::RejectionExplainer {
 public:
  VolumeLimitExplainer(const NodeVolumeLimits& plugin, const framework::PodInfo& pod) : plugin_(plugin), pod_(pod) {}

  std::vector<framework::Remedy> Remedies(const framework::NodeInfo& node,
                                          const framework::Remedy& so_far) const override {
    const framework::Status status = plugin_.Filter(framework::CycleState(), pod_, node);
    if (status.shortfalls().empty()) return {};
    const framework::Shortfall& shortfall = status.shortfalls().front();
    const std::string driver(std::string_view(shortfall.resource.str()).substr(kPrefix.size()));
    const int64_t enough = shortfall.used + shortfall.requested;
    framework::Remedy remedy = so_far;
    remedy.ChangeObjects(
        {fmt::format("a limit of {} volumes of {} on {} ({} now)", enough, driver, node.name(), shortfall.capacity),
         fmt::format("volume limit of {}", driver)},
        [name = node.name(), driver, enough](framework::Objects& objects) {
          const api::CSINode* found = objects.csi_nodes.Find(name);
          if (found == nullptr) return;
          auto raised = std::make_shared<api::CSINode>(*found);
          for (api::CSINodeDriver& limited : raised->spec.drivers) {
            if (limited.name == driver && limited.allocatable) {
              limited.allocatable->count = static_cast<int32_t>(enough);
            }
          }
          objects.csi_nodes.Upsert(std::move(raised));
        });
    return {remedy};
  }

 private:
  const NodeVolumeLimits& plugin_;
  const framework::PodInfo& pod_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> NodeVolumeLimits::ExplainRejections(
    const framework::PodInfo& pod) const {
  return std::make_unique<VolumeLimitExplainer>(*this, pod);
}

}  // namespace berth::plugins
