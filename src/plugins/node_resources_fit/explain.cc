// How much less the pod would have to ask for. What is short is in the Status already.
#include <fmt/format.h>

#include <algorithm>

#include "framework/amount_text.h"
#include "plugins/node_resources_fit/node_resources_fit.h"

namespace berth::plugins {
namespace {

// Takes `excess` off the containers' requests, the largest first. False when they do not ask for that much.
bool ReduceRequests(api::Pod& pod, const Symbol& resource, int64_t excess) {
  const bool is_cpu = resource == framework::CpuName();
  std::vector<api::Quantity*> requests;
  for (api::Container& container : pod.spec.containers) {
    if (api::Quantity* request = container.resources.requests.Find(resource)) requests.push_back(request);
  }
  std::stable_sort(requests.begin(), requests.end(), [](const auto* a, const auto* b) { return *b < *a; });
  for (api::Quantity* request : requests) {
    const int64_t amount = is_cpu ? request->MilliValue() : request->Value();
    const int64_t less = std::min(excess, amount);
    *request = is_cpu ? api::Quantity::FromMilli(amount - less, request->format())
                      : api::Quantity::FromInt(amount - less, request->format());
    excess -= less;
  }
  return excess <= 0;
}

// Rounded text would promise more than there is.
std::string ExactText(std::string_view resource, int64_t amount) {
  const std::string text = framework::AmountText(resource, amount);
  const auto parsed = api::Quantity::Parse(text);
  const bool exact = parsed && (resource == "cpu" ? parsed->MilliValue() : parsed->Value()) == amount;
  return exact ? text : framework::QuantityText(resource, amount);
}

class FitExplainer final : public framework::RejectionExplainer {
 public:
  // `wanted` without what is not checked.
  FitExplainer(const framework::PodInfo& pod, framework::Resource wanted) : pod_(pod), wanted_(std::move(wanted)) {}

  std::vector<framework::Remedy> Remedies(const framework::NodeInfo& node,
                                          const framework::Remedy& so_far) const override {
    std::vector<Symbol> names = {framework::CpuName(), framework::MemoryName(), framework::EphemeralStorageName()};
    for (const auto& [name, amount] : wanted_.scalar) names.push_back(name);
    framework::Remedy remedy = so_far;
    for (const Symbol& name : names) {
      const int64_t free = node.allocatable().Get(name) - node.requested().Get(name);
      const int64_t needed = wanted_.Get(name);
      if (needed <= free || free <= 0) continue;
      api::Pod smaller = pod_.pod();
      if (!ReduceRequests(smaller, name, needed - free)) continue;
      const std::string_view text = name.str();
      remedy.ChangePod(
          {fmt::format("{} request {} -> {}", text, framework::AmountText(text, needed), ExactText(text, free)),
           fmt::format("{} request", text), static_cast<double>(needed - free) / static_cast<double>(needed)},
          [&](api::Pod& pod) { (void)ReduceRequests(pod, name, needed - free); });
    }
    if (remedy.steps().size() == so_far.steps().size()) return {};
    return {remedy};
  }

 private:
  const framework::PodInfo& pod_;
  const framework::Resource wanted_;
};

}  // namespace

std::unique_ptr<framework::RejectionExplainer> NodeResourcesFit::ExplainRejections(
    const framework::PodInfo& pod) const {
  return std::make_unique<FitExplainer>(pod, RequestOf(pod));
}

}  // namespace berth::plugins
