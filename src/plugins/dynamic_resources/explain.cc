// Why a node's devices do not serve a pod's claims, and what change of a claim would help.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "dra/inventory.h"
#include "dra/requests.h"
#include "plugins/dynamic_resources/device_verdict.h"
#include "plugins/dynamic_resources/dynamic_resources.h"

namespace berth::plugins {
namespace {

using framework::Finding;
using framework::NodeInfo;
using framework::Remedy;
using Kind = DeviceVerdict::Kind;

// "g0, g1 and 3 more".
std::string NameList(const std::vector<std::string>& names) {
  constexpr size_t kMaxShown = 4;
  const size_t shown = names.size() > kMaxShown + 1 ? kMaxShown : names.size();
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

DeviceHolders HoldersOf(const framework::Objects& objects) {
  DeviceHolders holders;
  for (const auto& [key, claim] : objects.resource_claims) {
    if (!claim->status.allocation) continue;
    std::string who = "claim " + api::KeyOf(claim->metadata);
    const auto& users = claim->status.reserved_for;
    if (!users.empty()) {
      who += fmt::format(" (pod {}{})", users.front().name,
                         users.size() == 1 ? "" : fmt::format(" and {} more", users.size() - 1));
    }
    for (const auto& result : claim->status.allocation->devices.results) {
      holders[{result.driver, result.pool, result.device}] = who;
    }
  }
  return holders;
}

// What can be said about a request, or an alternative of one, on a node.
struct RequestVerdict {
  dra::RequestView view;
  std::string name;  // "r", "r/s"
  size_t request = 0;
  std::optional<size_t> alternative;
  size_t total = 0;
  std::vector<const dra::Pool::Device*> good;
  std::vector<std::pair<std::string, std::vector<std::string>>> refused;  // why, and which devices
  std::map<size_t, size_t> by_selector;                                   // how many would do without it
  std::vector<api::DeviceTaint> taints;                                   // of the first device that is tainted
  size_t tainted = 0;

  size_t wanted() const { return view.wants_all() ? std::max<size_t>(total, 1) : static_cast<size_t>(view.count); }
};

class DeviceExplainer final : public framework::RejectionExplainer {
 public:
  DeviceExplainer(dra::Inventory& inventory, const framework::Objects& objects, std::shared_ptr<CycleClaims> cycle,
                  std::function<dra::ClaimPtr(const NodeInfo&)> extended)
      : inventory_(inventory),
        holders_(HoldersOf(objects)),
        judge_(inventory, holders_),
        cycle_(std::move(cycle)),
        extended_(std::move(extended)) {}

  std::vector<Finding> Findings(const framework::Status& status, const NodeInfo& node) const override {
    std::vector<Finding> findings;
    if (!cycle_) return findings;
    // The devices would do; what they take of the node's own resources does not fit.
    if (!status.shortfalls().empty()) return framework::ShortfallFindings(status, node);
    if (status.Message().find("node allocatable resource claim") != std::string::npos) return findings;
    if (status.Message() == "resourceclaim not available on the node") AddUnavailable(node, findings);
    const Result<std::vector<dra::PoolPtr>>& pools = inventory_.pools().PoolsOf(node.shared_node(), node.index()).pools;
    if (!pools) return findings;
    for (const dra::PoolPtr& pool : *pools) {
      if (pool->usable()) continue;
      findings.push_back(
          {.subject = fmt::format("pool {}/{}", pool->key.first, pool->key.second),
           .asked = "usable",
           .there = "",
           .text = fmt::format("nothing is allocated from pool {}/{}: {}", pool->key.first, pool->key.second,
                               pool->incomplete ? "some of its slices are missing" : pool->invalid_reason)});
    }
    for (const dra::ClaimPtr& claim : Unallocated(node)) AddClaim(*claim, *pools, findings);
    return findings;
  }

  std::vector<Remedy> Remedies(const NodeInfo& node, const Remedy& so_far) const override {
    std::vector<Remedy> remedies;
    if (!cycle_) return remedies;
    const Result<std::vector<dra::PoolPtr>>& pools = inventory_.pools().PoolsOf(node.shared_node(), node.index()).pools;
    if (!pools) return remedies;
    for (size_t i = 0; i < cycle_->user_claims; ++i) {
      const api::ResourceClaim& claim = *cycle_->claims[i];
      if (claim.status.allocation) continue;
      for (const RequestVerdict& verdict : Judge(claim, *pools)) Propose(claim, verdict, so_far, remedies);
      for (size_t c = 0; c < claim.spec.devices.constraints.size(); ++c) {
        const api::DeviceConstraint& constraint = claim.spec.devices.constraints[c];
        const std::string what = constraint.match_attribute
                                     ? "matchAttribute " + *constraint.match_attribute
                                     : "distinctAttribute " + constraint.distinct_attribute.value_or("");
        Change(
            claim, {fmt::format("claim {}: no {}", claim.metadata.name, what), "claim constraint", 1}, so_far,
            [c](api::ResourceClaimSpec& spec) {
              spec.devices.constraints.erase(spec.devices.constraints.begin() + static_cast<ptrdiff_t>(c));
            },
            remedies);
      }
    }
    return remedies;
  }

  std::vector<std::string> Hints() const override {
    if (cycle_) return FailingSelectors();
    std::vector<std::string> names;
    for (const auto& [name, device_class] : inventory_.classes()) names.push_back(name);
    return {names.empty() ? "the cluster has no device class" : "device classes there are: " + NameList(names)};
  }

 private:
  using Pools = std::vector<dra::PoolPtr>;

  // A selector that fails for one device ends the whole attempt, whatever other devices there are: each such selector,
  // with a device that it fails for and what that device has.
  std::vector<std::string> FailingSelectors() const {
    std::vector<std::string> told;
    for (size_t i = 0; i < cycle_->user_claims; ++i) {
      const api::ResourceClaim& claim = *cycle_->claims[i];
      if (claim.status.allocation) continue;
      for (const api::DeviceRequest& request : claim.spec.devices.requests) {
        if (request.exactly) NoteFailing(claim, dra::RequestView::Of(request.name, *request.exactly), told);
        for (const api::DeviceSubRequest& alternative : request.first_available) {
          NoteFailing(claim, dra::RequestView::Of(alternative), told);
        }
      }
    }
    return told;
  }

  void NoteFailing(const api::ResourceClaim& claim, const dra::RequestView& request,
                   std::vector<std::string>& told) const {
    const auto device_class = inventory_.classes().find(*request.device_class_name);
    if (device_class == inventory_.classes().end()) return;
    const std::string of_class = "class " + *request.device_class_name;
    const std::string of_claim = fmt::format("claim {}, request {}", api::KeyOf(claim.metadata), *request.name);
    for (const auto& [name, slice] : inventory_.pools().slices()) {
      for (size_t d = 0; d < slice->ids.size(); ++d) {
        const std::optional<bool> in_class = Asks(device_class->second->spec.selectors, of_class, *slice, d, told);
        if (!in_class) return;
        if (*in_class && !Asks(*request.selectors, of_claim, *slice, d, told)) return;
      }
    }
  }

  // Unset when a selector fails for the device: then it is told.
  std::optional<bool> Asks(const std::vector<api::DeviceSelector>& selectors, const std::string& whose,
                           const dra::Slice& slice, size_t d, std::vector<std::string>& told) const {
    const api::Device& device = slice.spec().devices[d];
    for (const api::DeviceSelector& selector : selectors) {
      if (!selector.cel) continue;
      const auto compiled = inventory_.selectors().Compile(selector.cel->expression);
      if (!compiled->program) continue;
      const dra::SelectorAnswers::Answer& answer =
          slice.answers[d].Ask(compiled, inventory_.selectors().features(), slice.spec().driver, device);
      if (!answer.error.empty()) {
        std::vector<std::string> has;
        for (const auto& [attribute, value] : device.attributes) has.push_back(attribute);
        for (const auto& [capacity, value] : device.capacity) has.push_back(capacity);
        told.push_back(
            fmt::format("{}: the selector `{}` fails for device {}/{}/{}: {}; the device has {}. A failure ends the "
                        "attempt: ask with "
                        "has() or .? for what a device may lack",
                        whose, selector.cel->expression, slice.spec().driver, slice.spec().pool.name, device.name,
                        answer.error, has.empty() ? "no attributes and no capacity" : NameList(has)));
        return std::nullopt;
      }
      if (!answer.matches) return false;
    }
    return true;
  }

  std::vector<dra::ClaimPtr> Unallocated(const NodeInfo& node) const {
    std::vector<dra::ClaimPtr> claims;
    for (size_t i = 0; i < cycle_->user_claims; ++i) {
      if (!cycle_->claims[i]->status.allocation) claims.push_back(cycle_->claims[i]);
    }
    if (dra::ClaimPtr extended = extended_(node)) claims.push_back(std::move(extended));
    return claims;
  }

  void AddUnavailable(const NodeInfo& node, std::vector<Finding>& findings) const {
    for (size_t i = 0; i < cycle_->claims.size(); ++i) {
      const api::ResourceClaim& claim = *cycle_->claims[i];
      const std::optional<api::CompiledNodeSelector>& usable = cycle_->available_on[i];
      if (!claim.status.allocation) continue;
      const bool elsewhere =
          usable && usable->Match(node.node().metadata.labels, node.name()) != api::NodeMatch::kMatch;
      std::vector<std::string> names;
      for (const auto& result : claim.status.allocation->devices.results) {
        names.push_back(fmt::format("{}/{}/{}", result.driver, result.pool, result.device));
      }
      findings.push_back({.subject = "claim " + api::KeyOf(claim.metadata),
                          .asked = "its devices",
                          .there = "",
                          .text = fmt::format("claim {} has {}, which {}", api::KeyOf(claim.metadata), NameList(names),
                                              elsewhere ? "cannot be used here" : "could not be prepared")});
    }
  }

  RequestVerdict JudgeRequest(const dra::RequestView& view, const Pools& pools) const {
    RequestVerdict verdict{.view = view};
    std::map<std::string, size_t> places;
    for (const dra::PoolPtr& pool : pools) {
      if (!pool->usable()) continue;
      for (const dra::Pool::Device& device : pool->devices) {
        const DeviceVerdict one = judge_.Judge(view, *pool, device);
        if (one.kind != Kind::kClass) ++verdict.total;
        if (one.kind == Kind::kGood) verdict.good.push_back(&device);
        if (one.kind == Kind::kSelector) ++verdict.by_selector[one.selector];
        if (one.kind == Kind::kTaint && ++verdict.tainted == 1) verdict.taints = one.taints;
        if (one.kind == Kind::kGood) continue;
        const auto [place, is_new] = places.emplace(one.why, verdict.refused.size());
        if (is_new) verdict.refused.push_back({one.why, {}});
        verdict.refused[place->second].second.push_back(device.object().name);
      }
    }
    return verdict;
  }

  std::vector<RequestVerdict> Judge(const api::ResourceClaim& claim, const Pools& pools) const {
    std::vector<RequestVerdict> verdicts;
    for (size_t r = 0; r < claim.spec.devices.requests.size(); ++r) {
      const api::DeviceRequest& request = claim.spec.devices.requests[r];
      if (request.exactly) {
        RequestVerdict& verdict =
            verdicts.emplace_back(JudgeRequest(dra::RequestView::Of(request.name, *request.exactly), pools));
        verdict.name = request.name;
        verdict.request = r;
        continue;
      }
      for (size_t a = 0; a < request.first_available.size(); ++a) {
        RequestVerdict& verdict =
            verdicts.emplace_back(JudgeRequest(dra::RequestView::Of(request.first_available[a]), pools));
        verdict.name = request.name + "/" + request.first_available[a].name;
        verdict.request = r;
        verdict.alternative = a;
      }
    }
    return verdicts;
  }

  void AddClaim(const api::ResourceClaim& claim, const Pools& pools, std::vector<Finding>& findings) const {
    const std::string who = api::KeyOf(claim.metadata);
    const std::vector<RequestVerdict> verdicts = Judge(claim, pools);
    for (const RequestVerdict& verdict : verdicts) {
      Finding finding{.subject = fmt::format("claim {}, request {}", who, verdict.name),
                      .asked = verdict.view.wants_all() ? "all" : fmt::format("{}", verdict.view.count),
                      .there = fmt::format("{}", verdict.good.size()),
                      .text = {}};
      finding.text = fmt::format("claim {}, request {}: needs {} of class {}, ", who, verdict.name, finding.asked,
                                 *verdict.view.device_class_name);
      finding.text += verdict.total == 0 ? "the node has none"
                                         : fmt::format("{} of {} will do", verdict.good.size(), verdict.total);
      for (const auto& [why, names] : verdict.refused) finding.text += fmt::format("; {}: {}", NameList(names), why);
      if (verdict.good.size() < verdict.wanted()) {
        finding.shortage =
            static_cast<double>(verdict.wanted() - verdict.good.size()) / static_cast<double>(verdict.wanted());
      }
      findings.push_back(std::move(finding));
    }
    const bool each_fits = std::all_of(verdicts.begin(), verdicts.end(), [](const RequestVerdict& verdict) {
      return verdict.good.size() >= verdict.wanted();
    });
    if (each_fits) AddTogether(claim, verdicts, findings);
  }

  // Each device will do, but not as many of them together: constraints, or counters and capacity that they share.
  void AddTogether(const api::ResourceClaim& claim, const std::vector<RequestVerdict>& verdicts,
                   std::vector<Finding>& findings) const {
    for (const api::DeviceConstraint& constraint : claim.spec.devices.constraints) {
      const bool match = constraint.match_attribute.has_value();
      const std::string attribute = match ? *constraint.match_attribute : constraint.distinct_attribute.value_or("");
      std::map<std::string, std::vector<std::string>> by_value;
      for (const RequestVerdict& verdict : verdicts) {
        for (const dra::Pool::Device* device : verdict.good) {
          std::vector<std::string>& names =
              by_value[AttributeText(device->object(), device->slice->spec().driver, attribute)];
          if (std::find(names.begin(), names.end(), device->object().name) == names.end()) {
            names.push_back(device->object().name);
          }
        }
      }
      std::string text = fmt::format("claim {}: {} {} holds for no choice of devices", api::KeyOf(claim.metadata),
                                     match ? "matchAttribute" : "distinctAttribute", attribute);
      for (const auto& [value, names] : by_value) text += fmt::format("; {}: {}", NameList(names), value);
      findings.push_back({.subject = "constraint " + attribute, .asked = "", .there = "", .text = std::move(text)});
    }
    if (claim.spec.devices.constraints.empty()) {
      findings.push_back({.subject = "devices together",
                          .asked = "",
                          .there = "",
                          .text = fmt::format("claim {}: each of these devices will do, but not as many of them "
                                              "together with what else the pod asks for",
                                              api::KeyOf(claim.metadata))});
    }
  }

  // The remedy changes the claim, as its template would have to be changed.
  static void Change(const api::ResourceClaim& claim, framework::RemedyStep step, const Remedy& so_far,
                     const std::function<void(api::ResourceClaimSpec&)>& edit, std::vector<Remedy>& remedies) {
    Remedy remedy = so_far;
    const std::string name_space(claim.metadata.namespace_.str());
    const std::string name = claim.metadata.name;
    remedy.ChangeObjects(std::move(step), [name_space, name, edit](framework::Objects& objects) {
      const api::ResourceClaim* found = objects.resource_claims.Find(name_space, name);
      if (!found) return;
      auto changed = std::make_shared<api::ResourceClaim>(*found);
      edit(changed->spec);
      objects.resource_claims.Upsert(std::move(changed));
    });
    remedies.push_back(std::move(remedy));
  }

  static void Propose(const api::ResourceClaim& claim, const RequestVerdict& verdict, const Remedy& so_far,
                      std::vector<Remedy>& remedies) {
    const std::string who = fmt::format("claim {}, request {}", claim.metadata.name, verdict.name);
    const auto change = [&](std::string text, std::string kind, double cost, const auto& edit) {
      const size_t r = verdict.request;
      const std::optional<size_t> a = verdict.alternative;
      Change(
          claim, {fmt::format("{}: {}", who, text), std::move(kind), cost}, so_far,
          [r, a, edit](api::ResourceClaimSpec& spec) {
            api::DeviceRequest& request = spec.devices.requests[r];
            if (a) {
              edit(request.first_available[*a]);
            } else {
              edit(*request.exactly);
            }
          },
          remedies);
    };
    const size_t good = verdict.good.size();
    if (!verdict.view.wants_all() && verdict.wanted() > 1) {
      // Where each will do and still not all of them, one less may.
      const size_t fewer = std::min(good, verdict.wanted() - 1);
      const auto set = [fewer](auto& request) { request.count = static_cast<int64_t>(fewer); };
      const double given_up = static_cast<double>(verdict.wanted() - fewer) / static_cast<double>(verdict.wanted());
      if (fewer > 0) change(fmt::format("count {} -> {}", verdict.wanted(), fewer), "device count", given_up, set);
    }
    for (const auto& [selector, devices] : verdict.by_selector) {
      if (good + devices < verdict.wanted()) continue;
      const std::string& expression = (*verdict.view.selectors)[selector].cel->expression;
      change(fmt::format("no selector `{}`", expression), "device selector", 1, [i = selector](auto& request) {
        request.selectors.erase(request.selectors.begin() + static_cast<ptrdiff_t>(i));
      });
    }
    if (verdict.tainted > 0 && good + verdict.tainted >= verdict.wanted()) {
      std::vector<std::string> texts;
      for (const api::DeviceTaint& taint : verdict.taints) {
        texts.push_back(fmt::format("{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value, taint.effect));
      }
      change(fmt::format("tolerate {}", fmt::join(texts, " and ")), "device toleration", 1,
             [taints = verdict.taints](auto& request) {
               for (const api::DeviceTaint& taint : taints) {
                 request.tolerations.push_back({taint.key, "Equal", taint.value, taint.effect, {}});
               }
             });
    }
  }

  dra::Inventory& inventory_;
  const DeviceHolders holders_;
  const DeviceJudge judge_;
  const std::shared_ptr<CycleClaims> cycle_;
  const std::function<dra::ClaimPtr(const NodeInfo&)> extended_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> DynamicResources::ExplainRejections(
    const framework::PodInfo& pod) const {
  framework::CycleState state;
  if (PreFilter(state, pod).status.IsSkip()) return nullptr;
  std::shared_ptr<CycleClaims> cycle = StateOf(state)->cycle;
  const auto extended = [this, cycle, &pod](const NodeInfo& node) -> dra::ClaimPtr {
    NodeAllocation allocation;
    if (!FilterExtended(*cycle, pod, node, allocation).ok()) return nullptr;
    return allocation.extended_claim;
  };
  return std::make_unique<DeviceExplainer>(inventory_, handle_.objects(), cycle, extended);
}

}  // namespace berth::plugins
