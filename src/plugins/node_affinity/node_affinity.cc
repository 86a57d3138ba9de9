#include "plugins/node_affinity/node_affinity.h"

#include <algorithm>
#include <set>
#include <string>

#include "plugins/args.h"
#include "plugins/hints.h"
#include "plugins/signature_text.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::CycleState;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

using NameSet = std::set<std::string>;

const api::NodeAffinity* AffinityOf(const api::Pod& pod) {
  return pod.spec.affinity && pod.spec.affinity->node_affinity ? &*pod.spec.affinity->node_affinity : nullptr;
}

// Null when the pod has no required node affinity.
const api::NodeSelector* RequiredTermsOf(const api::Pod& pod) {
  const api::NodeAffinity* affinity = AffinityOf(pod);
  if (!affinity || !affinity->required_during_scheduling_ignored_during_execution) return nullptr;
  return &*affinity->required_during_scheduling_ignored_during_execution;
}

std::span<const api::PreferredSchedulingTerm> PreferredTermsOf(const api::Pod& pod) {
  const api::NodeAffinity* affinity = AffinityOf(pod);
  if (!affinity) return {};
  return affinity->preferred_during_scheduling_ignored_during_execution;
}

api::RequiredNodeAffinity CompileRequired(const api::Pod& pod) {
  return api::RequiredNodeAffinity(pod.spec.node_selector, RequiredTermsOf(pod));
}

// The node names a term allows; unset when it does not restrict them.
std::optional<NameSet> NamesOf(const api::NodeSelectorTerm& term) {
  std::optional<NameSet> names;
  for (const api::NodeSelectorRequirement& field : term.match_fields) {
    if (field.key != "metadata.name" || field.op != "In") continue;
    NameSet listed;
    for (const Symbol& value : field.values) {
      // The conditions of one term must all hold: keep what all of them list.
      if (!names || names->contains(std::string(value.str()))) listed.emplace(value.str());
    }
    names = std::move(listed);
  }
  return names;
}

// The node names that the terms allow together; unset as soon as one term does not restrict them.
std::optional<NameSet> NamesOf(const api::NodeSelector& selector) {
  std::optional<NameSet> all;
  for (const api::NodeSelectorTerm& term : selector.node_selector_terms) {
    std::optional<NameSet> names = NamesOf(term);
    if (!names) return std::nullopt;
    if (!all) all.emplace();
    all->merge(*names);
  }
  return all;
}

void AppendTerm(std::string& text, const api::NodeSelectorTerm& term) {
  AppendRequirements(text, term.match_expressions);
  AppendRequirements(text, term.match_fields);
}

}  // namespace

NodeAffinity::NodeAffinity(framework::Handle& handle)
    : handle_(handle), required_key_(handle.NewStateKey<Required>()), preferred_key_(handle.NewStateKey<Preferred>()) {}

Result<std::unique_ptr<framework::Plugin>> NodeAffinity::Create(const config::PluginArgs& args,
                                                                framework::Handle& handle) {
  const Result<config::NodeAffinityArgs> mine = ReadArgs<config::NodeAffinityArgs>(args, kName);
  if (!mine) return mine.error();
  std::unique_ptr<NodeAffinity> plugin(new NodeAffinity(handle));
  if (!mine->added_affinity) return std::unique_ptr<framework::Plugin>(std::move(plugin));

  const auto parsing = [](std::string_view field, const Error& error) {
    return Error{error.code, "parsing addedAffinity." + std::string(field) + ": " + error.message};
  };
  const api::NodeAffinity& added = *mine->added_affinity;
  if (const auto& required = added.required_during_scheduling_ignored_during_execution) {
    Result<api::CompiledNodeSelector> compiled = api::CompiledNodeSelector::Compile(*required);
    if (!compiled) return parsing("requiredDuringSchedulingIgnoredDuringExecution", compiled.error());
    plugin->added_required_ = *std::move(compiled);
  }
  if (const auto& preferred = added.preferred_during_scheduling_ignored_during_execution; !preferred.empty()) {
    Result<api::CompiledPreferredTerms> compiled = api::CompiledPreferredTerms::Compile(preferred);
    if (!compiled) return parsing("preferredDuringSchedulingIgnoredDuringExecution", compiled.error());
    plugin->added_preferred_ = *std::move(compiled);
  }
  return std::unique_ptr<framework::Plugin>(std::move(plugin));
}

framework::PreFilterResult NodeAffinity::PreFilter(CycleState& state, const PodInfo& pod) const {
  const api::NodeSelector* terms = RequiredTermsOf(pod.pod());
  if (!terms && !added_required_ && pod.pod().spec.node_selector.empty()) return Status::Skip();

  auto required = std::make_unique<Required>();
  required->affinity = CompileRequired(pod.pod());
  state.Put(required_key_, std::move(required));
  if (!terms) return Status::Success();

  std::optional<NameSet> names = NamesOf(*terms);
  if (!names) return Status::Success();
  if (names->empty()) return Status::UnschedulableAndUnresolvable("pod affinity terms conflict");
  framework::PreFilterResult result;
  result.node_names = std::move(names);
  return result;
}

bool NodeAffinity::MatchesAddedAffinity(const api::Node& node) const {
  return !added_required_ || added_required_->Match(node.metadata.labels, node.metadata.name) == api::NodeMatch::kMatch;
}

Status NodeAffinity::Filter(const CycleState& state, const PodInfo& pod, const framework::NodeInfo& node) const {
  if (!MatchesAddedAffinity(node.node())) {
    return Status::UnschedulableAndUnresolvable("node(s) didn't match scheduler-enforced node affinity");
  }
  const Required* required = state.Find(required_key_);
  // PreFilter may be disabled separately. Terms that do not parse match nothing and are not an error here.
  const api::NodeMatch match = required ? required->affinity.Match(node.labels(), node.name())
                                        : CompileRequired(pod.pod()).Match(node.labels(), node.name());
  if (match == api::NodeMatch::kMatch) return Status::Success();
  return Status::UnschedulableAndUnresolvable("node(s) didn't match Pod's node affinity/selector");
}

Status NodeAffinity::PreScore(CycleState& state, const PodInfo& pod,
                              std::span<const framework::NodeInfo* const>) const {
  const std::span<const api::PreferredSchedulingTerm> terms = PreferredTermsOf(pod.pod());
  if (terms.empty() && !added_preferred_) return Status::Skip();
  Result<api::CompiledPreferredTerms> compiled = api::CompiledPreferredTerms::Compile(terms);
  if (!compiled) return Status::FromError(compiled.error());
  auto preferred = std::make_unique<Preferred>();
  preferred->terms = *std::move(compiled);
  state.Put(preferred_key_, std::move(preferred));
  return Status::Success();
}

framework::ScoreResult NodeAffinity::Score(const CycleState& state, const PodInfo& pod,
                                           const framework::NodeInfo& node) const {
  const int64_t added = added_preferred_ ? added_preferred_->Score(node.labels(), node.name()) : 0;
  if (const Preferred* preferred = state.Find(preferred_key_)) {
    return added + preferred->terms.Score(node.labels(), node.name());
  }
  // PreScore may be disabled separately.
  const Result<api::CompiledPreferredTerms> compiled =
      api::CompiledPreferredTerms::Compile(PreferredTermsOf(pod.pod()));
  if (!compiled) return Status::FromError(compiled.error());
  return added + compiled->Score(node.labels(), node.name());
}

QueueingHint NodeAffinity::AfterNodeChange(const PodInfo& pod, const api::Node* before, const api::Node* after) const {
  if (!after) return QueueingHint::kQueue;
  if (!MatchesAddedAffinity(*after)) return QueueingHint::kSkip;
  const api::RequiredNodeAffinity required = CompileRequired(pod.pod());
  switch (required.Match(after->metadata.labels, after->metadata.name)) {
    case api::NodeMatch::kError:
      return QueueingHint::kQueue;
    case api::NodeMatch::kNoMatch:
      return QueueingHint::kSkip;
    case api::NodeMatch::kMatch:
      break;
  }
  if (!before) return QueueingHint::kQueue;
  const bool matched_before = required.Match(before->metadata.labels, before->metadata.name) == api::NodeMatch::kMatch;
  return QueueIf(!matched_before);
}

std::vector<framework::ClusterEventWithHint> NodeAffinity::EventsToRegister() const {
  return {{{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeLabel},
           HintOf(this, &NodeAffinity::AfterNodeChange)}};
}

bool NodeAffinity::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  std::string selector;
  for (const auto& [key, value] : pod.pod().spec.node_selector) {
    AppendField(selector, key.str());
    AppendField(selector, value.str());
  }
  signature.Add("spec.nodeSelector", selector);

  std::string affinity;
  if (const api::NodeSelector* required = RequiredTermsOf(pod.pod())) {
    // An empty list of terms differs from none: it selects no node.
    AppendField(affinity, static_cast<int64_t>(required->node_selector_terms.size()));
    for (const api::NodeSelectorTerm& term : required->node_selector_terms) AppendTerm(affinity, term);
  } else {
    AppendField(affinity, int64_t{-1});
  }
  for (const api::PreferredSchedulingTerm& term : PreferredTermsOf(pod.pod())) {
    AppendField(affinity, int64_t{term.weight});
    AppendTerm(affinity, term.preference);
  }
  signature.Add("spec.affinity.nodeAffinity", affinity);
  return true;
}

}  // namespace berth::plugins
