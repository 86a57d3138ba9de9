// The extension points about the pod alone, and what all points share; those about nodes are in adapter_nodes.cc.
#include "plugin_library/adapter.h"

#include <fmt/format.h>

#include "config/types.h"
#include "plugin_library/adapter_run.h"

namespace berth::plugin_library {

using config::ExtensionPoint;
using framework::CycleState;
using framework::PodInfo;
using framework::Status;

framework::PluginFactory FactoryFor(std::shared_ptr<const PluginClass> plugin_class) {
  return [plugin_class](const config::PluginArgs& args,
                        framework::Handle& handle) -> Result<std::unique_ptr<framework::Plugin>> {
    const auto* raw = std::get_if<config::RawArgs>(&args);
    Result<std::shared_ptr<Instance>> instance = Instance::Make(plugin_class, raw ? raw->json : "", handle);
    if (!instance) return instance.error();
    return std::unique_ptr<framework::Plugin>(new Adapter(std::move(*instance)));
  };
}

Adapter::Adapter(std::shared_ptr<Instance> instance)
    : instance_(std::move(instance)), data_(instance_->handle().NewStateKey<CycleData>()) {}

bool Adapter::Serves(ExtensionPoint point) const {
  switch (point) {
    case ExtensionPoint::kPreEnqueue:
      return table().pre_enqueue != nullptr;
    case ExtensionPoint::kQueueSort:
      return table().queue_less != nullptr;
    case ExtensionPoint::kPreFilter:
      return table().pre_filter != nullptr;
    case ExtensionPoint::kFilter:
      return table().filter != nullptr;
    case ExtensionPoint::kPostFilter:
      return table().post_filter != nullptr;
    case ExtensionPoint::kPreScore:
      return table().pre_score != nullptr;
    case ExtensionPoint::kScore:
      return table().score != nullptr;
    case ExtensionPoint::kReserve:
      return table().reserve != nullptr || table().unreserve != nullptr;
    case ExtensionPoint::kPermit:
      return table().permit != nullptr;
    default:
      return false;
  }
}

Status Adapter::Trouble(std::string_view point, std::string_view what) const {
  return Status::Error(instance_->Blame(fmt::format("{} {}", point, what)));
}

void Adapter::ShowData(const CycleState& state, CallFrame& frame) const {
  const CycleData* data = state.Find(data_);
  if (data == nullptr) return;
  frame.call()->pre_filter_data = data->pre_filter.get();
  frame.call()->pre_score_data = data->pre_score.get();
}

std::shared_ptr<void> Adapter::TakeOver(void* data) const {
  if (data == nullptr) return nullptr;
  return {data, [instance = instance_](void* done) {
            if (instance->table().free_data == nullptr) return;
            ThrownBy([&] { instance->table().free_data(instance->self(), done); });
          }};
}

bool Adapter::Less(const framework::QueuedPodView& a, const framework::QueuedPodView& b) const {
  const berth_pod first = ViewOf(a.pod);
  const berth_pod second = ViewOf(b.pod);
  int32_t less = -1;
  const auto at = [](base::Time time) { return static_cast<int64_t>(time.time_since_epoch().count()); };
  ThrownBy([&] { less = table().queue_less(instance_->self(), &first, at(a.added), &second, at(b.added)); });
  return less == 0 || less == 1 ? less == 1 : a.added < b.added;
}

Status Adapter::PreEnqueue(const PodInfo& pod) const {
  CallFrame frame(pod);
  return Run("PreEnqueue", kRejections | kPending, frame,
             [&] { return table().pre_enqueue(instance_->self(), frame.call()); });
}

std::vector<framework::ClusterEventWithHint> Adapter::EventsToRegister() const {
  std::vector<framework::ClusterEventWithHint> events;
  for (const berth_event& event : std::span(table().events, table().event_count)) {
    const auto actions = static_cast<framework::ActionType>(event.actions);
    events.push_back({{ResourceOf(event.resource).value_or(framework::EventResource::kWildCard), actions}, {}});
  }
  for (const framework::ClusterEvent& event : instance_->events()) events.push_back({event, {}});
  if (events.empty()) return {{}};
  return events;
}

bool Adapter::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  if (table().sign == nullptr) return false;
  CallFrame frame(pod);
  frame.signature = &signature;
  // On failure the pod shares no results with others, and Filter or Score will report the failure.
  return Run("Sign", kSkip, frame, [&] { return table().sign(instance_->self(), frame.call()); }).ok();
}

Status Adapter::Reserve(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  if (table().reserve == nullptr) return Status::Success();
  CallFrame frame(pod);
  ShowData(state, frame);
  return Run("Reserve", kRejections | kPending, frame,
             [&] { return table().reserve(instance_->self(), frame.call(), ToC(node_name)); });
}

void Adapter::Unreserve(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  if (table().unreserve == nullptr) return;
  CallFrame frame(pod);
  ShowData(state, frame);
  ThrownBy([&] { table().unreserve(instance_->self(), frame.call(), ToC(node_name)); });
}

framework::PermitResult Adapter::Permit(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  CallFrame frame(pod);
  ShowData(state, frame);
  int64_t timeout_ms = 0;
  const Status status = Run("Permit", kRejections | kPending | kWait, frame, [&] {
    return table().permit(instance_->self(), frame.call(), ToC(node_name), &timeout_ms);
  });
  if (!status.IsWait()) return {status, {}};
  if (timeout_ms < 0) return {Trouble("Permit", fmt::format("wants to wait for {} ms", timeout_ms)), {}};
  // The runtime allows less; more would overflow in nanoseconds.
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24);
  return {status, std::min(std::chrono::milliseconds(timeout_ms), kLongest)};
}

}  // namespace berth::plugin_library
