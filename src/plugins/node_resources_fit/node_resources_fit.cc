#include "plugins/node_resources_fit/node_resources_fit.h"

#include <algorithm>

#include "dra/inventory.h"
#include "plugins/args.h"
#include "plugins/dynamic_resources/extended_resources.h"
#include "plugins/hints.h"
#include "plugins/node_resources/incoming_pod.h"
#include "plugins/node_resources_fit/requeue.h"
#include "plugins/signature_text.h"

namespace berth::plugins {
namespace {

using framework::ActionType;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Resource;
using framework::Status;

IgnoredResources IgnoredBy(const config::NodeResourcesFitArgs& args) {
  IgnoredResources ignored;
  for (const std::string& name : args.ignored_resources) ignored.names.emplace_back(name);
  ignored.groups = args.ignored_resource_groups;
  return ignored;
}

}  // namespace

NodeResourcesFit::NodeResourcesFit(const config::NodeResourcesFitArgs& args, Rule rule, framework::Handle& handle)
    : cluster_(handle.cluster()),
      request_key_(handle.NewStateKey<Request>()),
      demand_key_(handle.NewStateKey<Demand>()),
      incoming_options_(IncomingPodOptions(handle.gates())),
      in_place_pod_level_resize_(handle.gates().Enabled("InPlacePodLevelResourcesVerticalScaling")),
      extended_resources_(handle.gates().Enabled("DRAExtendedResource")),
      inventory_(handle.inventory()),
      ignored_(IgnoredBy(args)),
      scored_(args.scoring_strategy.resources, ScoredResources::Basis::kNonZeroRequested, handle.gates(),
              &handle.inventory()),
      rule_(std::move(rule)) {}

Result<std::unique_ptr<framework::Plugin>> NodeResourcesFit::Create(const config::PluginArgs& args,
                                                                    framework::Handle& handle) {
  const auto mine = ReadArgs<config::NodeResourcesFitArgs>(args, kName);
  if (!mine) return mine.error();
  const config::ScoringStrategy& strategy = mine->scoring_strategy;
  Rule rule;
  switch (strategy.type) {
    case config::ScoringStrategyType::kLeastAllocated:
      rule = LeastAllocated();
      break;
    case config::ScoringStrategyType::kMostAllocated:
      rule = MostAllocated();
      break;
    case config::ScoringStrategyType::kRequestedToCapacityRatio:
      if (strategy.shape.empty()) {
        return Error::InvalidArgument(
            "scoringStrategy.requestedToCapacityRatio.shape: at least one point must be specified");
      }
      rule = UtilizationCurve(strategy.shape);
      break;
  }
  return std::unique_ptr<framework::Plugin>(new NodeResourcesFit(*mine, std::move(rule), handle));
}

Resource NodeResourcesFit::RequestOf(const PodInfo& pod) const {
  return RequestToCheck(IncomingPodRequest(pod, incoming_options_), ignored_);
}

const dra::ClassNames* NodeResourcesFit::classes() const {
  return inventory_.class_names().empty() ? nullptr : &inventory_.class_names();
}

framework::PreFilterResult NodeResourcesFit::PreFilter(CycleState& state, const PodInfo& pod) const {
  auto request = std::make_unique<Request>();
  request->amounts = RequestOf(pod);
  state.Put(request_key_, std::move(request));
  return Status::Success();
}

Status NodeResourcesFit::Filter(const CycleState& state, const PodInfo&, const NodeInfo& node) const {
  const Request* request = state.Find(request_key_);
  // A profile that runs Filter without PreFilter gets upstream's answer.
  if (!request) return Status::Error("error reading \"PreFilterNodeResourcesFit\" from cycleState: not found");
  return CheckFit(request->amounts,
                  {node.allocatable(), node.requested(), static_cast<int64_t>(node.pods().size()), classes()});
}

bool NodeResourcesFit::FilterRange(const CycleState& state, const PodInfo&, const framework::NodeColumns& columns,
                                   framework::NodeIndex begin, std::span<uint8_t> verdicts) const {
  const Request* request = state.Find(request_key_);
  if (!request || !request->amounts.scalar.empty()) return false;
  CheckFitColumns(request->amounts, columns, begin, verdicts);
  return true;
}

void NodeResourcesFit::FilterList(const CycleState& state, const PodInfo&, const framework::NodeColumns& columns,
                                  std::span<const framework::NodeIndex> nodes, std::span<uint8_t> verdicts) const {
  const Request* request = state.Find(request_key_);
  if (!request || !request->amounts.scalar.empty()) {
    std::fill(verdicts.begin(), verdicts.end(), kAskFilter);
  } else {
    CheckFitColumns(request->amounts, columns, nodes, verdicts);
  }
}

Status NodeResourcesFit::PreScore(CycleState& state, const PodInfo& pod, std::span<const NodeInfo* const>) const {
  auto demand = std::make_unique<Demand>();
  demand->amounts = scored_.Demand(pod);
  state.Put(demand_key_, std::move(demand));
  return Status::Success();
}

framework::ScoreResult NodeResourcesFit::Score(const CycleState& state, const PodInfo& pod,
                                               const NodeInfo& node) const {
  if (scored_.empty()) return Status::Error("resources not found");
  const auto score = [&](std::span<const int64_t> demand) {
    return std::visit([&](const auto& rule) { return scored_.Score(rule, demand, node); }, rule_);
  };
  if (const Demand* demand = state.Find(demand_key_)) return score(demand->amounts);
  // PreScore may be disabled separately.
  return score(scored_.Demand(pod));
}

bool NodeResourcesFit::ScoreRange(const CycleState& state, const PodInfo&, const framework::NodeColumns& columns,
                                  framework::NodeIndex begin, std::span<int64_t> scores) const {
  const Demand* demand = state.Find(demand_key_);
  if (!demand || scored_.empty()) return false;
  return std::visit(
      [&](const auto& rule) { return scored_.ScoreColumns(rule, demand->amounts, columns, begin, scores); }, rule_);
}

bool NodeResourcesFit::ScoreList(const CycleState& state, const PodInfo&, const framework::NodeColumns& columns,
                                 std::span<const framework::NodeIndex> nodes, std::span<int64_t> scores) const {
  const Demand* demand = state.Find(demand_key_);
  if (!demand || scored_.empty()) return false;
  return std::visit(
      [&](const auto& rule) { return scored_.ScoreColumns(rule, demand->amounts, columns, nodes, scores); }, rule_);
}

QueueingHint NodeResourcesFit::AfterPodEvent(const PodInfo& pod, const api::Pod* before, const api::Pod* after) const {
  if (!after) return QueueIf(!before || !HoldsNoPlace(*before));
  if (!before || after->metadata.uid == pod.uid()) return QueueingHint::kQueue;
  if (after->spec.node_name.empty()) return QueueingHint::kSkip;
  framework::PodRequestOptions options;
  options.use_status_resources = true;
  options.in_place_pod_level_resize = in_place_pod_level_resize_;
  return QueueIf(FreesWhatIsWanted(framework::PodRequests(pod.pod(), options),
                                   Resource::From(framework::PodRequests(*before, options)),
                                   Resource::From(framework::PodRequests(*after, options))));
}

QueueingHint NodeResourcesFit::AfterNodeChange(const PodInfo& pod, const api::Node* before,
                                               const api::Node* after) const {
  if (!after) return QueueingHint::kQueue;
  const Resource request = RequestOf(pod);
  const Resource now = Resource::From(after->status.allocatable);
  if (!CheckFit(request, {.allocatable = now, .requested = Resource(), .pod_count = 0, .classes = classes()}).ok()) {
    return QueueingHint::kSkip;  // too small even without any pod
  }
  // Whether devices are available is not this plugin's decision.
  if (before && classes()) {
    const bool by_devices = std::any_of(request.scalar.begin(), request.scalar.end(), [&](const auto& entry) {
      return entry.second != 0 && now.Get(entry.first) <= 0 && classes()->Find(entry.first);
    });
    if (by_devices) return QueueingHint::kQueue;
  }
  return QueueIf(!before || OffersMoreOfWhatIsWanted(request, Resource::From(before->status.allocatable), now));
}

QueueingHint NodeResourcesFit::AfterDeviceClassChange(const PodInfo& pod, const api::DeviceClass* before,
                                                      const api::DeviceClass* after) const {
  if (!after) return QueueingHint::kQueue;
  const std::string name = after->spec.extended_resource_name.value_or("");
  if (before && before->spec.extended_resource_name.value_or("") == name) return QueueingHint::kSkip;
  const api::ResourceList requests = framework::PodRequests(pod.pod(), {});
  // The name of a class never changes.
  const Symbol implicit("deviceclass.resource.kubernetes.io/" + after->metadata.name);
  if (!before && requests.Find(implicit)) return QueueingHint::kQueue;
  return QueueIf(after->spec.extended_resource_name && requests.Find(Symbol(name)));
}

std::vector<framework::ClusterEventWithHint> NodeResourcesFit::EventsToRegister() const {
  std::vector<framework::ClusterEventWithHint> events = {
      {{EventResource::kPod, ActionType::kDelete | ActionType::kUpdatePodScaleDown},
       HintOf(this, &NodeResourcesFit::AfterPodEvent)},
      {{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeAllocatable},
       HintOf(this, &NodeResourcesFit::AfterNodeChange)}};
  if (extended_resources_) {
    events.push_back({{EventResource::kDeviceClass, ActionType::kAdd | ActionType::kUpdate},
                      HintOf(this, &NodeResourcesFit::AfterDeviceClassChange)});
  }
  return events;
}

bool NodeResourcesFit::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  const std::vector<int64_t> demand = scored_.Demand(pod);
  if (scored_.CountsDevices(demand)) return false;
  std::string text = NewSignatureText();
  for (const int64_t amount : demand) AppendField(text, amount);
  // Which resources are provided by devices depends on the classes.
  if (AsksForServedResource(pod, inventory_.class_names())) {
    AppendField(text, static_cast<int64_t>(inventory_.class_names().version()));
  }
  AppendResource(text, RequestOf(pod));
  signature.Add("NodeResourcesFit", text);
  return true;
}

}  // namespace berth::plugins
