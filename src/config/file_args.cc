#include "config/file_args.h"

#include "api/selector_schema.h"

namespace berth::config {

using codec::Field;
using codec::Inline;
using codec::Message;
using codec::MessageOf;

const Message& Describe(const FileTypeMeta*) {
  static const Message message =
      MessageOf<FileTypeMeta>("TypeMeta", {
                                              Field("apiVersion", 0, &FileTypeMeta::api_version),
                                              Field("kind", 0, &FileTypeMeta::kind),
                                          });
  return message;
}

const Message& Describe(const FileDefaultPreemptionArgs*) {
  static const Message message = MessageOf<FileDefaultPreemptionArgs>(
      "DefaultPreemptionArgs",
      {
          Inline("type", 0, &FileDefaultPreemptionArgs::type),
          Field("minCandidateNodesPercentage", 0, &FileDefaultPreemptionArgs::min_candidate_nodes_percentage),
          Field("minCandidateNodesAbsolute", 0, &FileDefaultPreemptionArgs::min_candidate_nodes_absolute),
      });
  return message;
}

const Message& Describe(const FileInterPodAffinityArgs*) {
  static const Message message = MessageOf<FileInterPodAffinityArgs>(
      "InterPodAffinityArgs",
      {
          Inline("type", 0, &FileInterPodAffinityArgs::type),
          Field("hardPodAffinityWeight", 0, &FileInterPodAffinityArgs::hard_pod_affinity_weight),
          Field("ignorePreferredTermsOfExistingPods", 0,
                &FileInterPodAffinityArgs::ignore_preferred_terms_of_existing_pods)
              .Always(),
      });
  return message;
}

const Message& Describe(const FileNodeAffinityArgs*) {
  static const Message message = MessageOf<FileNodeAffinityArgs>(
      "NodeAffinityArgs", {
                              Inline("type", 0, &FileNodeAffinityArgs::type),
                              Field("addedAffinity", 0, &FileNodeAffinityArgs::added_affinity),
                          });
  return message;
}

const Message& Describe(const FileResourceSpec*) {
  static const Message message =
      MessageOf<FileResourceSpec>("ResourceSpec", {
                                                      Field("name", 0, &FileResourceSpec::name).Always(),
                                                      Field("weight", 0, &FileResourceSpec::weight),
                                                  });
  return message;
}

const Message& Describe(const UtilizationShapePoint*) {
  static const Message message = MessageOf<UtilizationShapePoint>(
      "UtilizationShapePoint", {
                                   Field("utilization", 0, &UtilizationShapePoint::utilization).Always(),
                                   Field("score", 0, &UtilizationShapePoint::score).Always(),
                               });
  return message;
}

const Message& Describe(const FileRatioParam*) {
  static const Message message =
      MessageOf<FileRatioParam>("RequestedToCapacityRatioParam", {
                                                                     Field("shape", 0, &FileRatioParam::shape),
                                                                 });
  return message;
}

const Message& Describe(const FileScoringStrategy*) {
  static const Message message = MessageOf<FileScoringStrategy>(
      "ScoringStrategy", {
                             Field("type", 0, &FileScoringStrategy::type),
                             Field("resources", 0, &FileScoringStrategy::resources),
                             Field("requestedToCapacityRatio", 0, &FileScoringStrategy::requested_to_capacity_ratio),
                         });
  return message;
}

const Message& Describe(const FileNodeResourcesFitArgs*) {
  static const Message message = MessageOf<FileNodeResourcesFitArgs>(
      "NodeResourcesFitArgs", {
                                  Inline("type", 0, &FileNodeResourcesFitArgs::type),
                                  Field("ignoredResources", 0, &FileNodeResourcesFitArgs::ignored_resources),
                                  Field("ignoredResourceGroups", 0, &FileNodeResourcesFitArgs::ignored_resource_groups),
                                  Field("scoringStrategy", 0, &FileNodeResourcesFitArgs::scoring_strategy),
                              });
  return message;
}

const Message& Describe(const FileBalancedAllocationArgs*) {
  static const Message message = MessageOf<FileBalancedAllocationArgs>(
      "NodeResourcesBalancedAllocationArgs", {
                                                 Inline("type", 0, &FileBalancedAllocationArgs::type),
                                                 Field("resources", 0, &FileBalancedAllocationArgs::resources),
                                             });
  return message;
}

const Message& Describe(const FilePodTopologySpreadArgs*) {
  static const Message message = MessageOf<FilePodTopologySpreadArgs>(
      "PodTopologySpreadArgs", {
                                   Inline("type", 0, &FilePodTopologySpreadArgs::type),
                                   Field("defaultConstraints", 0, &FilePodTopologySpreadArgs::default_constraints),
                                   Field("defaultingType", 0, &FilePodTopologySpreadArgs::defaulting_type),
                               });
  return message;
}

const Message& Describe(const FileVolumeBindingArgs*) {
  static const Message message = MessageOf<FileVolumeBindingArgs>(
      "VolumeBindingArgs", {
                               Inline("type", 0, &FileVolumeBindingArgs::type),
                               Field("bindTimeoutSeconds", 0, &FileVolumeBindingArgs::bind_timeout_seconds),
                               Field("shape", 0, &FileVolumeBindingArgs::shape),
                           });
  return message;
}

const Message& Describe(const FileDynamicResourcesArgs*) {
  static const Message message = MessageOf<FileDynamicResourcesArgs>(
      "DynamicResourcesArgs", {
                                  Inline("type", 0, &FileDynamicResourcesArgs::type),
                                  Field("filterTimeout", 0, &FileDynamicResourcesArgs::filter_timeout).Always(),
                                  Field("bindingTimeout", 0, &FileDynamicResourcesArgs::binding_timeout),
                              });
  return message;
}

const Message& Describe(const FileServiceAffinityArgs*) {
  static const Message message = MessageOf<FileServiceAffinityArgs>(
      "ServiceAffinityArgs",
      {
          Inline("type", 0, &FileServiceAffinityArgs::type),
          Field("affinityLabels", 0, &FileServiceAffinityArgs::affinity_labels),
          Field("antiAffinityLabelsPreference", 0, &FileServiceAffinityArgs::anti_affinity_labels_preference),
      });
  return message;
}

const Message& Describe(const FileNodeLabelArgs*) {
  static const Message message = MessageOf<FileNodeLabelArgs>(
      "NodeLabelArgs", {
                           Inline("type", 0, &FileNodeLabelArgs::type),
                           Field("presentLabels", 0, &FileNodeLabelArgs::present_labels),
                           Field("absentLabels", 0, &FileNodeLabelArgs::absent_labels),
                           Field("presentLabelsPreference", 0, &FileNodeLabelArgs::present_labels_preference),
                           Field("absentLabelsPreference", 0, &FileNodeLabelArgs::absent_labels_preference),
                       });
  return message;
}

const Message& Describe(const FileRequestedToCapacityRatioArgs*) {
  static const Message message = MessageOf<FileRequestedToCapacityRatioArgs>(
      "RequestedToCapacityRatioArgs", {
                                          Inline("type", 0, &FileRequestedToCapacityRatioArgs::type),
                                          Field("shape", 0, &FileRequestedToCapacityRatioArgs::shape),
                                          Field("resources", 0, &FileRequestedToCapacityRatioArgs::resources),
                                      });
  return message;
}

const Message& Describe(const FileLeastAllocatedArgs*) {
  static const Message message = MessageOf<FileLeastAllocatedArgs>(
      "NodeResourcesLeastAllocatedArgs", {
                                             Inline("type", 0, &FileLeastAllocatedArgs::type),
                                             Field("resources", 0, &FileLeastAllocatedArgs::resources),
                                         });
  return message;
}

const Message& Describe(const FileMostAllocatedArgs*) {
  static const Message message = MessageOf<FileMostAllocatedArgs>(
      "NodeResourcesMostAllocatedArgs", {
                                            Inline("type", 0, &FileMostAllocatedArgs::type),
                                            Field("resources", 0, &FileMostAllocatedArgs::resources),
                                        });
  return message;
}

}  // namespace berth::config
