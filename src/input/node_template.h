// Nodes that are described, not read: "count=100,cpu=32,memory=128Gi,zones=3,label.disk=ssd,taint.gpu=true:NoSchedule",
// and the devices on them: "…,devices=gpu.example.com:8,device.memory=80Gi,device.model=a100".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/object.h"
#include "api/resource_claim.h"
#include "base/result.h"

namespace berth::input {

// Identical devices of one driver that every node of a template has.
struct DeviceTemplate {
  std::string driver;
  size_t count = 1;
  api::Device like;  // attributes and capacity; the name is set for each
};

struct NodeTemplate {
  size_t count = 1;
  std::string name = "node";       // nodes are named node-1, node-2, …
  std::vector<std::string> zones;  // taken in turn; empty: those of the existing nodes
  api::ResourceList resources;     // cpu and memory at least
  api::Labels labels;
  std::vector<api::Taint> taints;
  std::vector<DeviceTemplate> devices;
};

// Parts are KEY=VALUE, separated by commas: count, name, zones (a number, or names separated by ':'), label.KEY,
// taint.KEY=[VALUE:]EFFECT, and amounts by resource name; cpu and memory are required, pods defaults to 110.
// devices=DRIVER:N adds devices; following device.KEY=VALUE parts describe them: an amount with a unit is a capacity;
// true, false, a whole number, a version (1.2.3) and any other text are attributes. All problems in one error, one per
// line, with their position in the text.
Result<NodeTemplate> ParseNodeTemplate(std::string_view text);

// Ready nodes with the labels that a cloud's nodes have, and with names that no node of `existing` has.
std::vector<api::Node> MakeNodes(const NodeTemplate& node_template, std::span<const api::Node* const> existing = {});

// A slice with its devices for each node, and a class named after each driver that selects them.
std::vector<api::Object> MakeDevices(const NodeTemplate& node_template, std::span<const api::Node> nodes);

}  // namespace berth::input
