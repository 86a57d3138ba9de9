// InMemoryCluster::Admit: what the API server does to an object before it stores it.
#include <fmt/format.h>

#include <functional>

#include "api/policy.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "api/workload.h"
#include "input/defaults.h"
#include "input/object_checks.h"
#include "perf/in_memory_cluster.h"

namespace berth::perf {

namespace {

using Change = std::function<void(api::ObjectMeta&)>;

template <class T, class... Others>
api::Object WithMetadata(const api::Object& object, const Change& change) {
  if (const T* value = object.As<T>()) {
    T copy = *value;
    change(copy.metadata);
    return api::MakeObject(std::move(copy));
  }
  if constexpr (sizeof...(Others) > 0) {
    return WithMetadata<Others...>(object, change);
  } else {
    return object;
  }
}

// As the API server's: letters and digits that form no words, but counted up instead of random.
std::string Suffix(uint64_t number) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (; number > 0 || text.size() < 5; number /= kLetters.size()) text += kLetters[number % kLetters.size()];
  return {text.rbegin(), text.rend()};
}

}  // namespace

Result<api::Object> InMemoryCluster::Admit(const api::Object& object, const std::string& name_space) {
  const uint64_t number = next_number_++;
  const Change complete = [&](api::ObjectMeta& metadata) {
    if (metadata.name.empty()) metadata.name = metadata.generate_name + Suffix(number);
    metadata.namespace_ = object.info().namespaced ? Symbol(name_space) : Symbol();
    metadata.uid = fmt::format("uid-{}", number);
    metadata.creation_timestamp = clock_.Now();
  };
  const api::Object named =
      WithMetadata<api::Pod, api::Node, api::Namespace, api::PersistentVolume, api::PersistentVolumeClaim, api::Service,
                   api::ReplicationController, api::ReplicaSet, api::StatefulSet, api::Deployment, api::DaemonSet,
                   api::Job, api::PodDisruptionBudget, api::PriorityClass, api::StorageClass, api::CSINode,
                   api::CSIDriver, api::CSIStorageCapacity, api::VolumeAttachment, api::ResourceClaim,
                   api::ResourceClaimTemplate, api::ResourceSlice, api::DeviceClass, api::DeviceTaintRule>(object,
                                                                                                           complete);
  const std::vector<input::FieldProblem> problems = input::ProblemsOf(named);
  if (!problems.empty()) {
    return Error::InvalidArgument(fmt::format("{} \"{}\" is invalid: {}", object.info().name,
                                              api::KeyOf(named.metadata()), problems.front().ToString()));
  }
  return input::WithDefaults(named);
}

}  // namespace berth::perf
