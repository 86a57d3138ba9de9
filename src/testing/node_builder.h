// NodeBuilder: builds a node for a test in one expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "framework/node_info.h"
#include "testing/texts.h"

namespace berth::testing {

inline constexpr char kZoneLabel[] = "topology.kubernetes.io/zone";
inline constexpr char kHostLabel[] = "kubernetes.io/hostname";

// Starts with room for 110 pods and nothing else.
class NodeBuilder {
 public:
  explicit NodeBuilder(std::string_view name);

  NodeBuilder& Label(std::string_view key, std::string_view value);
  NodeBuilder& Annotation(std::string_view key, std::string_view value);
  // Sets the capacity, and all of it as allocatable.
  NodeBuilder& Capacity(std::string_view resource, std::string_view amount);
  NodeBuilder& Allocatable(std::string_view resource, std::string_view amount);
  NodeBuilder& Taint(std::string_view key, std::string_view value = {}, std::string_view effect = "NoSchedule");
  NodeBuilder& Unschedulable(bool unschedulable = true);
  NodeBuilder& Image(std::string_view name, int64_t size_bytes);
  NodeBuilder& Condition(std::string_view type, std::string_view status);
  NodeBuilder& DeclaredFeature(std::string_view name);

  // For fields without a method.
  api::Node& raw() { return node_; }

  api::Node Obj() const { return node_; }
  std::shared_ptr<const api::Node> Shared() const;
  // With the pods on it, and its images as if no other node had them.
  framework::NodeInfo Info(const std::vector<framework::PodInfoPtr>& pods = {}, framework::NodeIndex index = 0) const;

 private:
  api::Node node_;
};

NodeBuilder MakeNode(std::string_view name);

}  // namespace berth::testing
