#include "plugins/node_resources/device_count.h"

#include "dra/inventory.h"

namespace berth::plugins {
namespace {

enum class Answer { kYes, kNo, kTrouble };

Answer FromResult(const Result<bool>& result) {
  if (!result) return Answer::kTrouble;
  return *result ? Answer::kYes : Answer::kNo;
}

// Scoring looks at a slice that names no node at all as one for every node.
Answer IsForNode(const api::ResourceSliceSpec& slice, const api::Device& device, const api::Node& node) {
  if (slice.per_device_node_selection.value_or(false)) {
    return FromResult(dra::NodeMatches(node, device.node_name, device.all_nodes, device.node_selector));
  }
  const bool names_nothing =
      (!slice.node_name || slice.node_name->empty()) && !slice.all_nodes.value_or(false) && !slice.node_selector;
  if (names_nothing) return Answer::kYes;
  return FromResult(dra::NodeMatches(node, slice.node_name, slice.all_nodes, slice.node_selector));
}

Answer Matches(dra::Inventory& inventory, const api::DeviceClass& device_class, const dra::Slice& slice, size_t index) {
  for (const api::DeviceSelector& selector : device_class.spec.selectors) {
    if (!selector.cel) continue;
    const auto compiled = inventory.selectors().Compile(selector.cel->expression);
    if (!compiled->program) return Answer::kTrouble;
    const dra::SelectorAnswers::Answer& answer = slice.answers[index].Ask(
        compiled, inventory.selectors().features(), slice.spec().driver, slice.spec().devices[index]);
    if (!answer.error.empty()) return Answer::kTrouble;
    if (!answer.matches) return Answer::kNo;
  }
  return Answer::kYes;
}

}  // namespace

DeviceCount CountDevices(dra::Inventory& inventory, const Symbol& resource, const api::Node& node) {
  const api::DeviceClass* device_class = inventory.class_names().Find(resource);
  if (!device_class) return {};
  DeviceCount count;
  for (const auto& [name, slice] : inventory.pools().slices()) {
    for (size_t i = 0; i < slice->ids.size(); ++i) {
      Answer answer = IsForNode(slice->spec(), slice->spec().devices[i], node);
      if (answer == Answer::kYes) answer = Matches(inventory, *device_class, *slice, i);
      if (answer == Answer::kTrouble) return {};
      if (answer == Answer::kNo) continue;
      ++count.all;
      if (inventory.devices().IsAllocated(slice->ids[i])) ++count.allocated;
    }
  }
  return count;
}

}  // namespace berth::plugins
