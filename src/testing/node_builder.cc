#include "testing/node_builder.h"

#include <utility>

namespace berth::testing {

NodeBuilder MakeNode(std::string_view name) { return NodeBuilder(name); }

NodeBuilder::NodeBuilder(std::string_view name) {
  node_.metadata.name = name;
  node_.metadata.uid = name;
  Capacity("pods", "110");
}

NodeBuilder& NodeBuilder::Label(std::string_view key, std::string_view value) {
  node_.metadata.labels.Set(Symbol(key), Symbol(value));
  return *this;
}

NodeBuilder& NodeBuilder::Annotation(std::string_view key, std::string_view value) {
  node_.metadata.annotations.Set(std::string(key), std::string(value));
  return *this;
}

NodeBuilder& NodeBuilder::Capacity(std::string_view resource, std::string_view amount) {
  node_.status.capacity.Set(Symbol(resource), Amount(amount));
  return Allocatable(resource, amount);
}

NodeBuilder& NodeBuilder::Allocatable(std::string_view resource, std::string_view amount) {
  node_.status.allocatable.Set(Symbol(resource), Amount(amount));
  return *this;
}

NodeBuilder& NodeBuilder::Taint(std::string_view key, std::string_view value, std::string_view effect) {
  node_.spec.taints.push_back({Symbol(key), Symbol(value), Symbol(effect), std::nullopt});
  return *this;
}

NodeBuilder& NodeBuilder::Unschedulable(bool unschedulable) {
  node_.spec.unschedulable = unschedulable;
  return *this;
}

NodeBuilder& NodeBuilder::Image(std::string_view name, int64_t size_bytes) {
  node_.status.images.push_back({{std::string(name)}, size_bytes});
  return *this;
}

NodeBuilder& NodeBuilder::Condition(std::string_view type, std::string_view status) {
  node_.status.conditions.push_back({std::string(type), std::string(status)});
  return *this;
}

NodeBuilder& NodeBuilder::DeclaredFeature(std::string_view name) {
  node_.status.declared_features.emplace_back(name);
  return *this;
}

std::shared_ptr<const api::Node> NodeBuilder::Shared() const { return std::make_shared<const api::Node>(node_); }

framework::NodeInfo NodeBuilder::Info(const std::vector<framework::PodInfoPtr>& pods,
                                      framework::NodeIndex index) const {
  framework::NodeInfo info(Shared(), index);
  std::vector<std::pair<Symbol, std::shared_ptr<const framework::ImageState>>> images;
  for (const api::ContainerImage& image : node_.status.images) {
    const auto state = std::make_shared<const framework::ImageState>(framework::ImageState{image.size_bytes, 1});
    for (const std::string& name : image.names) images.emplace_back(Symbol(name), state);
  }
  info.SetImages(std::move(images));
  for (const framework::PodInfoPtr& pod : pods) info.AddPod(pod);
  return info;
}

}  // namespace berth::testing
