#include "input/quotas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "api/node.h"
#include "api/policy.h"
#include "api/storage.h"
#include "framework/pod_resources.h"

namespace berth::input {

namespace {

// What one pod uses of a quota, by the names that quotas use.
std::map<std::string, api::Quantity> ChargeOf(const api::Pod& pod) {
  std::map<std::string, api::Quantity> charge;
  charge["pods"] = api::Quantity::FromInt(1);
  charge["count/pods"] = api::Quantity::FromInt(1);
  for (const auto& [name, quantity] : framework::PodRequests(pod, {})) {
    charge[fmt::format("requests.{}", name.str())] = quantity;
    charge[std::string(name.str())] = quantity;
  }
  for (const auto& [name, quantity] : framework::PodLimits(pod)) {
    charge[fmt::format("limits.{}", name.str())] = quantity;
  }
  return charge;
}

// What a claim uses, also by class.
std::map<std::string, api::Quantity> ChargeOf(const api::PersistentVolumeClaim& claim) {
  std::map<std::string, api::Quantity> charge;
  const auto* size = claim.spec.resources.requests.Find(Symbol("storage"));
  const auto add = [&](const std::string& prefix) {
    charge[prefix + "persistentvolumeclaims"] = api::Quantity::FromInt(1);
    if (size) charge[prefix + "requests.storage"] = *size;
  };
  add("");
  charge["count/persistentvolumeclaims"] = api::Quantity::FromInt(1);
  const std::string storage_class = claim.spec.storage_class_name.value_or("");
  if (!storage_class.empty()) add(storage_class + ".storageclass.storage.k8s.io/");
  return charge;
}

bool IsBestEffort(const api::Pod& pod) {
  const auto none = [](const std::vector<api::Container>& containers) {
    return std::all_of(containers.begin(), containers.end(), [](const api::Container& container) {
      return container.resources.requests.empty() && container.resources.limits.empty();
    });
  };
  return none(pod.spec.containers) && none(pod.spec.init_containers) && !pod.spec.resources;
}

bool MatchesScope(const api::Pod& pod, const api::ScopeRequirement& scope) {
  // A pod's activeDeadlineSeconds is not kept: no pod is taken to have one.
  if (scope.scope_name == "Terminating") return false;
  if (scope.scope_name == "NotTerminating") return true;
  if (scope.scope_name == "BestEffort") return IsBestEffort(pod);
  if (scope.scope_name == "NotBestEffort") return !IsBestEffort(pod);
  if (scope.scope_name != "PriorityClass") return false;
  const std::string& name = pod.spec.priority_class_name;
  const bool listed = std::find(scope.values.begin(), scope.values.end(), name) != scope.values.end();
  if (scope.op == "In") return listed;
  if (scope.op == "NotIn") return !listed;
  return (scope.op == "DoesNotExist") == name.empty();
}

// The resources that every container must specify when a quota counts them.
bool MustBeNamed(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "requests.cpu" || resource == "requests.memory" ||
         resource == "limits.cpu" || resource == "limits.memory";
}

bool Names(const api::Container& container, std::string_view resource) {
  const bool limit = resource.starts_with("limits.");
  const api::ResourceList& amounts = limit ? container.resources.limits : container.resources.requests;
  return amounts.Contains(Symbol(resource.substr(resource.find('.') + 1)));  // "cpu" has no dot and is used whole
}

// "c, init", by name: the containers that request none of it.
std::string ContainersWithout(const api::Pod& pod, std::string_view resource) {
  std::set<std::string> names;
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const api::Container& container : *containers) {
      if (!Names(container, resource)) names.insert(container.name);
    }
  }
  return fmt::format("{}", fmt::join(names, ","));
}

class QuotaLedger {
 public:
  explicit QuotaLedger(std::shared_ptr<const api::ResourceQuota> quota) : quota_(std::move(quota)) {
    for (const std::string& scope : quota_->spec.scopes) scopes_.push_back({scope, "Exists", {}});
    if (!quota_->spec.scope_selector) return;
    const auto& more = quota_->spec.scope_selector->match_expressions;
    scopes_.insert(scopes_.end(), more.begin(), more.end());
  }

  bool Covers(const api::Pod& pod) const {
    return std::all_of(scopes_.begin(), scopes_.end(),
                       [&](const api::ScopeRequirement& scope) { return MatchesScope(pod, scope); });
  }

  // Scopes apply to pods only.
  bool CoversClaims() const { return scopes_.empty(); }

  void Charge(const std::map<std::string, api::Quantity>& charge, bool back = false) {
    for (const auto& [name, quantity] : charge) {
      if (!quota_->spec.hard.Contains(Symbol(name))) continue;
      back ? used_[name].Sub(quantity) : used_[name].Add(quantity);
    }
  }

  // Empty when the pod may be created.
  std::string Refusal(const api::Pod& pod, const std::map<std::string, api::Quantity>& charge) const {
    if (const std::string unnamed = Unnamed(pod); !unnamed.empty()) {
      return fmt::format("failed quota: {}: must specify {}", quota_->metadata.name, unnamed);
    }
    return Excess(charge);
  }

  // Empty when there is enough left.
  std::string Excess(const std::map<std::string, api::Quantity>& charge) const {
    std::vector<std::string> requested, used, limited;
    for (const auto& [symbol, hard] : quota_->spec.hard) {
      const std::string name(symbol.str());
      const auto wanted = charge.find(name);
      if (wanted == charge.end()) continue;
      const auto so_far = used_.find(name);
      api::Quantity sum = so_far == used_.end() ? api::Quantity() : so_far->second;
      const std::string before = sum.ToString();
      sum.Add(wanted->second);
      if (sum <= hard || wanted->second.IsZero()) continue;
      requested.push_back(fmt::format("{}={}", name, wanted->second.ToString()));
      used.push_back(fmt::format("{}={}", name, before));
      limited.push_back(fmt::format("{}={}", name, hard.ToString()));
    }
    if (requested.empty()) return {};
    return fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", quota_->metadata.name,
                       fmt::join(requested, ","), fmt::join(used, ","), fmt::join(limited, ","));
  }

 private:
  // "cpu for: c; memory for: c,init": the required resources that containers do not specify.
  std::string Unnamed(const api::Pod& pod) const {
    std::string text;
    if (pod.spec.resources && !(pod.spec.resources->requests.empty() && pod.spec.resources->limits.empty())) return {};
    std::set<std::string> counted;
    for (const auto& [symbol, hard] : quota_->spec.hard) {
      if (MustBeNamed(symbol.str())) counted.insert(std::string(symbol.str()));
    }
    for (const std::string& resource : counted) {
      const std::string without = ContainersWithout(pod, resource);
      if (!without.empty()) text += fmt::format("{}{} for: {}", text.empty() ? "" : "; ", resource, without);
    }
    return text;
  }

  std::shared_ptr<const api::ResourceQuota> quota_;
  std::vector<api::ScopeRequirement> scopes_;
  std::map<std::string, api::Quantity> used_;
};

}  // namespace

struct NamespaceRules::State {
  std::map<Symbol, std::vector<QuotaLedger>> quotas;  // by namespace
  std::set<Symbol> going;                             // namespaces that are being deleted

  void Charge(const api::Pod& pod, bool back) {
    const auto found = quotas.find(pod.metadata.namespace_);
    if (found == quotas.end()) return;
    const auto charge = ChargeOf(pod);
    for (QuotaLedger& ledger : found->second) {
      if (ledger.Covers(pod)) ledger.Charge(charge, back);
    }
  }

  std::string GoingAway(const Symbol& name_space) const {
    if (!going.contains(name_space)) return {};
    return fmt::format("unable to create new content in namespace {} because it is being terminated", name_space.str());
  }

  // Charges the claim, or returns why it must not be created.
  std::string Admit(const api::PersistentVolumeClaim& claim, bool exists) {
    const Symbol& name_space = claim.metadata.namespace_;
    if (std::string why = GoingAway(name_space); !why.empty() && !exists) return why;
    const auto found = quotas.find(name_space);
    if (found == quotas.end()) return {};
    const auto charge = ChargeOf(claim);
    for (const QuotaLedger& ledger : found->second) {
      if (exists || !ledger.CoversClaims()) continue;
      if (std::string why = ledger.Excess(charge); !why.empty()) return why;
    }
    for (QuotaLedger& ledger : found->second) {
      if (ledger.CoversClaims()) ledger.Charge(charge);
    }
    return {};
  }

  std::string Refusal(const api::Pod& pod) const {
    const Symbol& name_space = pod.metadata.namespace_;
    if (std::string why = GoingAway(name_space); !why.empty()) return why;
    const auto found = quotas.find(name_space);
    if (found == quotas.end()) return {};
    const auto charge = ChargeOf(pod);
    for (const QuotaLedger& ledger : found->second) {
      if (!ledger.Covers(pod)) continue;
      if (std::string why = ledger.Refusal(pod, charge); !why.empty()) return why;
    }
    return {};
  }
};

NamespaceRules::NamespaceRules() : state_(std::make_unique<State>()) {}
NamespaceRules::~NamespaceRules() = default;
NamespaceRules::NamespaceRules(NamespaceRules&&) noexcept = default;
NamespaceRules& NamespaceRules::operator=(NamespaceRules&&) noexcept = default;

void NamespaceRules::Add(const api::Object& object) {
  if (auto quota = object.Share<api::ResourceQuota>()) {
    const Symbol name_space = quota->metadata.namespace_;
    state_->quotas[name_space].emplace_back(std::move(quota));
  } else if (const auto* name_space = object.As<api::Namespace>();
             name_space && name_space->metadata.deletion_timestamp) {
    state_->going.insert(Symbol(name_space->metadata.name));
  }
}

bool NamespaceRules::Concerns(const api::Pod& pod) const {
  return state_->quotas.contains(pod.metadata.namespace_) || state_->going.contains(pod.metadata.namespace_);
}

void NamespaceRules::Charge(const api::Pod& pod) { state_->Charge(pod, /*back=*/false); }
void NamespaceRules::Release(const api::Pod& pod) { state_->Charge(pod, /*back=*/true); }

std::string NamespaceRules::Admit(const api::Pod& pod) {
  const std::string why = state_->Refusal(pod);
  if (!why.empty()) return fmt::format("pods \"{}\" is forbidden: {}", pod.metadata.name, why);
  Charge(pod);
  return {};
}

void NamespaceRules::Charge(const api::PersistentVolumeClaim& claim) { state_->Admit(claim, /*exists=*/true); }

std::string NamespaceRules::Admit(const api::PersistentVolumeClaim& claim) {
  const std::string why = state_->Admit(claim, /*exists=*/false);
  if (why.empty()) return {};
  return fmt::format("persistentvolumeclaims \"{}\" is forbidden: {}", claim.metadata.name, why);
}

NamespaceRules RulesOf(const std::vector<api::Object>& objects) {
  NamespaceRules rules;
  for (const api::Object& object : objects) rules.Add(object);
  for (const api::Object& object : objects) {
    const auto* pod = object.As<api::Pod>();
    if (pod && !api::IsTerminated(*pod)) rules.Charge(*pod);
  }
  return rules;
}

namespace {

// Why the pod's claims cannot be created; empty when they can.
std::string RefusedClaimOf(const api::Pod& pod, const std::map<std::string, std::string>& refused) {
  for (const api::Volume& volume : pod.spec.volumes) {
    const auto& claim = volume.from().persistent_volume_claim;
    if (!claim) continue;
    const auto found = refused.find(fmt::format("{}/{}", pod.metadata.namespace_.str(), claim->claim_name));
    if (found != refused.end()) return found->second;
  }
  return {};
}

// Claims that the API server would not create, by namespace and name, with the reason.
std::map<std::string, std::string> RefuseClaims(const ClusterDraft& draft, NamespaceRules& rules) {
  std::map<std::string, std::string> refused;
  for (const bool fresh : {false, true}) {
    for (const DraftObject& found : draft.objects()) {
      const auto* claim = found.object.As<api::PersistentVolumeClaim>();
      if (!claim || found.is_new != fresh) continue;
      if (!fresh) {
        rules.Charge(*claim);
      } else if (std::string why = rules.Admit(*claim); !why.empty()) {
        refused.emplace(api::KeyOf(claim->metadata), std::move(why));
      }
    }
  }
  return refused;
}

}  // namespace

std::vector<RefusedPod> RefusePods(ClusterDraft& draft) {
  std::vector<RefusedPod> refused;
  NamespaceRules rules;
  for (const DraftObject& found : draft.objects()) rules.Add(found.object);
  const std::map<std::string, std::string> claims = RefuseClaims(draft, rules);
  std::vector<std::shared_ptr<const api::Pod>> fresh;
  for (const DraftObject& found : draft.objects()) {
    auto pod = found.object.Share<api::Pod>();
    if (!pod || api::IsTerminated(*pod) || !rules.Concerns(*pod)) continue;
    if (found.is_new && pod->spec.node_name.empty()) {
      fresh.push_back(std::move(pod));
    } else {
      rules.Charge(*pod);
    }
  }
  std::set<std::string> gone;
  for (const auto& [key, why] : claims) gone.insert("PersistentVolumeClaim " + key);
  for (std::shared_ptr<const api::Pod>& pod : fresh) {
    std::string why = RefusedClaimOf(*pod, claims);
    if (why.empty()) why = rules.Admit(*pod);
    if (why.empty()) continue;
    gone.insert("Pod " + api::KeyOf(pod->metadata));
    refused.push_back({std::move(pod), std::move(why)});
  }
  if (!gone.empty()) draft.RemoveIf([&](const DraftObject& found) { return gone.contains(found.Who()); });
  return refused;
}

}  // namespace berth::input
