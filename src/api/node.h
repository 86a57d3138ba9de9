// Node, Namespace.
#pragma once

#include <string>
#include <vector>

#include "api/meta.h"
#include "api/resource_list.h"
#include "api/taint.h"

namespace berth::api {

struct NodeSpec {
  std::string provider_id;  // JSON providerID
  bool unschedulable = false;
  std::vector<Taint> taints;
};

struct ContainerImage {
  std::vector<std::string> names;
  int64_t size_bytes = 0;
};

struct NodeCondition {
  std::string type;
  std::string status;
};

struct AttachedVolume {
  std::string name;
  std::string device_path;
};

struct NodeStatus {
  ResourceList capacity;
  ResourceList allocatable;
  std::vector<NodeCondition> conditions;
  std::vector<ContainerImage> images;
  std::vector<std::string> volumes_in_use;
  std::vector<AttachedVolume> volumes_attached;
  std::vector<std::string> declared_features;
};

struct Node {
  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;
};

struct Namespace {
  ObjectMeta metadata;
};

const codec::Message& Describe(const NodeSpec*);
const codec::Message& Describe(const ContainerImage*);
const codec::Message& Describe(const NodeCondition*);
const codec::Message& Describe(const AttachedVolume*);
const codec::Message& Describe(const NodeStatus*);
const codec::Message& Describe(const Node*);
const codec::Message& Describe(const Namespace*);

}  // namespace berth::api
