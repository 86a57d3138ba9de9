#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <algorithm>
#include <string>
#include <utility>

#include "plugins/args.h"
#include "plugins/signature_text.h"

namespace berth::plugins {

using framework::AffinityTerm;
using framework::PodInfo;
using framework::Status;

Result<std::unique_ptr<framework::Plugin>> InterPodAffinity::Create(const config::PluginArgs& args,
                                                                    framework::Handle& handle) {
  Result<config::InterPodAffinityArgs> own = ReadArgs<config::InterPodAffinityArgs>(args, kName);
  if (!own) return std::move(own).error();
  return std::unique_ptr<framework::Plugin>(new InterPodAffinity(*own, handle));
}

InterPodAffinity::InterPodAffinity(const config::InterPodAffinityArgs& args, framework::Handle& handle)
    : handle_(handle),
      args_(args),
      filter_key_(handle.NewStateKey<FilterState>()),
      score_key_(handle.NewStateKey<ScoreState>()),
      // Evicting pods does not bring matching pods.
      no_affinity_(Status::UnschedulableAndUnresolvable(std::string(kAffinityReason))),
      anti_affinity_(Status::Unschedulable(std::string(kAntiAffinityReason))),
      existing_anti_affinity_(Status::Unschedulable(std::string(kExistingAntiAffinityReason))) {}

namespace {

template <class Pod>
bool MatchesAll(std::span<const AffinityTerm> terms, const Pod& pod) {
  return !terms.empty() &&
         std::all_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) { return term.Matches(pod, nullptr); });
}

}  // namespace

bool MatchesAllTerms(std::span<const AffinityTerm> terms, const api::Pod& pod) { return MatchesAll(terms, pod); }
bool MatchesAllTerms(std::span<const AffinityTerm> terms, const PodInfo& pod) { return MatchesAll(terms, pod); }

AffinityTerm InterPodAffinity::WithNamespacesResolved(AffinityTerm term) const {
  // An empty selector matches every namespace as it is.
  if (term.namespace_selector.matches_nothing() || term.namespace_selector.empty()) return term;
  for (const auto& [key, name_space] : handle_.objects().namespaces) {
    if (term.namespace_selector.Matches(name_space->metadata.labels)) {
      term.namespaces.emplace_back(name_space->metadata.name);
    }
  }
  std::sort(term.namespaces.begin(), term.namespaces.end());
  term.namespaces.erase(std::unique(term.namespaces.begin(), term.namespaces.end()), term.namespaces.end());
  // The selector stays in place, as in kube-scheduler v1.36: one that also matches a namespace without labels (NotIn,
  // DoesNotExist) therefore matches pods of every namespace.
  return term;
}

std::vector<AffinityTerm> InterPodAffinity::WithNamespacesResolved(std::span<const AffinityTerm> terms) const {
  std::vector<AffinityTerm> resolved;
  resolved.reserve(terms.size());
  for (const AffinityTerm& term : terms) resolved.push_back(WithNamespacesResolved(term));
  return resolved;
}

std::shared_ptr<const api::Namespace> InterPodAffinity::NamespaceOf(const PodInfo& pod) const {
  const std::shared_ptr<const api::Namespace>* found =
      handle_.objects().namespaces.FindShared("", pod.namespace_().str());
  return found != nullptr ? *found : nullptr;
}

namespace {

void AppendSelector(std::string& out, const api::Selector& selector) {
  AppendField(out, selector.matches_nothing());
  AppendField(out, selector.ToString());
}

void AppendTerm(std::string& out, const AffinityTerm& term) {
  AppendField(out, term.topology_key.str());
  AppendSelector(out, term.selector);
  AppendSelector(out, term.namespace_selector);
  AppendCount(out, term.namespaces.size());
  for (const Symbol& name_space : term.namespaces) AppendField(out, name_space.str());
}

void AppendTerms(std::string& out, std::span<const AffinityTerm> terms) {
  AppendCount(out, terms.size());
  for (const AffinityTerm& term : terms) AppendTerm(out, term);
}

void AppendTerms(std::string& out, std::span<const framework::WeightedAffinityTerm> terms) {
  AppendCount(out, terms.size());
  for (const framework::WeightedAffinityTerm& weighted : terms) {
    AppendField(out, weighted.weight);
    AppendTerm(out, weighted.term);
  }
}

}  // namespace

// kube-scheduler signs no pod with terms of its own. Here the engine keeps answers that depend on other pods current.
// Labels and namespace are always read: any placed pod may have a term about them.
bool InterPodAffinity::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  if (!pod.parse_error().empty()) return false;
  std::string identity = NewSignatureText();
  AppendField(identity, pod.namespace_().str());
  for (const auto& [key, value] : pod.labels()) {
    AppendField(identity, key.str());
    AppendField(identity, value.str());
  }
  signature.Add("InterPodAffinity.pod", identity);
  if (!pod.has_affinity_terms()) return true;

  std::string terms;
  AppendTerms(terms, pod.required_affinity_terms());
  AppendTerms(terms, pod.required_anti_affinity_terms());
  AppendTerms(terms, pod.preferred_affinity_terms());
  AppendTerms(terms, pod.preferred_anti_affinity_terms());
  signature.Add("InterPodAffinity.terms", terms);
  return true;
}

}  // namespace berth::plugins
