#include "config/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "api/field_error.h"
#include "api/pod.h"
#include "codec/decode.h"
#include "codec/yaml.h"
#include "config/any_case.h"
#include "config/args_reader.h"
#include "config/default_plugins.h"
#include "config/extender_fields.h"
#include "config/old_fields.h"
#include "config/policy_format.h"
#include "config/policy_registry.h"
#include "config/validate.h"
#include "config/versions.h"

namespace berth::config {
namespace {

using enum ExtensionPoint;

constexpr std::string_view kRatioPriority = "RequestedToCapacityRatioPriority";
constexpr std::string_view kTopologySpread = "PodTopologySpread";
// A weight must not make a total exceed 64 bits.
constexpr int64_t kMaxWeight = std::numeric_limits<int64_t>::max() / 100;

int CountArguments(const PredicateArgument& argument) {
  return argument.service_affinity.has_value() + argument.labels_presence.has_value();
}

int CountArguments(const PriorityArgument& argument) {
  return argument.service_anti_affinity.has_value() + argument.label_preference.has_value() +
         argument.requested_to_capacity_ratio.has_value();
}

// Priorities with an argument share one plugin per kind of argument, so they must agree on its weight.
class CustomPriorities {
 public:
  void Check(const PriorityPolicy& priority, std::vector<std::string>& problems) {
    const PriorityArgument& argument = *priority.argument;
    if (argument.label_preference) {
      CheckWeight("LabelPreference", priority, problems);
    } else if (argument.service_anti_affinity) {
      CheckWeight("ServiceAntiAffinity", priority, problems);
    } else if (argument.requested_to_capacity_ratio) {
      const auto [first, is_new] = seen_.emplace("RequestedToCapacityRatio", priority);
      if (is_new) return;
      problems.push_back(fmt::format("priority {} redeclares custom priority \"RequestedToCapacityRatio\", from: {}",
                                     api::Quote(priority.name), api::Quote(first->second.name)));
    } else {
      problems.push_back(fmt::format("no priority arguments set for priority {}", priority.name));
    }
  }

 private:
  void CheckWeight(const std::string& kind, const PriorityPolicy& priority, std::vector<std::string>& problems) {
    const auto last = seen_.find(kind);
    if (last != seen_.end() && last->second.weight != priority.weight) {
      problems.push_back(fmt::format("{}  priority {} has a different weight with {}", kind, api::Quote(priority.name),
                                     api::Quote(last->second.name)));
      return;
    }
    seen_[kind] = priority;
  }

  std::map<std::string, PriorityPolicy> seen_;
};

Extender FromPolicy(const PolicyExtender& file) { return ExtenderFrom(file, base::Duration(file.http_timeout)); }

std::vector<std::string> FindProblems(const Policy& policy, const std::vector<Extender>& extenders) {
  std::vector<std::string> problems;
  CustomPriorities custom;
  for (const PriorityPolicy& priority : policy.priorities.value_or(std::vector<PriorityPolicy>())) {
    if (priority.weight <= 0 || priority.weight >= kMaxWeight) {
      problems.push_back(
          fmt::format("priority {} should have a positive weight applied to it or it has overflown", priority.name));
    }
    if (priority.argument) custom.Check(priority, problems);
  }
  CheckExtenders(extenders, problems);
  const int32_t hard = policy.hard_pod_affinity_symmetric_weight;
  if (hard < 0 || hard > 100) {
    problems.push_back(api::InvalidNumber("hardPodAffinitySymmetricWeight", hard, "not in valid range [0-100]"));
  }
  return problems;
}

// Collects predicates and priorities, then turns them into a profile.
class PolicyMapper {
 public:
  Result<void> AddPredicate(const PredicatePolicy& predicate) {
    if (predicate.argument && CountArguments(*predicate.argument) != 1) {
      return Error::InvalidArgument(fmt::format("exactly 1 predicate argument is required, numArgs: {}, predicate {}",
                                                CountArguments(*predicate.argument), predicate.name));
    }
    if (const PolicyRule* rule = FindPredicate(predicate.name)) {
      predicates_.insert(rule->name);
      return {};
    }
    if (!predicate.argument) {
      return Error::InvalidArgument(fmt::format("predicate type not found for {}", api::Quote(predicate.name)));
    }
    if (const auto& affinity = predicate.argument->service_affinity) {
      Append(ServiceAffinity().affinity_labels, affinity->labels);
      predicates_.insert("CheckServiceAffinity");
    }
    if (const auto& presence = predicate.argument->labels_presence) {
      Append(presence->presence ? NodeLabel().present_labels : NodeLabel().absent_labels, presence->labels);
      predicates_.insert("CheckNodeLabelPresence");
    }
    return {};
  }

  Result<void> AddPriority(const PriorityPolicy& priority) {
    if (priority.name == "EqualPriority") return {};  // the same for every node, so without effect
    if (priority.argument && CountArguments(*priority.argument) != 1) {
      return Error::InvalidArgument(fmt::format("exactly 1 priority argument is required, numArgs: {}, priority {}",
                                                CountArguments(*priority.argument), priority.name));
    }
    if (priority.name == kRatioPriority && !priority.argument) {
      // Kubernetes 1.14 had it under this name with its own curve: the emptier, the better.
      if (!ratio_) ratio_.emplace().shape = {{0, 10}, {100, 0}};
      priorities_["RequestedToCapacityRatio"] = priority.weight;
      return {};
    }
    // An argument decides what the priority is, whatever its name.
    if (priority.argument) {
      AddCustomPriority(*priority.argument, priority.weight);
      return {};
    }
    const PolicyRule* rule = FindPriority(priority.name);
    if (!rule) {
      return Error::InvalidArgument(fmt::format("priority type not found for {}", api::Quote(priority.name)));
    }
    if (Result<void> usable = CheckArgumentGiven(*rule, priority); !usable) return usable;
    priorities_[rule->name] = priority.weight;
    return {};
  }

  void AddDefaultPredicates() {
    for (std::string_view name : DefaultPredicates()) predicates_.insert(name);
  }
  void AddDefaultPriorities() {
    for (const WeightedPriority& priority : DefaultPriorities()) priorities_[priority.name] = priority.weight;
  }
  void SetHardPodAffinityWeight(int32_t weight) { hard_pod_affinity_weight_ = weight; }

  Profile Build(const FeatureGates& gates) const {
    Profile profile;
    profile.scheduler_name = api::kDefaultSchedulerName;
    // These are neither predicates nor priorities: every scheduler has them.
    profile.plugins.at(kPreEnqueue).enabled = {{"SchedulingGates", 0}};
    profile.plugins.at(kQueueSort).enabled = {{"PrioritySort", 0}};
    profile.plugins.at(kPostFilter).enabled = {{"DefaultPreemption", 0}};
    profile.plugins.at(kBind).enabled = {{"DefaultBinder", 0}};
    profile.plugins.multi_point.disabled = {{"*", 0}};
    for (const PolicyRule& rule : KnownPredicates()) {
      if (predicates_.contains(rule.name) || IsMandatoryPredicate(rule.name)) Enable(rule, 0, profile.plugins);
    }
    for (const PolicyRule& rule : KnownPriorities()) {
      const auto found = priorities_.find(rule.name);
      if (found != priorities_.end()) Enable(rule, WeightOf(rule, found->second), profile.plugins);
    }
    for (const std::string& name : EnabledPluginNames(profile.plugins)) AddArgs(name, gates, profile);
    return profile;
  }

 private:
  ServiceAffinityArgs& ServiceAffinity() {
    return service_affinity_ ? *service_affinity_ : service_affinity_.emplace();
  }
  NodeLabelArgs& NodeLabel() { return node_label_ ? *node_label_ : node_label_.emplace(); }

  static void Append(std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  // Named after the plugin but without the argument that the plugin needs: Kubernetes 1.22 crashed on two of these.
  static Result<void> CheckArgumentGiven(const PolicyRule& rule, const PriorityPolicy& priority) {
    const bool needs_argument =
        rule.name == "NodeLabel" || rule.name == "ServiceAffinity" || rule.name == "RequestedToCapacityRatio";
    if (!needs_argument) return {};
    return Error::InvalidArgument(
        fmt::format("priority {}: expected a name of its own and an argument, found the name of a plugin",
                    api::Quote(priority.name)));
  }

  void AddCustomPriority(const PriorityArgument& argument, int64_t weight) {
    if (const auto& spread = argument.service_anti_affinity) {
      ServiceAffinity().anti_affinity_labels_preference.push_back(spread->label);
      priorities_["ServiceAffinity"] = weight;
    }
    if (const auto& preference = argument.label_preference) {
      auto& labels =
          preference->presence ? NodeLabel().present_labels_preference : NodeLabel().absent_labels_preference;
      labels.push_back(preference->label);
      priorities_["NodeLabel"] = weight;
    }
    if (const auto& given = argument.requested_to_capacity_ratio) {
      RequestedToCapacityRatioArgs& args = ratio_.emplace();
      args.shape = given->shape;
      if (!given->resources.empty()) args.resources.clear();
      for (const FileResourceSpec& resource : given->resources) {
        args.resources.push_back({Symbol(resource.name), resource.weight == 0 ? 1 : resource.weight});
      }
      priorities_["RequestedToCapacityRatio"] = weight;
    }
  }

  // One plugin stands for as many priorities as it has labels, and gets the sum of their weights.
  int32_t WeightOf(const PolicyRule& rule, int64_t weight) const {
    size_t labels = 1;
    if (rule.name == "NodeLabel") {
      labels = node_label_->present_labels_preference.size() + node_label_->absent_labels_preference.size();
    } else if (rule.name == "ServiceAffinity") {
      labels = service_affinity_->anti_affinity_labels_preference.size();
    }
    return static_cast<int32_t>(weight) * static_cast<int32_t>(labels);
  }

  // A plugin that is already enabled stays as it is, including its weight.
  static void Enable(const PolicyRule& rule, int32_t weight, Plugins& plugins) {
    for (const PluginAt& at : rule.plugins) {
      std::vector<Plugin>& enabled = plugins.at(at.point).enabled;
      if (std::ranges::find(enabled, at.plugin, &Plugin::name) != enabled.end()) continue;
      enabled.push_back({std::string(at.plugin), at.point == kScore ? weight : 0});
    }
  }

  void AddArgs(const std::string& plugin, const FeatureGates& gates, Profile& profile) const {
    if (!HasArgsType(plugin)) return;
    PluginConfig config{.name = plugin, .args = DefaultArgs(plugin, gates)};
    if (plugin == "ServiceAffinity" && service_affinity_) config.args = *service_affinity_;
    if (plugin == "NodeLabel" && node_label_) config.args = *node_label_;
    if (plugin == "RequestedToCapacityRatio" && ratio_) config.args = *ratio_;
    if (plugin == "InterPodAffinity" && hard_pod_affinity_weight_ != 0 &&
        priorities_.contains("InterPodAffinityPriority")) {
      std::get<InterPodAffinityArgs>(config.args).hard_pod_affinity_weight = hard_pod_affinity_weight_;
    }
    // Spreading by the pod's own constraints adds none to pods without any.
    if (plugin == kTopologySpread && priorities_.contains("EvenPodsSpreadPriority") &&
        !priorities_.contains("SelectorSpreadPriority")) {
      std::get<PodTopologySpreadArgs>(config.args).defaulting_type = SpreadDefaulting::kList;
    }
    profile.plugin_config.push_back(std::move(config));
  }

  std::set<std::string_view> predicates_;
  std::map<std::string_view, int64_t> priorities_;
  std::optional<ServiceAffinityArgs> service_affinity_;
  std::optional<NodeLabelArgs> node_label_;
  std::optional<RequestedToCapacityRatioArgs> ratio_;
  int32_t hard_pod_affinity_weight_ = 0;
};

Result<Profile> MapPolicy(const Policy& policy, const FeatureGates& gates) {
  PolicyMapper mapper;
  if (!policy.predicates) mapper.AddDefaultPredicates();
  for (const PredicatePolicy& predicate : policy.predicates.value_or(std::vector<PredicatePolicy>())) {
    if (Result<void> added = mapper.AddPredicate(predicate); !added) return added.error();
  }
  if (!policy.priorities) mapper.AddDefaultPriorities();
  for (const PriorityPolicy& priority : policy.priorities.value_or(std::vector<PriorityPolicy>())) {
    if (Result<void> added = mapper.AddPriority(priority); !added) return added.error();
  }
  mapper.SetHardPodAffinityWeight(policy.hard_pod_affinity_symmetric_weight);
  return mapper.Build(gates);
}

Error InPolicy(const LoadOptions& options, std::string_view problem) {
  return Error::InvalidArgument(
      fmt::format("{}{}invalid policy: {}", options.file_name, options.file_name.empty() ? "" : ": ", problem));
}

// One profile, and the defaults for everything else.
KubeSchedulerConfiguration WithProfile(Profile profile, const FeatureGates& gates) {
  KubeSchedulerConfiguration configuration = DefaultConfiguration(gates);
  configuration.profiles = {std::move(profile)};
  configuration.legacy_plugins = UsesInTreeVolumeLimits(configuration);
  return configuration;
}

}  // namespace

bool IsPolicy(const codec::Value& root) {
  const codec::Value* kind = root.Find("kind");
  return kind != nullptr && kind->text() == "Policy";
}

Result<KubeSchedulerConfiguration> LoadPolicy(const codec::Value& root, const FeatureGates& gates,
                                              const LoadOptions& options) {
  Policy policy;
  std::vector<codec::Diagnostic> diagnostics;
  std::vector<codec::Diagnostic> skipped;
  codec::Decode(root, policy, {.strict = true}, diagnostics);
  ReadPolicyExtenders(root, policy.extenders, diagnostics, skipped);
  // Checked first: problems in the fields of an audit Policy do not matter.
  if (policy.type.kind != "Policy" || policy.type.api_version != "v1") {
    return InPolicy(options, fmt::format("expected kind Policy of apiVersion v1, found kind {} of apiVersion {}",
                                         api::Quote(policy.type.kind), api::Quote(policy.type.api_version)));
  }
  if (!diagnostics.empty()) {
    if (!options.file_name.empty()) return codec::ToResult(options.file_name, diagnostics).error();
    std::vector<std::string> texts;
    for (const codec::Diagnostic& problem : diagnostics) texts.push_back(problem.ToString());
    return InPolicy(options, api::JoinErrors(texts));
  }
  std::vector<Extender> extenders;
  for (const PolicyExtender& extender : policy.extenders) extenders.push_back(FromPolicy(extender));
  const std::vector<std::string> problems = FindProblems(policy, extenders);
  if (!problems.empty()) return InPolicy(options, api::JoinErrors(problems));
  Result<Profile> profile = MapPolicy(policy, gates);
  if (!profile) return InPolicy(options, profile.error().message);
  KubeSchedulerConfiguration configuration = WithProfile(std::move(*profile), gates);
  configuration.extenders = std::move(extenders);
  configuration.always_check_all_predicates = policy.always_check_all_predicates;
  if (options.warnings != nullptr) {
    options.warnings->push_back(
        fmt::format("{}{}a Policy is deprecated and read as {}; berth config convert writes it as v1",
                    options.file_name, options.file_name.empty() ? "" : ": ", kApiVersion));
  }
  WarnOfSkipped(options, skipped);
  return configuration;
}

Result<KubeSchedulerConfiguration> LoadPolicyText(std::string_view text, const FeatureGates& gates,
                                                  const LoadOptions& options) {
  Result<std::vector<codec::Document>> documents = codec::ParseYaml(text, options.file_name);
  if (!documents) return documents.error();
  return LoadPolicy(documents->empty() ? codec::Value() : documents->front().root(), gates, options);
}

Result<void> ApplyPolicy(std::string_view text, const PolicySource& source, const FeatureGates& gates,
                         const LoadOptions& options, KubeSchedulerConfiguration& configuration) {
  Result<std::vector<codec::Document>> documents = codec::ParseYaml(text, options.file_name);
  if (!documents) return documents.error();
  const codec::Value root = documents->empty() ? codec::Value() : documents->front().root();
  Result<KubeSchedulerConfiguration> policy = LoadPolicy(root, gates, options);
  if (!policy) return policy.error();
  OldSettings settings = source.settings;
  // The Policy's own weight takes precedence.
  const codec::Value* weight = root.Find("hardPodAffinitySymmetricWeight");
  if (weight != nullptr && weight->text() != "0") settings.hard_pod_affinity_weight.reset();
  for (Profile& profile : configuration.profiles) {
    profile.plugins = policy->profiles.front().plugins;
    profile.plugin_config = policy->profiles.front().plugin_config;
    ApplySettings(settings, profile);
  }
  configuration.extenders = std::move(policy->extenders);
  configuration.legacy_plugins = policy->legacy_plugins;
  configuration.always_check_all_predicates = policy->always_check_all_predicates;
  return {};
}

Result<std::string> PolicyTextOf(const codec::Value& config_map) {
  const codec::Value* data = config_map.Find("data");
  const codec::Value* policy = data == nullptr ? nullptr : data->Find(kPolicyConfigMapKey);
  if (policy == nullptr || !policy->is_string()) {
    return Error::NotFound(fmt::format("missing policy config map value at key \"{}\"", kPolicyConfigMapKey));
  }
  return std::string(policy->text());
}

Result<KubeSchedulerConfiguration> ProviderConfiguration(std::string_view provider, const FeatureGates& gates) {
  const Result<Plugins> plugins = PluginsOfProvider(provider, FileVersion::kV1beta1);
  if (!plugins) return plugins.error();
  Profile profile;
  profile.scheduler_name = api::kDefaultSchedulerName;
  profile.plugins = EffectivePlugins(FileVersion::kV1beta1, {}, *plugins);
  for (const std::string& name : EnabledPluginNames(profile.plugins)) {
    if (HasArgsType(name)) profile.plugin_config.push_back({.name = name, .args = DefaultArgs(name, gates)});
  }
  return WithProfile(std::move(profile), gates);
}

}  // namespace berth::config
