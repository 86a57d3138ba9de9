#include "config/policy_format.h"

#include <fmt/format.h>

#include "config/any_case.h"

namespace berth::config {

using codec::Field;
using codec::Inline;
using codec::Message;
using codec::MessageOf;

const Message& Describe(const PolicyServiceAffinity*) {
  static const Message message =
      MessageOf<PolicyServiceAffinity>("ServiceAffinity", {
                                                              Field("labels", 0, &PolicyServiceAffinity::labels),
                                                          });
  return message;
}

const Message& Describe(const PolicyLabelsPresence*) {
  static const Message message =
      MessageOf<PolicyLabelsPresence>("LabelsPresence", {
                                                            Field("labels", 0, &PolicyLabelsPresence::labels),
                                                            Field("presence", 0, &PolicyLabelsPresence::presence),
                                                        });
  return message;
}

const Message& Describe(const PolicyServiceAntiAffinity*) {
  static const Message message = MessageOf<PolicyServiceAntiAffinity>(
      "ServiceAntiAffinity", {
                                 Field("label", 0, &PolicyServiceAntiAffinity::label),
                             });
  return message;
}

const Message& Describe(const PolicyLabelPreference*) {
  static const Message message =
      MessageOf<PolicyLabelPreference>("LabelPreference", {
                                                              Field("label", 0, &PolicyLabelPreference::label),
                                                              Field("presence", 0, &PolicyLabelPreference::presence),
                                                          });
  return message;
}

const Message& Describe(const PolicyRatioArguments*) {
  static const Message message = MessageOf<PolicyRatioArguments>(
      "RequestedToCapacityRatioArguments", {
                                               Field("shape", 0, &PolicyRatioArguments::shape),
                                               Field("resources", 0, &PolicyRatioArguments::resources),
                                           });
  return message;
}

const Message& Describe(const PredicateArgument*) {
  static const Message message = MessageOf<PredicateArgument>(
      "PredicateArgument", {
                               Field("serviceAffinity", 0, &PredicateArgument::service_affinity),
                               Field("labelsPresence", 0, &PredicateArgument::labels_presence),
                           });
  return message;
}

const Message& Describe(const PriorityArgument*) {
  static const Message message = MessageOf<PriorityArgument>(
      "PriorityArgument",
      {
          Field("serviceAntiAffinity", 0, &PriorityArgument::service_anti_affinity),
          Field("labelPreference", 0, &PriorityArgument::label_preference),
          Field("requestedToCapacityRatioArguments", 0, &PriorityArgument::requested_to_capacity_ratio),
      });
  return message;
}

const Message& Describe(const PredicatePolicy*) {
  static const Message message =
      MessageOf<PredicatePolicy>("PredicatePolicy", {
                                                        Field("name", 0, &PredicatePolicy::name),
                                                        Field("argument", 0, &PredicatePolicy::argument),
                                                    });
  return message;
}

const Message& Describe(const PriorityPolicy*) {
  static const Message message =
      MessageOf<PriorityPolicy>("PriorityPolicy", {
                                                      Field("name", 0, &PriorityPolicy::name),
                                                      Field("weight", 0, &PriorityPolicy::weight),
                                                      Field("argument", 0, &PriorityPolicy::argument),
                                                  });
  return message;
}

const Message& Describe(const PolicyExtender*) {
  static const Message message =
      MessageOf<PolicyExtender>("LegacyExtender", {
                                                      Field("urlPrefix", 0, &PolicyExtender::url_prefix),
                                                      Field("filterVerb", 0, &PolicyExtender::filter_verb),
                                                      Field("preemptVerb", 0, &PolicyExtender::preempt_verb),
                                                      Field("prioritizeVerb", 0, &PolicyExtender::prioritize_verb),
                                                      Field("weight", 0, &PolicyExtender::weight),
                                                      Field("bindVerb", 0, &PolicyExtender::bind_verb),
                                                      Field("enableHttps", 0, &PolicyExtender::enable_https),
                                                      Field("tlsConfig", 0, &PolicyExtender::tls_config),
                                                      Field("httpTimeout", 0, &PolicyExtender::http_timeout),
                                                      Field("nodeCacheCapable", 0, &PolicyExtender::node_cache_capable),
                                                      Field("managedResources", 0, &PolicyExtender::managed_resources),
                                                      Field("ignorable", 0, &PolicyExtender::ignorable),
                                                  });
  return message;
}

const Message& Describe(const Policy*) {
  static const Message message = MessageOf<Policy>(
      "Policy", {
                    Inline("type", 0, &Policy::type),
                    Field("predicates", 0, &Policy::predicates),
                    Field("priorities", 0, &Policy::priorities),
                    Field("extenders", 0, &Policy::extenders),
                    Field("hardPodAffinitySymmetricWeight", 0, &Policy::hard_pod_affinity_symmetric_weight),
                    Field("alwaysCheckAllPredicates", 0, &Policy::always_check_all_predicates),
                });
  return message;
}

void ReadPolicyExtenders(const codec::Value& root, std::vector<PolicyExtender>& extenders,
                         std::vector<codec::Diagnostic>& diagnostics, std::vector<codec::Diagnostic>& skipped) {
  const codec::Value* list = root.Find("extenders");
  if (list == nullptr || !list->is_array()) return;
  std::erase_if(diagnostics, [](const codec::Diagnostic& problem) { return problem.path.starts_with("extenders["); });
  extenders.clear();
  for (const codec::Value& item : list->items()) {
    const std::string path = fmt::format("extenders[{}]", extenders.size());
    DecodeAnyCase(item, extenders.emplace_back(), diagnostics, skipped, path);
  }
}

}  // namespace berth::config
