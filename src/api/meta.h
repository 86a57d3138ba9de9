// What every Kubernetes object carries: metadata and owner references.
// Objects are subsets: only what scheduling reads is kept, and a decoded object is frozen and never written back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/labels.h"
#include "api/time.h"
#include "base/symbol.h"

namespace berth::codec {
class Message;
}

namespace berth::api {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  Symbol namespace_;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  std::optional<Time> creation_timestamp;
  std::optional<Time> deletion_timestamp;
  std::optional<int64_t> deletion_grace_period_seconds;
  Labels labels;
  Annotations annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;
};

// The owner with controller=true, or null.
const OwnerReference* ControllerOf(const ObjectMeta& metadata);

// "namespace/name", or the bare name of a cluster-scoped object.
std::string KeyOf(const ObjectMeta& metadata);
std::string KeyOf(std::string_view name_space, std::string_view name);
// The resource version, which is a number in practice; 0 when it is not.
uint64_t VersionOf(const ObjectMeta& metadata);

const codec::Message& Describe(const OwnerReference*);
const codec::Message& Describe(const ObjectMeta*);

}  // namespace berth::api
