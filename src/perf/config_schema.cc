#include "perf/config_schema.h"

#include <charconv>

#include "api/time.h"
#include "codec/json_writer.h"

namespace berth::codec {

std::string ScalarTraits<perf::FileDuration>::FromJson(const Value& value, perf::FileDuration& out) {
  constexpr char kExpected[] = "expected a duration such as \"1m30s\"";
  if (!value.is_string()) return kExpected;
  Result<base::Duration> parsed = api::ParseDuration(value.text());
  if (!parsed) return kExpected;
  out.value = *parsed;
  return {};
}
void ScalarTraits<perf::FileDuration>::ToJson(const perf::FileDuration& value, JsonWriter& writer) {
  writer.String(api::FormatDuration(value.value));
}

namespace {

bool ReadNumber(const Value& value, double& out) {
  const std::string_view text = value.text();
  if (!value.is_number()) return false;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && stop == text.data() + text.size();
}

}  // namespace

std::string ScalarTraits<perf::Threshold>::FromJson(const Value& value, perf::Threshold& out) {
  constexpr char kExpected[] = "expected a non-negative number, or such numbers by topic";
  if (value.is_number()) return ReadNumber(value, out.value) && out.value >= 0 ? "" : kExpected;
  if (!value.is_object()) return kExpected;
  for (const Member& member : value.members()) {
    double number = 0;
    if (!ReadNumber(member.value, number) || number < 0) return kExpected;
    out.by_topic.Set(std::string(member.key), number);
  }
  return {};
}
void ScalarTraits<perf::Threshold>::ToJson(const perf::Threshold& value, JsonWriter& writer) {
  if (value.by_topic.empty()) return writer.Double(value.value);
  writer.StartObject();
  for (const auto& [topic, number] : value.by_topic) {
    writer.Key(topic);
    writer.Double(number);
  }
  writer.EndObject();
}

}  // namespace berth::codec

namespace berth::perf {

using codec::Field;
using codec::Message;
using codec::MessageOf;

const Message& Describe(const NodeAllocatableStrategy*) {
  using T = NodeAllocatableStrategy;
  static const Message message =
      MessageOf<T>("NodeAllocatableStrategy", {
                                                  Field("nodeAllocatable", 0, &T::node_allocatable),
                                                  Field("csiNodeAllocatable", 0, &T::csi_node_allocatable),
                                                  Field("migratedPlugins", 0, &T::migrated_plugins),
                                              });
  return message;
}

const Message& Describe(const LabelNodePrepareStrategy*) {
  using T = LabelNodePrepareStrategy;
  static const Message message = MessageOf<T>(
      "LabelNodePrepareStrategy", {Field("labelKey", 0, &T::label_key), Field("labelValues", 0, &T::label_values)});
  return message;
}

const Message& Describe(const UniqueNodeLabelStrategy*) {
  using T = UniqueNodeLabelStrategy;
  static const Message message = MessageOf<T>("UniqueNodeLabelStrategy", {Field("labelKey", 0, &T::label_key)});
  return message;
}

const Message& Describe(const LabelValues*) {
  using T = LabelValues;
  static const Message message =
      MessageOf<T>("LabelValues", {Field("label", 0, &T::label), Field("values", 0, &T::values)});
  return message;
}

const Message& Describe(const MetricsCollectorConfig*) {
  using T = MetricsCollectorConfig;
  static const Message message = MessageOf<T>("MetricsCollectorConfig", {Field("metrics", 0, &T::metrics)});
  return message;
}

const Message& Describe(const ThresholdMetricSelector*) {
  using T = ThresholdMetricSelector;
  static const Message message = MessageOf<T>("ThresholdMetricSelector", {
                                                                             Field("name", 0, &T::name),
                                                                             Field("labels", 0, &T::labels),
                                                                             Field("dataBucket", 0, &T::data_bucket),
                                                                             Field("expectLower", 0, &T::expect_lower),
                                                                         });
  return message;
}

const Message& Describe(const Workload*) {
  using T = Workload;
  static const Message message =
      MessageOf<T>("Workload", {
                                   Field("name", 0, &T::name),
                                   Field("params", 0, &T::params),
                                   Field("labels", 0, &T::labels),
                                   Field("threshold", 0, &T::threshold),
                                   Field("thresholdMetricSelector", 0, &T::threshold_metric_selector),
                                   Field("featureGates", 0, &T::feature_gates),
                               });
  return message;
}

const Message& Describe(const TestCase*) {
  using T = TestCase;
  static const Message message =
      MessageOf<T>("TestCase", {
                                   Field("name", 0, &T::name),
                                   Field("featureGates", 0, &T::feature_gates),
                                   Field("metricsCollectorConfig", 0, &T::metrics_collector_config),
                                   Field("workloadTemplate", 0, &T::workload_template),
                                   Field("workloads", 0, &T::workload_values),
                                   Field("schedulerConfigPath", 0, &T::scheduler_config_path),
                                   Field("defaultPodTemplatePath", 0, &T::default_pod_template_path),
                                   Field("labels", 0, &T::labels),
                                   Field("defaultThresholdMetricSelector", 0, &T::default_threshold_metric_selector),
                               });
  return message;
}

namespace {

using T = Operation;
using Row = codec::FieldOf<Operation>;

Row OpcodeRow() { return Field("opcode", 0, &T::opcode); }
Row CountRow() { return Field("count", 0, &T::count); }
Row CountParamRow() { return Field("countParam", 0, &T::count_param); }
Row NamespaceRow() { return Field("namespace", 0, &T::name_space); }
Row LabelSelectorRow() { return Field("labelSelector", 0, &T::label_selector); }
Row SkipWaitRow() { return Field("skipWaitToCompletion", 0, &T::skip_wait_to_completion); }
Row TemplateRow() { return Field("templatePath", 0, &T::template_path); }

const Message& CreateAnyFields() {
  static const Message message =
      MessageOf<T>("createAny", {OpcodeRow(), NamespaceRow(), TemplateRow(), CountRow(), CountParamRow()});
  return message;
}

const Message& CreateNamespacesFields() {
  static const Message message =
      MessageOf<T>("createNamespaces", {OpcodeRow(), Field("prefix", 0, &T::prefix), CountRow(), CountParamRow(),
                                        Field("namespaceTemplatePath", 0, &T::namespace_template_path)});
  return message;
}

const Message& CreateNodesFields() {
  static const Message message = MessageOf<T>(
      "createNodes", {OpcodeRow(), CountRow(), CountParamRow(), Field("nodeTemplatePath", 0, &T::node_template_path),
                      Field("nodeAllocatableStrategy", 0, &T::node_allocatable_strategy),
                      Field("labelNodePrepareStrategy", 0, &T::label_node_prepare_strategy),
                      Field("uniqueNodeLabelStrategy", 0, &T::unique_node_label_strategy)});
  return message;
}

const Message& CreatePodSetsFields() {
  static const Message message = MessageOf<T>(
      "createPodSets", {OpcodeRow(), CountRow(), CountParamRow(), Field("namespacePrefix", 0, &T::namespace_prefix),
                        Field("createPodsOp", 0, &T::create_pods_op)});
  return message;
}

const Message& CreatePodsFields() {
  static const Message message = MessageOf<T>(
      "createPods", {OpcodeRow(), CountRow(), CountParamRow(), Field("steadyState", 0, &T::steady_state),
                     Field("steadyStateParam", 0, &T::steady_state_param), Field("duration", 0, &T::duration),
                     Field("durationParam", 0, &T::duration_param), Field("collectMetrics", 0, &T::collect_metrics),
                     NamespaceRow(), Field("podTemplatePath", 0, &T::pod_template_path), SkipWaitRow(),
                     Field("persistentVolumeTemplatePath", 0, &T::persistent_volume_template_path),
                     Field("persistentVolumeClaimTemplatePath", 0, &T::persistent_volume_claim_template_path)});
  return message;
}

const Message& DeletePodsFields() {
  static const Message message =
      MessageOf<T>("deletePods", {OpcodeRow(), NamespaceRow(), LabelSelectorRow(), SkipWaitRow(),
                                  Field("deletePodsPerSecond", 0, &T::delete_pods_per_second)});
  return message;
}

const Message& UpdateAnyFields() {
  static const Message message = MessageOf<T>(
      "updateAny", {OpcodeRow(), NamespaceRow(), TemplateRow(), CountRow(), CountParamRow(),
                    Field("updatePerSecond", 0, &T::update_per_second), Field("subresources", 0, &T::subresources)});
  return message;
}

const Message& ChurnFields() {
  static const Message message =
      MessageOf<T>("churn", {OpcodeRow(), Field("mode", 0, &T::mode), Field("number", 0, &T::number),
                             Field("intervalMilliseconds", 0, &T::interval_milliseconds), NamespaceRow(),
                             Field("templatePaths", 0, &T::template_paths)});
  return message;
}

const Message& BarrierFields() {
  static const Message message =
      MessageOf<T>("barrier", {OpcodeRow(), Field("namespaces", 0, &T::namespaces), LabelSelectorRow(),
                               Field("stageRequirement", 0, &T::stage_requirement)});
  return message;
}

const Message& SleepFields() {
  static const Message message = MessageOf<T>(
      "sleep", {OpcodeRow(), Field("duration", 0, &T::duration), Field("durationParam", 0, &T::duration_param)});
  return message;
}

const Message& StartCollectingMetricsFields() {
  static const Message message = MessageOf<T>(
      "startCollectingMetrics",
      {OpcodeRow(), Field("name", 0, &T::name), Field("namespaces", 0, &T::namespaces), LabelSelectorRow()});
  return message;
}

const Message& StopCollectingMetricsFields() {
  static const Message message = MessageOf<T>("stopCollectingMetrics", {OpcodeRow()});
  return message;
}

const Message& CreateResourceClaimsFields() {
  static const Message message =
      MessageOf<T>("createResourceClaims", {OpcodeRow(), CountRow(), CountParamRow(), NamespaceRow(), TemplateRow()});
  return message;
}

const Message& CreateResourceDriverFields() {
  static const Message message = MessageOf<T>(
      "createResourceDriver",
      {OpcodeRow(), Field("driverName", 0, &T::driver_name), Field("maxClaimsPerNode", 0, &T::max_claims_per_node),
       Field("maxClaimsPerNodeParam", 0, &T::max_claims_per_node_param), Field("nodes", 0, &T::nodes)});
  return message;
}

const Message& AllocResourceClaimsFields() {
  static const Message message = MessageOf<T>("allocResourceClaims", {OpcodeRow(), NamespaceRow()});
  return message;
}

constexpr OpcodeEntry kOpcodes[] = {
    {"createAny", Opcode::kCreateAny, CreateAnyFields},
    {"createNamespaces", Opcode::kCreateNamespaces, CreateNamespacesFields},
    {"createNodes", Opcode::kCreateNodes, CreateNodesFields},
    {"createPodSets", Opcode::kCreatePodSets, CreatePodSetsFields},
    {"createPods", Opcode::kCreatePods, CreatePodsFields},
    {"deletePods", Opcode::kDeletePods, DeletePodsFields},
    {"updateAny", Opcode::kUpdateAny, UpdateAnyFields},
    {"churn", Opcode::kChurn, ChurnFields},
    {"barrier", Opcode::kBarrier, BarrierFields},
    {"sleep", Opcode::kSleep, SleepFields},
    {"startCollectingMetrics", Opcode::kStartCollectingMetrics, StartCollectingMetricsFields},
    {"stopCollectingMetrics", Opcode::kStopCollectingMetrics, StopCollectingMetricsFields},
    {"allocResourceClaims", Opcode::kAllocResourceClaims, AllocResourceClaimsFields},
    {"createResourceClaims", Opcode::kCreateResourceClaims, CreateResourceClaimsFields},
    {"createResourceDriver", Opcode::kCreateResourceDriver, CreateResourceDriverFields},
};

}  // namespace

const OpcodeEntry* FindOpcode(std::string_view name) {
  for (const OpcodeEntry& entry : kOpcodes) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::string KnownOpcodes() {
  std::string names;
  for (const OpcodeEntry& entry : kOpcodes) names.append(names.empty() ? "" : ", ").append(entry.name);
  return names;
}

}  // namespace berth::perf
