// Which pods use the claims that the pod needs exclusively.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "plugins/volume/claim_explainer.h"
#include "plugins/volume/claims.h"
#include "plugins/volume_restrictions/volume_restrictions.h"

namespace berth::plugins {

using framework::Finding;
using framework::NodeInfo;

namespace {

// The same for every node: a claim with ReadWriteOncePod is for one pod in the whole cluster.
class ClaimUseExplainer final : public framework::RejectionExplainer {
 public:
  ClaimUseExplainer(const framework::Handle& handle, const framework::PodInfo& pod)
      : cluster_(handle.cluster()), pod_(pod), claims_(handle, pod) {}

  std::vector<Finding> Findings(const framework::Status&, const NodeInfo&) const override {
    if (!findings_) findings_ = Find();
    return *findings_;
  }

  // This plugin is the first to read claims, so it reports missing ones.
  std::vector<std::string> Hints() const override { return claims_.Hints(); }

 private:
  std::vector<Finding> Find() const {
    std::set<std::string> claims;
    for (const api::Volume& volume : pod_.volumes()) {
      if (const auto claim = ClaimOf(pod_, volume)) claims.insert(claim->name);
    }
    std::map<std::string, Finding> by_text;
    for (const NodeInfo* node : cluster_.nodes()) {
      for (const framework::PodInfoPtr& other : node->pods()) {
        if (other->namespace_() != pod_.namespace_()) continue;
        for (const api::Volume& volume : other->volumes()) {
          const auto claim = ClaimOf(*other, volume);
          if (!claim || !claims.contains(claim->name)) continue;
          std::string text = fmt::format("claim {} is used by {} on {}", claim->name, other->Key(), node->name());
          by_text[text] = {fmt::format("claim {}", claim->name), "unused", other->Key(), text};
        }
      }
    }
    std::vector<Finding> findings;
    for (auto& [text, finding] : by_text) findings.push_back(std::move(finding));
    return findings;
  }

  const framework::ClusterView& cluster_;
  const framework::PodInfo& pod_;
  const ClaimExplainer claims_;
  mutable std::optional<std::vector<Finding>> findings_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> VolumeRestrictions::ExplainRejections(
    const framework::PodInfo& pod) const {
  return std::make_unique<ClaimUseExplainer>(handle_, pod);
}

}  // namespace berth::plugins
