#include "plugins/volume/claim_explainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/node_selector.h"
#include "base/spelling.h"
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

// The largest capacity that a driver publishes anywhere, when that is not enough.
void HintAtCapacity(const framework::Objects& objects, const api::PersistentVolumeClaim& claim,
                    const api::StorageClass& storage_class, std::vector<std::string>& hints) {
  const api::Quantity* wanted = claim.spec.resources.requests.Find(Symbol("storage"));
  const api::CSIDriver* driver = objects.csi_drivers.Find(storage_class.provisioner);
  if (!wanted || !driver || !driver->spec.storage_capacity.value_or(false)) return;
  std::optional<api::Quantity> most;
  for (const auto& [key, capacity] : objects.csi_storage_capacities) {
    if (capacity->storage_class_name != storage_class.metadata.name) continue;
    const std::optional<api::Quantity>& free =
        capacity->maximum_volume_size ? capacity->maximum_volume_size : capacity->capacity;
    if (free && (!most || *free > *most)) most = free;
  }
  if (most && *most >= *wanted) return;
  hints.push_back(fmt::format("claim {} asks for {}, and driver {} has {}", claim.metadata.name, wanted->ToString(),
                              storage_class.provisioner,
                              most ? fmt::format("at most {} anywhere", most->ToString()) : "published no capacity"));
}

}  // namespace

std::vector<std::string> ClaimExplainer::Hints() const {
  std::vector<std::string> hints;
  const auto& claims = handle_.objects().persistent_volume_claims;
  const std::string_view name_space = pod_.namespace_().str();
  for (const api::Volume& volume : pod_.pod().spec.volumes) {
    const auto reference = ClaimOf(pod_.pod(), volume);
    if (!reference) continue;
    if (const auto* claim = claims.Find(name_space, reference->name)) {
      if (claim->spec.volume_name.empty()) HintAtClass(*claim, hints);
      continue;
    }
    std::vector<std::string_view> names;
    std::vector<std::string> elsewhere;
    for (const auto& [key, claim] : claims) {
      if (key.first == name_space) names.push_back(key.second);
      if (key.second == reference->name) elsewhere.push_back(key.first);
    }
    const std::string_view near = base::NearestWord(reference->name, names);
    std::string text = fmt::format("there is no claim {}/{}", name_space, reference->name);
    if (!near.empty()) text += fmt::format("; nearest: {}", near);
    if (!elsewhere.empty()) text += fmt::format("; namespace {} has one of that name", elsewhere.front());
    hints.push_back(std::move(text));
  }
  return hints;
}

void ClaimExplainer::HintAtClass(const api::PersistentVolumeClaim& claim, std::vector<std::string>& hints) const {
  const framework::Objects& objects = handle_.objects();
  const std::string_view name = StorageClassOf(claim);
  if (name.empty()) return;
  const api::StorageClass* storage_class = objects.storage_classes.Find(name);
  if (!storage_class) {
    std::vector<std::string_view> names;
    for (const auto& [key, other] : objects.storage_classes) names.push_back(key.second);
    const std::string_view near = base::NearestWord(name, names);
    hints.push_back(fmt::format("claim {} asks for storage class {}, which does not exist{}", claim.metadata.name, name,
                                near.empty() ? "" : fmt::format("; nearest: {}", near)));
    return;
  }
  if (storage_class->volume_binding_mode.value_or("Immediate") == "Immediate") {
    hints.push_back(
        fmt::format("claim {} waits for its volume: storage class {} binds at once, before any pod is there",
                    claim.metadata.name, name));
  }
  for (const api::TopologySelectorTerm& term : storage_class->allowed_topologies) {
    for (const api::TopologySelectorLabelRequirement& wanted : term.match_label_expressions) {
      const bool somewhere =
          std::any_of(handle_.cluster().nodes().begin(), handle_.cluster().nodes().end(), [&](const NodeInfo* node) {
            const Symbol* value = node->labels().Find(wanted.key);
            return value && std::find(wanted.values.begin(), wanted.values.end(), *value) != wanted.values.end();
          });
      if (somewhere || wanted.values.empty()) continue;
      hints.push_back(fmt::format("storage class {} makes volumes only where {} is {}, and no node has that", name,
                                  wanted.key.str(), wanted.values.front().str()));
    }
  }
  HintAtCapacity(objects, claim, *storage_class, hints);
}

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
