// Services and the controllers that own pods: read for default topology spreading, and expanded by `berth simulate`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/int_or_string.h"
#include "api/meta.h"
#include "api/pod.h"
#include "api/selector.h"
#include "api/storage.h"

namespace berth::api {

struct ServiceSpec {
  Labels selector;
  std::string type;
};
struct Service {
  ObjectMeta metadata;
  ServiceSpec spec;
};

struct ReplicationControllerSpec {
  std::optional<int32_t> replicas;
  Labels selector;
  std::optional<PodTemplateSpec> pod_template;  // JSON template
};
struct ReplicationController {
  ObjectMeta metadata;
  ReplicationControllerSpec spec;
};

struct ReplicaSetSpec {
  std::optional<int32_t> replicas;
  std::optional<LabelSelector> selector;
  PodTemplateSpec pod_template;
};
struct ReplicaSet {
  ObjectMeta metadata;
  ReplicaSetSpec spec;
};

// How pods of a newer template replace those of the older. Deployments and DaemonSets use both numbers, StatefulSets
// `partition` and `max_unavailable`.
struct RollingUpdate {
  std::optional<IntOrString> max_unavailable;
  std::optional<IntOrString> max_surge;
};
struct DeploymentStrategy {
  std::string type;  // RollingUpdate, Recreate
  std::optional<RollingUpdate> rolling_update;
};
struct DeploymentSpec {
  std::optional<int32_t> replicas;
  std::optional<LabelSelector> selector;
  PodTemplateSpec pod_template;
  std::optional<DeploymentStrategy> strategy;
  bool paused = false;
};
struct Deployment {
  ObjectMeta metadata;
  DeploymentSpec spec;
};

struct StatefulSetOrdinals {
  int32_t start = 0;
};
struct StatefulSetRollingUpdate {
  std::optional<int32_t> partition;
  std::optional<IntOrString> max_unavailable;
};
struct StatefulSetUpdateStrategy {
  std::string type;  // RollingUpdate, OnDelete
  std::optional<StatefulSetRollingUpdate> rolling_update;
};
struct StatefulSetSpec {
  std::optional<int32_t> replicas;
  std::optional<LabelSelector> selector;
  PodTemplateSpec pod_template;
  std::vector<PersistentVolumeClaim> volume_claim_templates;
  std::string service_name;
  std::optional<StatefulSetUpdateStrategy> update_strategy;
  std::optional<StatefulSetOrdinals> ordinals;
};
struct StatefulSet {
  ObjectMeta metadata;
  StatefulSetSpec spec;
};

struct DaemonSetUpdateStrategy {
  std::string type;  // RollingUpdate, OnDelete
  std::optional<RollingUpdate> rolling_update;
};
struct DaemonSetSpec {
  std::optional<LabelSelector> selector;
  PodTemplateSpec pod_template;
  std::optional<DaemonSetUpdateStrategy> update_strategy;
};
struct DaemonSet {
  ObjectMeta metadata;
  DaemonSetSpec spec;
};

struct JobSpec {
  std::optional<int32_t> parallelism;
  std::optional<int32_t> completions;
  std::optional<std::string> completion_mode;
  std::optional<bool> suspend;
  std::optional<LabelSelector> selector;
  PodTemplateSpec pod_template;
};
struct JobCondition {
  std::string type;
  std::string status;
};
struct JobStatus {
  std::vector<JobCondition> conditions;
  int32_t succeeded = 0;
  std::string completed_indexes;
};
struct Job {
  ObjectMeta metadata;
  JobSpec spec;
  JobStatus status;
};

const codec::Message& Describe(const ServiceSpec*);
const codec::Message& Describe(const Service*);
const codec::Message& Describe(const ReplicationControllerSpec*);
const codec::Message& Describe(const ReplicationController*);
const codec::Message& Describe(const ReplicaSetSpec*);
const codec::Message& Describe(const ReplicaSet*);
const codec::Message& Describe(const RollingUpdate*);
const codec::Message& Describe(const DeploymentStrategy*);
const codec::Message& Describe(const DeploymentSpec*);
const codec::Message& Describe(const Deployment*);
const codec::Message& Describe(const StatefulSetOrdinals*);
const codec::Message& Describe(const StatefulSetRollingUpdate*);
const codec::Message& Describe(const StatefulSetUpdateStrategy*);
const codec::Message& Describe(const StatefulSetSpec*);
const codec::Message& Describe(const StatefulSet*);
const codec::Message& Describe(const DaemonSetUpdateStrategy*);
const codec::Message& Describe(const DaemonSetSpec*);
const codec::Message& Describe(const DaemonSet*);
const codec::Message& Describe(const JobSpec*);
const codec::Message& Describe(const JobCondition*);
const codec::Message& Describe(const JobStatus*);
const codec::Message& Describe(const Job*);

}  // namespace berth::api
