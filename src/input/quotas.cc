#include "input/quotas.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "api/policy.h"
#include "framework/pod_resources.h"

namespace berth::input {

namespace {

// What one pod takes of a quota, by the names that quotas use.
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

bool IsBestEffort(const api::Pod& pod) {
  const auto none = [](const std::vector<api::Container>& containers) {
    return std::all_of(containers.begin(), containers.end(), [](const api::Container& container) {
      return container.resources.requests.empty() && container.resources.limits.empty();
    });
  };
  return none(pod.spec.containers) && none(pod.spec.init_containers) && !pod.spec.resources;
}

bool MatchesScope(const api::Pod& pod, const api::ScopeRequirement& scope) {
  // What a pod has to be finished by is not kept: none is taken to have such a time.
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

// The resources that a container has to name when a quota counts them.
bool MustBeNamed(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "requests.cpu" || resource == "requests.memory" ||
         resource == "limits.cpu" || resource == "limits.memory";
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

  void Charge(const std::map<std::string, api::Quantity>& charge, bool back = false) {
    for (const auto& [name, quantity] : charge) {
      if (!quota_->spec.hard.Contains(Symbol(name))) continue;
      back ? used_[name].Sub(quantity) : used_[name].Add(quantity);
    }
  }

  // Empty when the pod may be created.
  std::string Refusal(const api::Pod& pod, const std::map<std::string, api::Quantity>& charge) const {
    std::vector<std::string> unnamed, requested, used, limited;
    for (const auto& [symbol, hard] : quota_->spec.hard) {
      const std::string name(symbol.str());
      const auto wanted = charge.find(name);
      if (wanted == charge.end()) {
        if (MustBeNamed(name)) unnamed.push_back(name);
        continue;
      }
      const auto so_far = used_.find(name);
      api::Quantity sum = so_far == used_.end() ? api::Quantity() : so_far->second;
      const std::string before = sum.ToString();
      sum.Add(wanted->second);
      if (sum <= hard || wanted->second.IsZero()) continue;
      requested.push_back(fmt::format("{}={}", name, wanted->second.ToString()));
      used.push_back(fmt::format("{}={}", name, before));
      limited.push_back(fmt::format("{}={}", name, hard.ToString()));
    }
    const std::string who = fmt::format("pods \"{}\" is forbidden: ", pod.metadata.name);
    if (!unnamed.empty()) {
      return fmt::format("{}failed quota: {}: must specify {}", who, quota_->metadata.name, fmt::join(unnamed, ","));
    }
    if (requested.empty()) return {};
    return fmt::format("{}exceeded quota: {}, requested: {}, used: {}, limited: {}", who, quota_->metadata.name,
                       fmt::join(requested, ","), fmt::join(used, ","), fmt::join(limited, ","));
  }

 private:
  std::shared_ptr<const api::ResourceQuota> quota_;
  std::vector<api::ScopeRequirement> scopes_;
  std::map<std::string, api::Quantity> used_;
};

class QuotaBook {
 public:
  // Whatever is no quota is passed over.
  void AddQuota(const api::Object& object) {
    auto quota = object.Share<api::ResourceQuota>();
    if (quota) by_namespace_[quota->metadata.namespace_].emplace_back(std::move(quota));
  }

  bool empty() const { return by_namespace_.empty(); }
  bool Concerns(const api::Pod& pod) const { return by_namespace_.contains(pod.metadata.namespace_); }

  void Charge(const api::Pod& pod, bool back = false) {
    const auto found = by_namespace_.find(pod.metadata.namespace_);
    if (found == by_namespace_.end()) return;
    const auto charge = ChargeOf(pod);
    for (QuotaLedger& ledger : found->second) {
      if (ledger.Covers(pod)) ledger.Charge(charge, back);
    }
  }

  // Charges the pod, or says why it may not be created.
  std::string Admit(const api::Pod& pod) {
    const auto found = by_namespace_.find(pod.metadata.namespace_);
    if (found == by_namespace_.end()) return {};
    const auto charge = ChargeOf(pod);
    for (const QuotaLedger& ledger : found->second) {
      if (!ledger.Covers(pod)) continue;
      if (std::string why = ledger.Refusal(pod, charge); !why.empty()) return why;
    }
    Charge(pod);
    return {};
  }

 private:
  std::map<Symbol, std::vector<QuotaLedger>> by_namespace_;
};

}  // namespace

std::vector<RefusedPod> EnforceQuotas(ClusterDraft& draft, std::vector<Rollout>& rollouts) {
  std::vector<RefusedPod> refused;
  QuotaBook book;
  for (const DraftObject& found : draft.objects()) book.AddQuota(found.object);
  if (book.empty()) return refused;
  std::unordered_set<std::string> replaced;
  for (const Rollout& rollout : rollouts) replaced.insert(rollout.old_uids.begin(), rollout.old_uids.end());
  std::vector<std::shared_ptr<const api::Pod>> fresh;
  for (const DraftObject& found : draft.objects()) {
    auto pod = found.object.Share<api::Pod>();
    if (!pod || api::IsTerminated(*pod) || !book.Concerns(*pod)) continue;
    if (found.is_new && pod->spec.node_name.empty()) {
      fresh.push_back(std::move(pod));
    } else if (!replaced.contains(pod->metadata.uid)) {
      book.Charge(*pod);
    }
  }
  std::set<std::string> gone;
  for (std::shared_ptr<const api::Pod>& pod : fresh) {
    std::string why = book.Admit(*pod);
    if (why.empty()) continue;
    gone.insert("Pod " + api::KeyOf(pod->metadata));
    refused.push_back({std::move(pod), std::move(why)});
  }
  if (!gone.empty()) draft.RemoveIf([&](const DraftObject& found) { return gone.contains(found.Who()); });
  for (Rollout& rollout : rollouts) {
    std::erase_if(rollout.new_pods, [&](const std::shared_ptr<const api::Pod>& pod) {
      std::string why = book.Admit(*pod);
      if (why.empty()) return false;
      refused.push_back({pod, std::move(why)});
      // Its turn comes after that of the others, so that as many older pods stay.
      if (!rollout.old_uids.empty()) rollout.old_uids.pop_back();
      return true;
    });
  }
  return refused;
}

QuotaGate MakeQuotaGate(const std::vector<api::Object>& objects) {
  auto book = std::make_shared<QuotaBook>();
  for (const api::Object& object : objects) book->AddQuota(object);
  if (book->empty()) return [](const api::Pod&) { return std::string(); };
  for (const api::Object& object : objects) {
    const auto* pod = object.As<api::Pod>();
    if (pod && !api::IsTerminated(*pod)) book->Charge(*pod);
  }
  return [book](const api::Pod& pod) { return book->Admit(pod); };
}

}  // namespace berth::input
