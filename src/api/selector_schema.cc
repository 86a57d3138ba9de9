#include "api/selector_schema.h"

#include "api/scalars.h"
#include "codec/schema.h"

namespace berth::api {

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const LabelSelectorRequirement*) {
  static const codec::Message message = codec::MessageOf<LabelSelectorRequirement>("LabelSelectorRequirement", {
      codec::Field("key", 1, &LabelSelectorRequirement::key),
      codec::Field("operator", 2, &LabelSelectorRequirement::op),
      codec::Field("values", 3, &LabelSelectorRequirement::values),
  });
  return message;
}

const codec::Message& Describe(const LabelSelector*) {
  static const codec::Message message = codec::MessageOf<LabelSelector>("LabelSelector", {
      codec::Field("matchLabels", 1, &LabelSelector::match_labels),
      codec::Field("matchExpressions", 2, &LabelSelector::match_expressions),
  });
  return message;
}

const codec::Message& Describe(const NodeSelectorRequirement*) {
  static const codec::Message message = codec::MessageOf<NodeSelectorRequirement>("NodeSelectorRequirement", {
      codec::Field("key", 1, &NodeSelectorRequirement::key),
      codec::Field("operator", 2, &NodeSelectorRequirement::op),
      codec::Field("values", 3, &NodeSelectorRequirement::values),
  });
  return message;
}

const codec::Message& Describe(const NodeSelectorTerm*) {
  static const codec::Message message = codec::MessageOf<NodeSelectorTerm>("NodeSelectorTerm", {
      codec::Field("matchExpressions", 1, &NodeSelectorTerm::match_expressions),
      codec::Field("matchFields", 2, &NodeSelectorTerm::match_fields),
  });
  return message;
}

const codec::Message& Describe(const NodeSelector*) {
  static const codec::Message message = codec::MessageOf<NodeSelector>("NodeSelector", {
      codec::Field("nodeSelectorTerms", 1, &NodeSelector::node_selector_terms),
  });
  return message;
}

const codec::Message& Describe(const PreferredSchedulingTerm*) {
  static const codec::Message message = codec::MessageOf<PreferredSchedulingTerm>("PreferredSchedulingTerm", {
      codec::Field("weight", 1, &PreferredSchedulingTerm::weight),
      codec::Field("preference", 2, &PreferredSchedulingTerm::preference),
  });
  return message;
}

const codec::Message& Describe(const Taint*) {
  static const codec::Message message = codec::MessageOf<Taint>("Taint", {
      codec::Field("key", 1, &Taint::key),
      codec::Field("value", 2, &Taint::value),
      codec::Field("effect", 3, &Taint::effect),
      codec::Field("timeAdded", 4, &Taint::time_added),
  });
  return message;
}

const codec::Message& Describe(const Toleration*) {
  static const codec::Message message = codec::MessageOf<Toleration>("Toleration", {
      codec::Field("key", 1, &Toleration::key),
      codec::Field("operator", 2, &Toleration::op),
      codec::Field("value", 3, &Toleration::value),
      codec::Field("effect", 4, &Toleration::effect),
      codec::Field("tolerationSeconds", 5, &Toleration::toleration_seconds),
  });
  return message;
}

// clang-format on

}  // namespace berth::api
