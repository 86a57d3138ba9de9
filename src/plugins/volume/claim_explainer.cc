#include "plugins/volume/claim_explainer.h"

#include <fmt/format.h>

#include <optional>

#include "api/node_selector.h"
#include "framework/label_text.h"
#include "plugins/volume/claims.h"

namespace berth::plugins {

using framework::Finding;
using framework::NodeInfo;

namespace {

// Why the volume cannot be used on the node; unset when it can.
std::optional<Finding> UnmetVolumeAffinity(const api::PersistentVolume& volume, const NodeInfo& node) {
  const auto& affinity = volume.spec.node_affinity;
  if (!affinity || !affinity->required) return std::nullopt;
  const auto compiled = api::CompiledNodeSelector::CompileLazily(*affinity->required);
  if (compiled.Match(node.labels(), node.name()) == api::NodeMatch::kMatch) return std::nullopt;
  for (const api::CompiledNodeSelectorTerm& term : compiled.terms()) {
    for (const api::Requirement& requirement : term.labels().requirements()) {
      if (requirement.Matches(node.labels())) continue;
      const std::string wish = framework::ConditionText(requirement);
      return Finding{"", wish, framework::LabelValue(node, requirement.key()),
                     fmt::format(", which wants {}, {}", wish, framework::LabelText(node, requirement.key()))};
    }
  }
  return Finding{"", "another node", node.name(), ", which cannot be used on this node"};
}

std::optional<Finding> FindingAbout(const api::PersistentVolumeClaim& claim, const framework::Objects& objects,
                                    const NodeInfo& node) {
  const std::string& name = claim.metadata.name;
  const std::string subject = fmt::format("claim {}", name);
  if (claim.spec.volume_name.empty()) {
    const std::string_view storage_class = StorageClassOf(claim);
    return Finding{
        subject, "bound", "unbound",
        fmt::format("claim {} is not bound ({})", name,
                    storage_class.empty() ? "no storage class" : fmt::format("storage class {}", storage_class))};
  }
  const api::PersistentVolume* volume = objects.persistent_volumes.Find(claim.spec.volume_name);
  if (!volume) {
    return Finding{subject, fmt::format("volume {}", claim.spec.volume_name), "",
                   fmt::format("claim {} is bound to volume {}, which does not exist", name, claim.spec.volume_name)};
  }
  std::optional<Finding> elsewhere = UnmetVolumeAffinity(*volume, node);
  if (!elsewhere) return std::nullopt;
  elsewhere->subject = subject;
  elsewhere->text = fmt::format("claim {} is bound to volume {}{}", name, volume->metadata.name, elsewhere->text);
  return elsewhere;
}

}  // namespace

std::vector<Finding> ClaimExplainer::Findings(const framework::Status&, const NodeInfo& node) const {
  std::vector<Finding> findings;
  for (const api::Volume& volume : pod_.pod().spec.volumes) {
    const auto reference = ClaimOf(pod_.pod(), volume);
    if (!reference) continue;
    const auto* claim = handle_.objects().persistent_volume_claims.Find(pod_.namespace_().str(), reference->name);
    if (!claim) continue;
    if (std::optional<Finding> finding = FindingAbout(*claim, handle_.objects(), node)) {
      findings.push_back(*std::move(finding));
    }
  }
  return findings;
}

}  // namespace berth::plugins
