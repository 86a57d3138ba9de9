// Which conditions of nodeSelector and node affinity a node does not satisfy, and the labels that it lacks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/spelling.h"
#include "framework/label_text.h"
#include "plugins/node_affinity/node_affinity.h"

namespace berth::plugins {

using framework::Finding;
using framework::LabelText;
using framework::LabelValue;
using framework::NodeInfo;
using framework::Remedy;

namespace {

const api::NodeSelector* RequiredSelector(const api::Pod& pod) {
  const auto& affinity = pod.spec.affinity;
  if (!affinity || !affinity->node_affinity) return nullptr;
  const auto& required = affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  return required ? &*required : nullptr;
}

// The first condition of the term that the node does not satisfy; unset when it satisfies all.
std::optional<Finding> FirstUnmet(const api::CompiledNodeSelectorTerm& term, const NodeInfo& node) {
  for (const api::Requirement& requirement : term.labels().requirements()) {
    if (requirement.Matches(node.labels())) continue;
    const std::string wish = framework::ConditionText(requirement);
    return Finding{fmt::format("label {}", requirement.key().str()), wish, LabelValue(node, requirement.key()),
                   fmt::format("wants {}, {}", wish, LabelText(node, requirement.key()))};
  }
  for (const auto& field : term.fields()) {
    const bool same = field.is_node_name && field.value == node.name();
    if (same != field.negated) continue;
    const std::string wish = fmt::format("{}= {}", field.negated ? "!" : "", field.value.str());
    return Finding{"metadata.name", wish, node.name(),
                   fmt::format("wants metadata.name {}, the node is {}", wish, node.name())};
  }
  return std::nullopt;
}

// Labels that say where or what a node is are not proposed: relabelling does not move a node to another zone.
bool MaySet(const Symbol& key) {
  const std::string_view text = key.str();
  return !text.starts_with("topology.kubernetes.io/") && !text.starts_with("failure-domain.beta.kubernetes.io/") &&
         text != "kubernetes.io/hostname" && text != "kubernetes.io/arch" && text != "kubernetes.io/os";
}

void SetLabel(const Symbol& key, const Symbol& value, Remedy& remedy) {
  const std::string text = fmt::format("label {}={} on {}", key.str(), value.str(), remedy.node()->metadata.name);
  remedy.ChangeNode({text, fmt::format("label {}", key.str())},
                    [&](api::Node& node) { node.metadata.labels.Set(key, value); });
}

class NodeAffinityExplainer final : public framework::RejectionExplainer {
 public:
  NodeAffinityExplainer(const framework::ClusterView& cluster, const framework::PodInfo& pod)
      : cluster_(cluster), pod_(pod.pod()) {
    if (const api::NodeSelector* required = RequiredSelector(pod_)) {
      required_ = api::CompiledNodeSelector::CompileLazily(*required);
    }
  }

  std::vector<Finding> Findings(const framework::Status&, const NodeInfo& node) const override {
    std::vector<Finding> findings;
    for (const auto& [key, value] : pod_.spec.node_selector) {
      const Symbol* found = node.labels().Find(key);
      if (found && *found == value) continue;
      if (findings.size() == framework::kFew) break;
      findings.push_back({fmt::format("label {}", key.str()), std::string(value.str()), LabelValue(node, key),
                          fmt::format("nodeSelector wants {}={}, {}", key.str(), value.str(), LabelText(node, key))});
    }
    if (MeetsRequired(node)) return findings;
    // Terms are alternatives: none of them matches.
    const bool several = required_->terms().size() > 1;
    for (size_t i = 0; i < std::min(required_->terms().size(), framework::kFew); ++i) {
      std::optional<Finding> unmet = FirstUnmet(required_->terms()[i], node);
      if (!unmet) continue;
      unmet->text = several ? fmt::format("affinity term {} {}", i + 1, unmet->text) : "affinity " + unmet->text;
      findings.push_back(*std::move(unmet));
    }
    return findings;
  }

  // For nodeSelector, and for the first affinity term.
  std::vector<Remedy> Remedies(const NodeInfo& node, const Remedy& so_far) const override {
    Remedy remedy = so_far;
    for (const auto& [key, value] : pod_.spec.node_selector) {
      const Symbol* found = node.labels().Find(key);
      if (found && *found == value) continue;
      if (!MaySet(key) || remedy.steps().size() == framework::kFew) return {};
      SetLabel(key, value, remedy);
    }
    if (!MeetsRequired(node) && !required_->terms().empty()) {
      if (!SatisfyTerm(required_->terms().front(), node, remedy)) return {};
    }
    if (remedy.steps().size() == so_far.steps().size()) return {};
    return {remedy};
  }

  // A value that no node has, and similar values that some node has.
  std::vector<std::string> Hints() const override {
    LabelsThere there;
    for (const NodeInfo* node : cluster_.nodes()) {
      for (const auto& [name, value] : node->labels()) there[name.str()].insert(value.str());
    }
    std::vector<std::string> hints;
    for (const auto& [key, value] : pod_.spec.node_selector) AddHint(key, std::vector<Symbol>{value}, there, hints);
    if (!required_) return hints;
    using Operator = api::Requirement::Operator;
    for (const api::CompiledNodeSelectorTerm& term : required_->terms()) {
      for (const api::Requirement& requirement : term.labels().requirements()) {
        if (requirement.op() == Operator::kIn) AddHint(requirement.key(), requirement.values(), there, hints);
      }
    }
    return hints;
  }

 private:
  using LabelsThere = std::map<std::string_view, std::set<std::string_view>>;  // values of all nodes, by label

  template <class Values>
  static void AddHint(const Symbol& key, const Values& wanted, const LabelsThere& there,
                      std::vector<std::string>& hints) {
    if (hints.size() >= framework::kFew) return;
    const auto found = there.find(key.str());
    if (found == there.end()) {
      std::vector<std::string_view> known;
      for (const auto& [name, values] : there) known.push_back(name);
      const std::string_view near = base::NearestWord(key.str(), known);
      hints.push_back(
          fmt::format("no node has the label {}{}", key.str(), near.empty() ? "" : fmt::format("; nearest: {}", near)));
      return;
    }
    const std::set<std::string_view>& values = found->second;
    const std::vector<std::string_view> known(values.begin(), values.end());
    for (const Symbol& value : wanted) {
      if (values.contains(value.str()) || hints.size() >= framework::kFew) continue;
      const std::string_view near = base::NearestWord(value.str(), known);
      hints.push_back(fmt::format("no node has {}={}; {}: {}", key.str(), value.str(),
                                  near.empty() ? "there is" : "nearest",
                                  near.empty() ? Some(known) : std::string(near)));
    }
  }

  static std::string Some(const std::vector<std::string_view>& values) {
    constexpr size_t kShown = 5;
    const size_t shown = std::min(values.size(), kShown);
    std::string text =
        fmt::format("{}", fmt::join(values.begin(), values.begin() + static_cast<ptrdiff_t>(shown), ", "));
    return values.size() > shown ? text + fmt::format(" and {} more", values.size() - shown) : text;
  }

  bool MeetsRequired(const NodeInfo& node) const {
    return !required_ || required_->Match(node.labels(), node.name()) == api::NodeMatch::kMatch;
  }

  // False when some condition names no value to set.
  static bool SatisfyTerm(const api::CompiledNodeSelectorTerm& term, const NodeInfo& node, Remedy& remedy) {
    using Operator = api::Requirement::Operator;
    for (const api::Requirement& requirement : term.labels().requirements()) {
      if (requirement.Matches(node.labels())) continue;
      if (remedy.steps().size() == framework::kFew) return false;
      const bool names_value = requirement.op() == Operator::kIn || requirement.op() == Operator::kEquals ||
                               requirement.op() == Operator::kDoubleEquals;
      if (!names_value || !MaySet(requirement.key())) return false;
      SetLabel(requirement.key(), requirement.values().front(), remedy);
    }
    return true;
  }

  const framework::ClusterView& cluster_;
  const api::Pod& pod_;
  std::optional<api::CompiledNodeSelector> required_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> NodeAffinity::ExplainRejections(const framework::PodInfo& pod) const {
  return std::make_unique<NodeAffinityExplainer>(handle_.cluster(), pod);
}

}  // namespace berth::plugins
