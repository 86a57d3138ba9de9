#include "plugins/node_resources/device_count.h"

#include "dra/inventory.h"

namespace berth::plugins {
namespace {

enum class Answer { kYes, kNo, kTrouble };

Answer FromResult(const Result<bool>& result) {
  if (!result) return Answer::kTrouble;
  return *result ? Answer::kYes : Answer::kNo;
}

// Scoring treats a slice that names no node at all as one for every node.
Answer IsForNode(const dra::Slice& slice, size_t device, const api::Node& node) {
  const api::ResourceSliceSpec& spec = slice.spec();
  if (spec.per_device_node_selection.value_or(false)) return FromResult(dra::NodeMatches(node, slice, device));
  const bool names_nothing =
      (!spec.node_name || spec.node_name->empty()) && !spec.all_nodes.value_or(false) && !spec.node_selector;
  return names_nothing ? Answer::kYes : FromResult(dra::NodeMatches(node, slice));
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
  bool trouble = false;
  inventory.pools().VisitSlicesFor(node.metadata.name, [&](const dra::Slice& slice) {
    for (size_t i = 0; i < slice.ids.size(); ++i) {
      Answer answer = IsForNode(slice, i, node);
      if (answer == Answer::kYes) answer = Matches(inventory, *device_class, slice, i);
      trouble = answer == Answer::kTrouble;
      if (trouble) return false;
      if (answer == Answer::kNo) continue;
      ++count.all;
      if (inventory.devices().IsAllocated(slice.ids[i])) ++count.allocated;
    }
    return true;
  });
  return trouble ? DeviceCount() : count;
}

}  // namespace berth::plugins
