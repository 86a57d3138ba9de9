#include "api/scalars.h"
#include "api/selector_schema.h"
#include "api/workload.h"
#include "codec/schema.h"

namespace berth::api {

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const ServiceSpec*) {
  static const codec::Message message = codec::MessageOf<ServiceSpec>("ServiceSpec", {
      codec::Field("selector", 2, &ServiceSpec::selector),
      codec::Field("type", 4, &ServiceSpec::type),
  }).Ignore({
      "ports", "clusterIP", "clusterIPs", "externalIPs", "sessionAffinity", "loadBalancerIP",
      "loadBalancerSourceRanges", "externalName", "externalTrafficPolicy", "healthCheckNodePort",
      "publishNotReadyAddresses", "sessionAffinityConfig", "ipFamilies", "ipFamilyPolicy",
      "allocateLoadBalancerNodePorts", "loadBalancerClass", "internalTrafficPolicy", "trafficDistribution",
  });
  return message;
}

const codec::Message& Describe(const Service*) {
  static const codec::Message message = codec::MessageOf<Service>("Service", {
      codec::Field("metadata", 1, &Service::metadata),
      codec::Field("spec", 2, &Service::spec),
  }).Ignore({"apiVersion", "kind", "status"});
  return message;
}

const codec::Message& Describe(const ReplicationControllerSpec*) {
  static const codec::Message message = codec::MessageOf<ReplicationControllerSpec>("ReplicationControllerSpec", {
      codec::Field("replicas", 1, &ReplicationControllerSpec::replicas),
      codec::Field("selector", 2, &ReplicationControllerSpec::selector),
      codec::Field("template", 3, &ReplicationControllerSpec::pod_template),
  }).Ignore({"minReadySeconds"});
  return message;
}

const codec::Message& Describe(const ReplicationController*) {
  static const codec::Message message = codec::MessageOf<ReplicationController>("ReplicationController", {
      codec::Field("metadata", 1, &ReplicationController::metadata),
      codec::Field("spec", 2, &ReplicationController::spec),
  }).Ignore({"apiVersion", "kind", "status"});
  return message;
}

const codec::Message& Describe(const ReplicaSetSpec*) {
  static const codec::Message message = codec::MessageOf<ReplicaSetSpec>("ReplicaSetSpec", {
      codec::Field("replicas", 1, &ReplicaSetSpec::replicas),
      codec::Field("selector", 2, &ReplicaSetSpec::selector),
      codec::Field("template", 3, &ReplicaSetSpec::pod_template),
  }).Ignore({"minReadySeconds"});
  return message;
}

const codec::Message& Describe(const ReplicaSet*) {
  static const codec::Message message = codec::MessageOf<ReplicaSet>("ReplicaSet", {
      codec::Field("metadata", 1, &ReplicaSet::metadata),
      codec::Field("spec", 2, &ReplicaSet::spec),
  }).Ignore({"apiVersion", "kind", "status"});
  return message;
}

const codec::Message& Describe(const RollingUpdate*) {
  static const codec::Message message = codec::MessageOf<RollingUpdate>("RollingUpdate", {
      codec::Field("maxUnavailable", 1, &RollingUpdate::max_unavailable),
      codec::Field("maxSurge", 2, &RollingUpdate::max_surge),
  });
  return message;
}

const codec::Message& Describe(const DeploymentStrategy*) {
  static const codec::Message message = codec::MessageOf<DeploymentStrategy>("DeploymentStrategy", {
      codec::Field("type", 1, &DeploymentStrategy::type),
      codec::Field("rollingUpdate", 2, &DeploymentStrategy::rolling_update),
  });
  return message;
}

const codec::Message& Describe(const DeploymentSpec*) {
  static const codec::Message message = codec::MessageOf<DeploymentSpec>("DeploymentSpec", {
      codec::Field("replicas", 1, &DeploymentSpec::replicas),
      codec::Field("selector", 2, &DeploymentSpec::selector),
      codec::Field("template", 3, &DeploymentSpec::pod_template),
      codec::Field("strategy", 4, &DeploymentSpec::strategy),
      codec::Field("paused", 7, &DeploymentSpec::paused),
  }).Ignore({"minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds", "rollbackTo"});
  return message;
}

const codec::Message& Describe(const Deployment*) {
  static const codec::Message message = codec::MessageOf<Deployment>("Deployment", {
      codec::Field("metadata", 1, &Deployment::metadata),
      codec::Field("spec", 2, &Deployment::spec),
  }).Ignore({"apiVersion", "kind", "status"});
  return message;
}

const codec::Message& Describe(const StatefulSetOrdinals*) {
  static const codec::Message message = codec::MessageOf<StatefulSetOrdinals>("StatefulSetOrdinals", {
      codec::Field("start", 1, &StatefulSetOrdinals::start),
  });
  return message;
}

const codec::Message& Describe(const StatefulSetRollingUpdate*) {
  static const codec::Message message = codec::MessageOf<StatefulSetRollingUpdate>("RollingUpdateStatefulSetStrategy", {
      codec::Field("partition", 1, &StatefulSetRollingUpdate::partition),
      codec::Field("maxUnavailable", 2, &StatefulSetRollingUpdate::max_unavailable),
  });
  return message;
}

const codec::Message& Describe(const StatefulSetUpdateStrategy*) {
  static const codec::Message message = codec::MessageOf<StatefulSetUpdateStrategy>("StatefulSetUpdateStrategy", {
      codec::Field("type", 1, &StatefulSetUpdateStrategy::type),
      codec::Field("rollingUpdate", 2, &StatefulSetUpdateStrategy::rolling_update),
  });
  return message;
}

const codec::Message& Describe(const StatefulSetSpec*) {
  static const codec::Message message = codec::MessageOf<StatefulSetSpec>("StatefulSetSpec", {
      codec::Field("replicas", 1, &StatefulSetSpec::replicas),
      codec::Field("selector", 2, &StatefulSetSpec::selector),
      codec::Field("template", 3, &StatefulSetSpec::pod_template),
      codec::Field("volumeClaimTemplates", 4, &StatefulSetSpec::volume_claim_templates),
      codec::Field("serviceName", 5, &StatefulSetSpec::service_name),
      codec::Field("updateStrategy", 7, &StatefulSetSpec::update_strategy),
      codec::Field("ordinals", 11, &StatefulSetSpec::ordinals),
  }).Ignore({
      "podManagementPolicy", "revisionHistoryLimit", "minReadySeconds", "persistentVolumeClaimRetentionPolicy",
  });
  return message;
}

const codec::Message& Describe(const StatefulSet*) {
  static const codec::Message message = codec::MessageOf<StatefulSet>("StatefulSet", {
      codec::Field("metadata", 1, &StatefulSet::metadata),
      codec::Field("spec", 2, &StatefulSet::spec),
  }).Ignore({"apiVersion", "kind", "status"});
  return message;
}

const codec::Message& Describe(const DaemonSetUpdateStrategy*) {
  static const codec::Message message = codec::MessageOf<DaemonSetUpdateStrategy>("DaemonSetUpdateStrategy", {
      codec::Field("type", 1, &DaemonSetUpdateStrategy::type),
      codec::Field("rollingUpdate", 2, &DaemonSetUpdateStrategy::rolling_update),
  });
  return message;
}

const codec::Message& Describe(const DaemonSetSpec*) {
  static const codec::Message message = codec::MessageOf<DaemonSetSpec>("DaemonSetSpec", {
      codec::Field("selector", 1, &DaemonSetSpec::selector),
      codec::Field("template", 2, &DaemonSetSpec::pod_template),
      codec::Field("updateStrategy", 3, &DaemonSetSpec::update_strategy),
  }).Ignore({"minReadySeconds", "revisionHistoryLimit", "templateGeneration"});
  return message;
}

const codec::Message& Describe(const DaemonSet*) {
  static const codec::Message message = codec::MessageOf<DaemonSet>("DaemonSet", {
      codec::Field("metadata", 1, &DaemonSet::metadata),
      codec::Field("spec", 2, &DaemonSet::spec),
  }).Ignore({"apiVersion", "kind", "status"});
  return message;
}

const codec::Message& Describe(const JobSpec*) {
  static const codec::Message message = codec::MessageOf<JobSpec>("JobSpec", {
      codec::Field("parallelism", 1, &JobSpec::parallelism),
      codec::Field("completions", 2, &JobSpec::completions),
      codec::Field("selector", 4, &JobSpec::selector),
      codec::Field("template", 6, &JobSpec::pod_template),
      codec::Field("completionMode", 9, &JobSpec::completion_mode),
      codec::Field("suspend", 10, &JobSpec::suspend),
  }).Ignore({
      "activeDeadlineSeconds", "podFailurePolicy", "successPolicy", "backoffLimit", "backoffLimitPerIndex",
      "maxFailedIndexes", "manualSelector", "ttlSecondsAfterFinished", "podReplacementPolicy", "managedBy",
  });
  return message;
}

const codec::Message& Describe(const JobCondition*) {
  static const codec::Message message = codec::MessageOf<JobCondition>("JobCondition", {
      codec::Field("type", 1, &JobCondition::type),
      codec::Field("status", 2, &JobCondition::status),
  }).Ignore({"lastProbeTime", "lastTransitionTime", "reason", "message"});
  return message;
}

const codec::Message& Describe(const JobStatus*) {
  static const codec::Message message = codec::MessageOf<JobStatus>("JobStatus", {
      codec::Field("conditions", 1, &JobStatus::conditions),
      codec::Field("succeeded", 5, &JobStatus::succeeded),
      codec::Field("completedIndexes", 7, &JobStatus::completed_indexes),
  }).Ignore({
      "startTime", "completionTime", "active", "failed", "terminating", "failedIndexes", "uncountedTerminatedPods",
      "ready",
  });
  return message;
}

const codec::Message& Describe(const Job*) {
  static const codec::Message message = codec::MessageOf<Job>("Job", {
      codec::Field("metadata", 1, &Job::metadata),
      codec::Field("spec", 2, &Job::spec),
      codec::Field("status", 3, &Job::status),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

// clang-format on

}  // namespace berth::api
