#include "api/node.h"
#include "api/scalars.h"
#include "api/selector_schema.h"
#include "codec/schema.h"

namespace berth::api {

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const NodeSpec*) {
  static const codec::Message message = codec::MessageOf<NodeSpec>("NodeSpec", {
      codec::Field("providerID", 3, &NodeSpec::provider_id),
      codec::Field("unschedulable", 4, &NodeSpec::unschedulable),
      codec::Field("taints", 5, &NodeSpec::taints),
  }).Ignore({"podCIDR", "podCIDRs", "configSource", "externalID"});
  return message;
}

const codec::Message& Describe(const ContainerImage*) {
  static const codec::Message message = codec::MessageOf<ContainerImage>("ContainerImage", {
      codec::Field("names", 1, &ContainerImage::names),
      codec::Field("sizeBytes", 2, &ContainerImage::size_bytes),
  });
  return message;
}

const codec::Message& Describe(const NodeCondition*) {
  static const codec::Message message = codec::MessageOf<NodeCondition>("NodeCondition", {
      codec::Field("type", 1, &NodeCondition::type),
      codec::Field("status", 2, &NodeCondition::status),
  }).Ignore({"lastHeartbeatTime", "lastTransitionTime", "reason", "message"});
  return message;
}

const codec::Message& Describe(const AttachedVolume*) {
  static const codec::Message message = codec::MessageOf<AttachedVolume>("AttachedVolume", {
      codec::Field("name", 1, &AttachedVolume::name),
      codec::Field("devicePath", 2, &AttachedVolume::device_path),
  });
  return message;
}

const codec::Message& Describe(const NodeStatus*) {
  static const codec::Message message = codec::MessageOf<NodeStatus>("NodeStatus", {
      codec::Field("capacity", 1, &NodeStatus::capacity),
      codec::Field("allocatable", 2, &NodeStatus::allocatable),
      codec::Field("conditions", 4, &NodeStatus::conditions),
      codec::Field("images", 8, &NodeStatus::images),
      codec::Field("volumesInUse", 9, &NodeStatus::volumes_in_use),
      codec::Field("volumesAttached", 10, &NodeStatus::volumes_attached),
      codec::Field("declaredFeatures", 14, &NodeStatus::declared_features),
  }).Ignore({"phase", "addresses", "daemonEndpoints", "nodeInfo", "config", "runtimeHandlers", "features"});
  return message;
}

const codec::Message& Describe(const Node*) {
  static const codec::Message message = codec::MessageOf<Node>("Node", {
      codec::Field("metadata", 1, &Node::metadata),
      codec::Field("spec", 2, &Node::spec),
      codec::Field("status", 3, &Node::status),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const Namespace*) {
  static const codec::Message message = codec::MessageOf<Namespace>("Namespace", {
      codec::Field("metadata", 1, &Namespace::metadata),
  }).Ignore({"apiVersion", "kind", "spec", "status"});
  return message;
}

// clang-format on

}  // namespace berth::api
