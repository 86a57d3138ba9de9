// Details of the volume plugins: which claim, and where its volume can be.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "explain/explain_details.h"
#include "plugins/volume/claims.h"

namespace berth::explain {

using framework::NodeInfo;

namespace {

std::string VolumeAffinityText(const api::PersistentVolume& volume, const NodeInfo& node) {
  const auto& affinity = volume.spec.node_affinity;
  if (!affinity || !affinity->required) return {};
  const auto compiled = api::CompiledNodeSelector::CompileLazily(*affinity->required);
  if (compiled.Match(node.labels(), node.name()) == api::NodeMatch::kMatch) return {};
  for (const api::CompiledNodeSelectorTerm& term : compiled.terms()) {
    for (const api::Requirement& requirement : term.labels().requirements()) {
      if (requirement.Matches(node.labels())) continue;
      return fmt::format(", which wants {}, {}", ConditionText(requirement), LabelText(node, requirement.key()));
    }
  }
  return ", which cannot be used on this node";
}

std::string ClaimText(const framework::Objects& objects, const api::PersistentVolumeClaim& claim,
                      const NodeInfo& node) {
  const std::string& name = claim.metadata.name;
  if (claim.spec.volume_name.empty()) {
    const std::string_view storage_class = plugins::StorageClassOf(claim);
    return fmt::format("claim {} is not bound ({})", name,
                       storage_class.empty() ? "no storage class" : fmt::format("storage class {}", storage_class));
  }
  const api::PersistentVolume* volume = objects.persistent_volumes.Find(claim.spec.volume_name);
  if (!volume) return fmt::format("claim {} is bound to volume {}, which does not exist", name, claim.spec.volume_name);
  const std::string elsewhere = VolumeAffinityText(*volume, node);
  return elsewhere.empty() ? ""
                           : fmt::format("claim {} is bound to volume {}{}", name, volume->metadata.name, elsewhere);
}

}  // namespace

std::string ClaimUsersDetail(const framework::Handle& handle, const framework::PodInfo& pod) {
  std::set<std::string> claims;
  for (const api::Volume& volume : pod.pod().spec.volumes) {
    if (const auto claim = plugins::ClaimOf(pod.pod(), volume)) claims.insert(claim->name);
  }
  std::set<std::string> texts;
  for (const NodeInfo* node : handle.cluster().nodes()) {
    for (const framework::PodInfoPtr& other : node->pods()) {
      if (other->namespace_() != pod.namespace_()) continue;
      for (const api::Volume& volume : other->pod().spec.volumes) {
        const auto claim = plugins::ClaimOf(other->pod(), volume);
        if (!claim || !claims.contains(claim->name)) continue;
        texts.insert(fmt::format("claim {} is used by {} on {}", claim->name, other->Key(), node->name()));
      }
    }
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string VolumeDetail(const framework::Handle& handle, const framework::PodInfo& pod, const NodeInfo& node) {
  std::vector<std::string> texts;
  for (const api::Volume& volume : pod.pod().spec.volumes) {
    const auto reference = plugins::ClaimOf(pod.pod(), volume);
    if (!reference) continue;
    const auto* claim = handle.objects().persistent_volume_claims.Find(pod.namespace_().str(), reference->name);
    if (!claim) continue;
    std::string text = ClaimText(handle.objects(), *claim, node);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace berth::explain
