// PodBuilder: builds a pod for a test in one expression.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "config/feature_gates.h"
#include "framework/pod_info.h"
#include "testing/texts.h"

namespace berth::testing {

// A term on matchLabels for the builder's PodAffinity(term) and its like; add namespaces and so on to the result.
api::PodAffinityTerm MakeAffinityTerm(std::string_view topology_key, LabelPairs labels);

// Starts with namespace "default", no containers and, unless Uid() is called, the UID "<namespace>/<name>".
class PodBuilder {
 public:
  explicit PodBuilder(std::string_view name);

  PodBuilder& Namespace(std::string_view name_space);
  PodBuilder& Uid(std::string_view uid);
  PodBuilder& Label(std::string_view key, std::string_view value);
  PodBuilder& Annotation(std::string_view key, std::string_view value);
  // The controlling owner.
  PodBuilder& OwnerRef(std::string_view kind, std::string_view name, std::string_view uid);
  PodBuilder& CreatedAt(std::string_view time);
  // Has been terminating for a long time.
  PodBuilder& Terminating();

  // Containers. Request, Limit and HostPort apply to the last container; they add one if there is none.
  PodBuilder& Container(std::string_view image = {});
  PodBuilder& InitContainer(std::string_view image = {});
  PodBuilder& Sidecar(std::string_view image = {});
  PodBuilder& Request(std::string_view resource, std::string_view amount);
  PodBuilder& Limit(std::string_view resource, std::string_view amount);
  PodBuilder& HostPort(int32_t port, std::string_view protocol = {}, std::string_view ip = {});
  PodBuilder& HostNetwork();
  PodBuilder& PodLevelRequest(std::string_view resource, std::string_view amount);
  PodBuilder& Overhead(std::string_view resource, std::string_view amount);

  // Where it may be placed. With a key alone, or no value and no operator, any taint with that key is tolerated.
  PodBuilder& Tolerate(std::string_view key, std::string_view value = {}, std::string_view effect = {},
                       std::string_view op = {});
  PodBuilder& NodeSelector(std::string_view key, std::string_view value);
  // Each of these adds a condition to the required node affinity's last term; OrNodeAffinity starts another term.
  PodBuilder& NodeAffinityIn(std::string_view key, std::vector<std::string> values);
  PodBuilder& NodeAffinityNotIn(std::string_view key, std::vector<std::string> values);
  PodBuilder& NodeAffinityExists(std::string_view key);
  PodBuilder& NodeAffinityDoesNotExist(std::string_view key);
  PodBuilder& NodeAffinityGt(std::string_view key, std::string_view value);
  PodBuilder& NodeAffinityLt(std::string_view key, std::string_view value);
  PodBuilder& NodeNameIn(std::vector<std::string> names);  // metadata.name
  PodBuilder& OrNodeAffinity();
  PodBuilder& PreferredNodeAffinity(int32_t weight, std::string_view key, std::vector<std::string> values);

  // Affinity and anti-affinity to other pods.
  PodBuilder& PodAffinity(std::string_view topology_key, LabelPairs labels);
  PodBuilder& PodAffinity(std::string_view topology_key, api::LabelSelector selector);
  PodBuilder& PodAffinity(api::PodAffinityTerm term);
  PodBuilder& PodAntiAffinity(std::string_view topology_key, LabelPairs labels);
  PodBuilder& PodAntiAffinity(std::string_view topology_key, api::LabelSelector selector);
  PodBuilder& PodAntiAffinity(api::PodAffinityTerm term);
  PodBuilder& PreferredPodAffinity(int32_t weight, std::string_view topology_key, LabelPairs labels);
  PodBuilder& PreferredPodAffinity(int32_t weight, api::PodAffinityTerm term);
  PodBuilder& PreferredPodAntiAffinity(int32_t weight, std::string_view topology_key, LabelPairs labels);
  PodBuilder& PreferredPodAntiAffinity(int32_t weight, api::PodAffinityTerm term);
  PodBuilder& SpreadConstraint(int32_t max_skew, std::string_view topology_key, std::string_view when_unsatisfiable,
                               LabelPairs labels);
  PodBuilder& SpreadConstraint(int32_t max_skew, std::string_view topology_key, std::string_view when_unsatisfiable,
                               api::LabelSelector selector);
  PodBuilder& SpreadConstraint(api::TopologySpreadConstraint constraint);

  // A volume with the claim's name.
  PodBuilder& Pvc(std::string_view claim);
  PodBuilder& Volume(std::string_view name, api::VolumeSource source = {});
  // A resource claim that exists already.
  PodBuilder& ResourceClaim(std::string_view name, std::string_view claim);

  PodBuilder& Node(std::string_view name);  // spec.nodeName
  PodBuilder& Priority(int32_t priority);
  PodBuilder& PreemptionPolicy(std::string_view policy);
  PodBuilder& SchedulerName(std::string_view name);
  PodBuilder& Gate(std::string_view name);

  PodBuilder& Phase(std::string_view phase);
  PodBuilder& NominatedNode(std::string_view name);
  PodBuilder& StartTime(std::string_view time);
  PodBuilder& StartTime(api::Time time);
  PodBuilder& Condition(std::string_view type, std::string_view status, std::string_view reason = {});

  // For fields without a method.
  api::Pod& raw() { return pod_; }

  api::Pod Obj() const;
  std::shared_ptr<const api::Pod> Shared() const;
  framework::PodInfoPtr Info(const config::FeatureGates& gates = {}) const;

 private:
  api::Container& Begin(std::vector<api::Container>& containers, std::string_view prefix, std::string_view image);
  api::Container& Current();
  api::Affinity& Affinity();
  api::NodeSelectorTerm& LastNodeTerm();
  PodBuilder& AddNodeCondition(std::string_view key, std::string_view op, std::vector<std::string> values);

  api::Pod pod_;
  std::optional<std::string> uid_;
  bool current_is_init_ = false;
};

PodBuilder MakePod(std::string_view name);

}  // namespace berth::testing
