// How much less the pod would have to request. The Status already says what is short.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/spelling.h"
#include "framework/amount_text.h"
#include "framework/pod_resources.h"
#include "plugins/node_resources_fit/node_resources_fit.h"

namespace berth::plugins {
namespace {

int64_t AmountIn(const api::ResourceList& amounts, const Symbol& resource) {
  const api::Quantity* amount = amounts.Find(resource);
  if (!amount) return 0;
  return resource == framework::CpuName() ? amount->MilliValue() : amount->Value();
}

void SetAmount(api::ResourceList& amounts, const Symbol& resource, int64_t amount) {
  api::Quantity& quantity = *amounts.Find(resource);
  quantity = resource == framework::CpuName() ? api::Quantity::FromMilli(amount, quantity.format())
                                              : api::Quantity::FromInt(amount, quantity.format());
}

// The parts of a pod's request. Either all its containers run together with the sidecars, or, before that, one init
// container with the sidecars started before it; the larger sum counts.
struct RequestPart {
  std::string name;  // "init migrate", "sidecar mesh"
  int64_t amount = 0;
  api::ResourceList* requests = nullptr;  // where it is in the pod; null for overhead
};

std::vector<RequestPart> PartsOf(api::Pod& pod, const Symbol& resource) {
  std::vector<RequestPart> sidecars, peak;
  int64_t sidecar_sum = 0, peak_sum = 0;
  for (api::Container& container : pod.spec.init_containers) {
    api::ResourceList& requests = container.resources.requests;
    const int64_t amount = AmountIn(requests, resource);
    if (framework::IsRestartableInit(container)) {
      sidecars.push_back({"sidecar " + container.name, amount, &requests});
      sidecar_sum += amount;
      continue;
    }
    if (amount + sidecar_sum <= peak_sum) continue;
    peak_sum = amount + sidecar_sum;
    peak = sidecars;
    peak.push_back({"init " + container.name, amount, &requests});
  }
  std::vector<RequestPart> parts;
  int64_t sum = sidecar_sum;
  for (api::Container& container : pod.spec.containers) {
    api::ResourceList& requests = container.resources.requests;
    parts.push_back({container.name, AmountIn(requests, resource), &requests});
    sum += parts.back().amount;
  }
  parts.insert(parts.end(), sidecars.begin(), sidecars.end());
  if (peak_sum > sum) parts = std::move(peak);
  parts.push_back({"overhead", AmountIn(pod.spec.overhead, resource), nullptr});
  std::erase_if(parts, [](const RequestPart& part) { return part.amount <= 0; });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const RequestPart& left, const RequestPart& right) { return left.amount > right.amount; });
  return parts;
}

// "init migrate 9 + sidecar mesh 1"; empty when there is only one container.
std::string PartsText(const api::Pod& pod, const Symbol& resource) {
  api::Pod copy = pod;
  const std::vector<RequestPart> parts = PartsOf(copy, resource);
  const bool plain = parts.size() == 1 && parts.front().name.find(' ') == std::string::npos;
  if (parts.empty() || plain || pod.spec.resources) return {};
  std::string text;
  int64_t rest = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i >= framework::kFew) {
      rest += parts[i].amount;
      continue;
    }
    text += fmt::format("{}{} {}", text.empty() ? "" : " + ", parts[i].name,
                        framework::AmountText(resource.str(), parts[i].amount));
  }
  if (rest == 0) return text;
  return text +
         fmt::format(" + {} more {}", parts.size() - framework::kFew, framework::AmountText(resource.str(), rest));
}

// Reduces the requests that make up the sum, the largest first, until the pod requests no more than `wanted`; another
// part may become the peak then. False when overhead alone is too much.
bool ReduceRequests(api::Pod& pod, const Symbol& resource, int64_t wanted) {
  constexpr int kMaxRounds = 64;
  for (int round = 0; round < kMaxRounds; ++round) {
    int64_t sum = 0;
    const std::vector<RequestPart> parts = PartsOf(pod, resource);
    for (const RequestPart& part : parts) sum += part.amount;
    int64_t excess = sum - wanted;
    if (excess <= 0) return true;
    bool reduced = false;
    for (const RequestPart& part : parts) {
      const int64_t less = std::min(excess, part.amount);
      if (!part.requests || less <= 0) continue;
      SetAmount(*part.requests, resource, part.amount - less);
      excess -= less;
      reduced = true;
    }
    if (!reduced) return false;
  }
  return false;
}

// A value that a person would write: no more than `amount`, and not exact to the byte.
std::string RoundedDown(std::string_view resource, int64_t amount) {
  const bool bytes = resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  if (!bytes) return framework::AmountText(resource, amount);
  constexpr std::pair<int64_t, std::string_view> kUnits[] = {
      {int64_t{1} << 40, "Ti"}, {int64_t{1} << 30, "Gi"}, {int64_t{1} << 20, "Mi"}, {int64_t{1} << 10, "Ki"}};
  for (const auto& [unit, suffix] : kUnits) {
    if (amount < unit) continue;
    for (int64_t hundredths = amount / unit * 100 + (amount % unit) * 100 / unit; hundredths > 0; --hundredths) {
      std::string text = fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
      while (text.ends_with('0')) text.pop_back();
      if (text.ends_with('.')) text.pop_back();
      text += suffix;
      const auto parsed = api::Quantity::Parse(text);
      if (parsed && parsed->Value() <= amount) return text;
    }
  }
  return fmt::format("{}", amount);
}

int64_t ValueOf(std::string_view resource, const std::string& text) {
  const auto parsed = api::Quantity::Parse(text);
  return !parsed ? 0 : resource == "cpu" ? parsed->MilliValue() : parsed->Value();
}

class FitExplainer final : public framework::RejectionExplainer {
 public:
  // `wanted` is the request without resources that are not checked.
  FitExplainer(const framework::ClusterView& cluster, const framework::PodInfo& pod, framework::Resource wanted)
      : cluster_(cluster), pod_(pod), wanted_(std::move(wanted)) {}

  std::vector<framework::Finding> Findings(const framework::Status& status,
                                           const framework::NodeInfo& node) const override {
    std::vector<framework::Finding> findings = ShortfallFindings(status, node);
    for (framework::Finding& finding : findings) {
      const std::string parts = PartsText(pod_.pod(), Symbol(finding.subject));
      if (!parts.empty() && !finding.text.empty()) finding.text += fmt::format("; asked for by {}", parts);
    }
    return findings;
  }

  std::vector<framework::Remedy> Remedies(const framework::NodeInfo& node,
                                          const framework::Remedy& so_far) const override {
    std::vector<Symbol> names = {framework::CpuName(), framework::MemoryName(), framework::EphemeralStorageName()};
    for (const auto& [name, amount] : wanted_.scalar) names.push_back(name);
    framework::Remedy remedy = so_far;
    for (const Symbol& name : names) {
      const int64_t free = node.allocatable().Get(name) - node.requested().Get(name);
      const int64_t needed = wanted_.Get(name);
      if (needed <= free || free <= 0) continue;
      const std::string_view resource = name.str();
      const std::string target = RoundedDown(resource, free);
      const int64_t wanted = std::min(ValueOf(resource, target), free);
      api::Pod smaller = *remedy.pod();
      if (wanted <= 0 || !ReduceRequests(smaller, name, wanted)) continue;
      const std::string whose = WhoseRequest(*remedy.pod(), smaller, name);
      remedy.ChangePod(
          {fmt::format("{} request {} -> {}{}", resource, framework::AmountText(resource, needed), target, whose),
           fmt::format("{} request", resource), static_cast<double>(needed - wanted) / static_cast<double>(needed)},
          [&](api::Pod& pod) { (void)ReduceRequests(pod, name, wanted); });
    }
    std::vector<framework::Remedy> remedies;
    if (remedy.steps().size() > so_far.steps().size()) remedies.push_back(std::move(remedy));
    if (FitsWithoutOverhead(node, names)) remedies.push_back(WithoutOverhead(so_far));
    return remedies;
  }

  // A resource that no node has, and similar ones that some node has.
  std::vector<std::string> Hints() const override {
    std::set<std::string_view> there;
    for (const framework::NodeInfo* node : cluster_.nodes()) {
      for (const auto& [name, amount] : node->allocatable().scalar) {
        if (amount > 0) there.insert(name.str());
      }
    }
    const std::vector<std::string_view> known(there.begin(), there.end());
    std::vector<std::string> hints;
    for (const auto& [name, amount] : wanted_.scalar) {
      if (amount <= 0 || there.contains(name.str())) continue;
      const std::string_view near = base::NearestWord(name.str(), known);
      hints.push_back(
          fmt::format("no node has {}{}", name.str(), near.empty() ? "" : fmt::format("; nearest: {}", near)));
    }
    return hints;
  }

 private:
  bool FitsWithoutOverhead(const framework::NodeInfo& node, const std::vector<Symbol>& names) const {
    const api::ResourceList& overhead = pod_.pod().spec.overhead;
    return !overhead.empty() && std::all_of(names.begin(), names.end(), [&](const Symbol& name) {
      const int64_t needed = wanted_.Get(name) - AmountIn(overhead, name);
      return needed <= 0 || needed <= node.allocatable().Get(name) - node.requested().Get(name);
    });
  }

  static framework::Remedy WithoutOverhead(const framework::Remedy& so_far) {
    const api::PodSpec& spec = so_far.pod()->spec;
    std::string amounts;
    for (const auto& [name, amount] : spec.overhead) {
      amounts += fmt::format("{}{} {}", amounts.empty() ? "" : ", ", name.str(), amount.ToString());
    }
    framework::Remedy remedy = so_far;
    remedy.ChangePod({spec.runtime_class_name
                          ? fmt::format("no RuntimeClass {}, whose overhead is {}", *spec.runtime_class_name, amounts)
                          : fmt::format("no overhead of {}", amounts),
                      "runtime class"},
                     [](api::Pod& pod) {
                       pod.spec.runtime_class_name.reset();
                       pod.spec.overhead = {};
                     });
    return remedy;
  }

  // " (init migrate 9 -> 3)", unless there is only one container.
  static std::string WhoseRequest(api::Pod before, api::Pod after, const Symbol& resource) {
    const bool alone = before.spec.init_containers.empty() && before.spec.containers.size() == 1;
    if (alone && AmountIn(before.spec.overhead, resource) == 0) return {};
    std::string text;
    size_t changed_count = 0;
    const auto compare = [&](std::string_view what, std::vector<api::Container>& old,
                             std::vector<api::Container>& changed) {
      for (size_t i = 0; i < old.size(); ++i) {
        const int64_t was = AmountIn(old[i].resources.requests, resource);
        const int64_t is = AmountIn(changed[i].resources.requests, resource);
        if (was == is || ++changed_count > framework::kFew) continue;
        text += fmt::format("{}{}{} {} -> {}", text.empty() ? " (" : ", ",
                            framework::IsRestartableInit(old[i]) ? "sidecar " : what, old[i].name,
                            framework::AmountText(resource.str(), was), RoundedDown(resource.str(), is));
      }
    };
    compare("init ", before.spec.init_containers, after.spec.init_containers);
    compare("", before.spec.containers, after.spec.containers);
    if (changed_count > framework::kFew) text += fmt::format(" and {} more", changed_count - framework::kFew);
    return text.empty() ? text : text + ")";
  }

  const framework::ClusterView& cluster_;
  const framework::PodInfo& pod_;
  const framework::Resource wanted_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> NodeResourcesFit::ExplainRejections(
    const framework::PodInfo& pod) const {
  return std::make_unique<FitExplainer>(cluster_, pod, RequestOf(pod));
}

}  // namespace berth::plugins
