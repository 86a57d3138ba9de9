#include "explain/explain_details.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "framework/amount_text.h"

namespace berth::explain {

using framework::NodeInfo;
using framework::PodInfoPtr;
using framework::Status;

namespace {

// "; 2.7 held by 6 pods, largest shop/web-3 with 1".
std::string HoldersText(const Symbol& resource, int64_t used, const NodeInfo& node) {
  const framework::PodInfo* largest = nullptr;
  size_t holders = 0;
  for (const PodInfoPtr& pod : node.pods()) {
    const int64_t amount = pod->requests().Get(resource);
    if (amount <= 0) continue;
    ++holders;
    const int64_t most = largest ? largest->requests().Get(resource) : 0;
    if (!largest || amount > most || (amount == most && pod->Key() < largest->Key())) largest = pod.get();
  }
  const std::string_view name = resource.str();
  if (!largest) return {};
  if (holders == 1) return fmt::format("; {} held by {}", framework::AmountText(name, used), largest->Key());
  return fmt::format("; {} held by {} pods, largest {} with {}", framework::AmountText(name, used), holders,
                     largest->Key(), framework::AmountText(name, largest->requests().Get(resource)));
}

std::string ShortfallText(const framework::Shortfall& shortfall, const NodeInfo& node) {
  const std::string_view name = shortfall.resource.str();
  const int64_t free = framework::WrappingSubtract(shortfall.capacity, shortfall.used);
  if (shortfall.resource == framework::PodsName()) {
    return fmt::format("has {} of {} pods already", shortfall.used, shortfall.capacity);
  }
  if (shortfall.capacity == 0)
    return fmt::format("needs {} {}, has none", framework::AmountText(name, shortfall.requested), name);
  if (shortfall.requested > shortfall.capacity && shortfall.used == 0) {
    return fmt::format("needs {} {}, has {}", framework::AmountText(name, shortfall.requested), name,
                       framework::AmountText(name, shortfall.capacity));
  }
  return fmt::format("needs {} {}, {} free of {}{}", framework::AmountText(name, shortfall.requested), name,
                     framework::AmountText(name, std::max<int64_t>(free, 0)),
                     framework::AmountText(name, shortfall.capacity),
                     HoldersText(shortfall.resource, shortfall.used, node));
}

std::string FieldText(const api::CompiledNodeSelectorTerm::FieldCondition& field, const NodeInfo& node) {
  return fmt::format("wants metadata.name {}= {}, the node is {}", field.negated ? "!" : "", field.value.str(),
                     node.name());
}

// Empty when the node meets the term.
std::string UnmetText(const api::CompiledNodeSelectorTerm& term, const NodeInfo& node) {
  for (const api::Requirement& requirement : term.labels().requirements()) {
    if (requirement.Matches(node.labels())) continue;
    return fmt::format("wants {}, {}", ConditionText(requirement), LabelText(node, requirement.key()));
  }
  for (const auto& field : term.fields()) {
    const bool same = field.is_node_name && field.value == node.name();
    if (same == field.negated) return FieldText(field, node);
  }
  return {};
}

}  // namespace

std::string ConditionText(const api::Requirement& requirement) {
  using Operator = api::Requirement::Operator;
  std::vector<std::string_view> values;
  for (const Symbol& value : requirement.values()) values.push_back(value.str());
  const std::string_view key = requirement.key().str();
  switch (requirement.op()) {
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals:
      if (values.size() == 1) return fmt::format("{}={}", key, values.front());
      return fmt::format("{} in ({})", key, fmt::join(values, ", "));
    case Operator::kNotIn:
    case Operator::kNotEquals:
      if (values.size() == 1) return fmt::format("{}!={}", key, values.front());
      return fmt::format("{} not in ({})", key, fmt::join(values, ", "));
    case Operator::kExists:
      return fmt::format("a label {}", key);
    case Operator::kDoesNotExist:
      return fmt::format("no label {}", key);
    case Operator::kGreaterThan:
      return fmt::format("{} > {}", key, fmt::join(values, ""));
    case Operator::kLessThan:
      return fmt::format("{} < {}", key, fmt::join(values, ""));
  }
  return requirement.ToString();
}

std::string LabelText(const NodeInfo& node, const Symbol& key) {
  const Symbol* value = node.labels().Find(key);
  return value ? fmt::format("the node has {}={}", key.str(), value->str())
               : fmt::format("the node has no label {}", key.str());
}

std::string ResourceDetail(const Status& status, const NodeInfo& node) {
  std::vector<std::string> texts;
  for (const framework::Shortfall& shortfall : status.shortfalls()) texts.push_back(ShortfallText(shortfall, node));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string NodeAffinityDetail(const api::Pod& pod, const NodeInfo& node) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : pod.spec.node_selector) {
    const Symbol* found = node.labels().Find(key);
    if (found && *found == value) continue;
    texts.push_back(fmt::format("nodeSelector wants {}={}, {}", key.str(), value.str(), LabelText(node, key)));
  }
  const auto& affinity = pod.spec.affinity;
  if (!affinity || !affinity->node_affinity) return fmt::format("{}", fmt::join(texts, "; "));
  const auto& required = affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  if (!required) return fmt::format("{}", fmt::join(texts, "; "));
  // Terms are alternatives: they count only when none of them holds.
  const api::CompiledNodeSelector compiled = api::CompiledNodeSelector::CompileLazily(*required);
  if (compiled.Match(node.labels(), node.name()) == api::NodeMatch::kMatch) {
    return fmt::format("{}", fmt::join(texts, "; "));
  }
  const bool several = compiled.terms().size() > 1;
  for (size_t i = 0; i < compiled.terms().size(); ++i) {
    const std::string unmet = UnmetText(compiled.terms()[i], node);
    if (!unmet.empty()) {
      texts.push_back(several ? fmt::format("affinity term {} {}", i + 1, unmet) : fmt::format("affinity {}", unmet));
    }
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string DetailFinder::Taints(const NodeInfo& node) const {
  const bool comparisons = handle_.gates().Enabled("TaintTolerationComparisonOperators");
  std::vector<std::string> texts;
  for (const api::Taint& taint : node.taints()) {
    if (api::ForbidsScheduling(taint) && !api::AnyTolerates(pod_.pod().spec.tolerations, taint, comparisons)) {
      texts.push_back(taint.ToString());
    }
  }
  if (texts.empty()) return {};
  return fmt::format("{} {} is not tolerated", texts.size() == 1 ? "taint" : "each of the taints",
                     fmt::join(texts, ", "));
}

std::string DetailFinder::Ports(const NodeInfo& node) const {
  std::vector<std::string> texts;
  for (const framework::HostPort& wanted : pod_.host_ports()) {
    if (!node.used_ports().Conflicts(wanted)) continue;
    for (const PodInfoPtr& other : node.pods()) {
      framework::HostPorts theirs;
      for (const framework::HostPort& port : other->host_ports()) theirs.Add(port);
      if (!theirs.Conflicts(wanted)) continue;
      texts.push_back(fmt::format("port {}/{} is taken by {}", wanted.port, wanted.protocol, other->Key()));
      break;
    }
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string DetailFinder::Of(const Status& status, const NodeInfo& node) const {
  const std::string_view plugin = status.plugin();
  if (!status.shortfalls().empty()) return ResourceDetail(status, node);
  if (plugin == "TaintToleration") return Taints(node);
  if (plugin == "NodeUnschedulable") return "spec.unschedulable is set (cordoned)";
  if (plugin == "NodeAffinity") return NodeAffinityDetail(pod_.pod(), node);
  if (plugin == "NodePorts") return Ports(node);
  if (plugin == "PodTopologySpread") return topology_.Spread(node);
  if (plugin == "InterPodAffinity") return topology_.Affinity(node);
  if (plugin == "VolumeBinding" || plugin == "VolumeZone") return VolumeDetail(handle_, pod_, node);
  if (plugin == "VolumeRestrictions") return ClaimUsersDetail(handle_, pod_);
  return {};
}

}  // namespace berth::explain
