// Running the extension points of a profile.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "engine/profile.h"

namespace berth::engine {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

namespace {

// A status that is neither success nor a rejection is an error inside the plugin.
Status AsPluginError(const Status& status, std::string_view what, std::string_view plugin) {
  return Status::Error(fmt::format("running {} plugin \"{}\": {}", what, plugin, status.Message()));
}

template <class Result>
Code CodeOf(const Result& result) {
  return result.status.code();
}
Code CodeOf(const Status& status) { return status.code(); }
// Whether there was a signature; having none is no failure.
Code CodeOf(const std::optional<std::string>& signature) { return signature ? Code::kSuccess : Code::kUnschedulable; }

}  // namespace

template <class Call>
auto Profile::Observed(Step step, std::string_view plugin, Call&& call) const {
  if (!observer_) return call();
  const bool timed = observer_->times_plugins(step);
  const base::Time start = timed ? environment_.clock.Now() : base::Time();
  auto result = call();
  const Code code = CodeOf(result);
  if (timed) observer_->OnPlugin(step, plugin, code, environment_.clock.Now() - start, 1);
  if (code == Code::kError) observer_->OnError(step, plugin);
  return result;
}

template <class Call>
auto Profile::ObservedStep(Step step, Call&& call) const {
  if (!observer_) return call();
  const base::Time start = environment_.clock.Now();
  auto result = call();
  observer_->OnStep(step, CodeOf(result), environment_.clock.Now() - start);
  return result;
}

Status Profile::RunPreEnqueue(const PodInfo& pod) const {
  return ObservedStep(Step::kPreEnqueue, [&]() -> Status {
    for (const auto& enabled : pre_enqueue_) {
      const Status status = Observed(Step::kPreEnqueue, enabled.name, [&] { return enabled.plugin->PreEnqueue(pod); });
      if (!status.ok()) return status.WithPlugin(enabled.name);
    }
    return Status::Success();
  });
}

PreFilterOutcome Profile::RunPreFilter(CycleState& state, const PodInfo& pod) const {
  return ObservedStep(Step::kPreFilter, [&]() -> PreFilterOutcome {
    PreFilterOutcome outcome;
    state.skip_filter = 0;
    for (const auto& enabled : pre_filter_) {
      framework::PreFilterResult result =
          Observed(Step::kPreFilter, enabled.name, [&] { return enabled.plugin->PreFilter(state, pod); });
      switch (result.status.code()) {
        case Code::kSuccess:
          break;
        case Code::kSkip:
          state.skip_filter |= uint64_t{1} << enabled.id;
          continue;
        case Code::kUnschedulable:
          // Preemption may help, and it needs the state of every plugin: continue, and fail at the end.
          outcome.status = result.status.WithPlugin(enabled.name);
          continue;
        case Code::kUnschedulableAndUnresolvable:
          return {result.status.WithPlugin(enabled.name), std::nullopt, {}};
        default:
          return {AsPluginError(result.status, "PreFilter", enabled.name).WithPlugin(enabled.name), std::nullopt, {}};
      }
      if (!result.node_names) continue;
      outcome.narrowed_by.emplace(enabled.name);
      if (outcome.node_names) {
        std::erase_if(*outcome.node_names, [&](const std::string& name) { return !result.node_names->contains(name); });
      } else {
        outcome.node_names = std::move(result.node_names);
      }
      if (outcome.node_names->empty()) {
        outcome.status = Status::UnschedulableAndUnresolvable(
            outcome.narrowed_by.size() == 1
                ? fmt::format("node(s) didn't satisfy plugin {}", *outcome.narrowed_by.begin())
                : fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously",
                              fmt::join(outcome.narrowed_by, " ")));
        return outcome;
      }
    }
    return outcome;
  });
}

bool Profile::PreFilterSkips(uint32_t id, CycleState& state, const PodInfo& pod) const {
  const auto it =
      std::find_if(pre_filter_.begin(), pre_filter_.end(), [&](const auto& enabled) { return enabled.id == id; });
  return it != pre_filter_.end() && it->plugin->PreFilter(state, pod).status.IsSkip();
}

bool Profile::PreFilterPasses(uint32_t id, CycleState& state, const PodInfo& pod) const {
  for (const auto& enabled : pre_filter_) {
    if (enabled.id != id) continue;
    const framework::PreFilterResult result = enabled.plugin->PreFilter(state, pod);
    return result.status.IsSkip() || (result.status.ok() && !result.node_names);
  }
  return true;
}

std::vector<uint32_t> Profile::PreFiltersWithoutFilter() const {
  std::vector<uint32_t> ids;
  for (const auto& enabled : pre_filter_) {
    const auto filters = [&](const auto& filter) { return filter.id == enabled.id; };
    if (std::none_of(filter_.begin(), filter_.end(), filters)) ids.push_back(enabled.id);
  }
  return ids;
}

Status Profile::RunOneFilter(const Enabled<framework::FilterPlugin>& filter, const CycleState& state,
                             const PodInfo& pod, const NodeInfo& node) const {
  const Status status = Observed(Step::kFilter, filter.name, [&] { return filter.plugin->Filter(state, pod, node); });
  if (status.ok()) return status;
  if (status.IsRejected()) return status.WithPlugin(filter.name);
  return Status::Error(fmt::format("running \"{}\" filter plugin: {}", filter.name, status.Message()))
      .WithPlugin(filter.name);
}

Status Profile::RunFilter(const CycleState& state, const PodInfo& pod, const NodeInfo& node) const {
  for (const auto& filter : filter_) {
    if (IsSkipped(state.skip_filter, filter.id)) continue;
    if (Status status = RunOneFilter(filter, state, pod, node); !status.ok()) return status;
  }
  return Status::Success();
}

bool Profile::HasNominatedPodsFor(const PodInfo& pod, const NodeInfo& node) const {
  if (nominator().empty()) return false;
  const auto& nominated = nominator().NominatedTo(node.name());
  return std::any_of(nominated.begin(), nominated.end(), [&](const framework::PodInfoPtr& other) {
    return other->priority() >= pod.priority() && other->uid() != pod.uid();
  });
}

// The pod must fit both with the pods nominated to this node (they may take the room or violate anti-affinity) and
// without them (they may never arrive, so nothing may depend on them).
Status Profile::RunFilterWithNominatedPods(CycleState& state, const PodInfo& pod, const NodeInfo& node) const {
  if (HasNominatedPodsFor(pod, node)) {
    NodeInfo with_nominated = node;
    CycleState state_with_nominated = state.Clone();
    for (const framework::PodInfoPtr& other : nominator().NominatedTo(node.name())) {
      if (other->priority() < pod.priority() || other->uid() == pod.uid()) continue;
      with_nominated.AddPod(other);
      if (Status added = RunAddPod(state_with_nominated, pod, *other, with_nominated); !added.ok()) return added;
    }
    if (Status status = RunFilter(state_with_nominated, pod, with_nominated); !status.ok()) return status;
  }
  return RunFilter(state, pod, node);
}

Status Profile::RunAddPod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) const {
  for (const auto& enabled : pre_filter_) {
    if (IsSkipped(state.skip_filter, enabled.id)) continue;
    const Status status =
        Observed(Step::kAddPod, enabled.name, [&] { return enabled.plugin->AddPod(state, pod, other, node); });
    if (!status.ok()) return AsPluginError(status, "AddPod on PreFilter", enabled.name);
  }
  return Status::Success();
}

Status Profile::RunRemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) const {
  for (const auto& enabled : pre_filter_) {
    if (IsSkipped(state.skip_filter, enabled.id)) continue;
    const Status status =
        Observed(Step::kRemovePod, enabled.name, [&] { return enabled.plugin->RemovePod(state, pod, other, node); });
    if (!status.ok()) return AsPluginError(status, "RemovePod on PreFilter", enabled.name);
  }
  return Status::Success();
}

framework::PostFilterResult Profile::RunPostFilter(CycleState& state, const PodInfo& pod,
                                                   const framework::NodeToStatus& statuses) const {
  return ObservedStep(Step::kPostFilter, [&]() -> framework::PostFilterResult {
    framework::PostFilterResult last;
    std::vector<std::string> reasons;
    std::string_view rejector;
    for (const auto& enabled : post_filter_) {
      framework::PostFilterResult result =
          Observed(Step::kPostFilter, enabled.name, [&] { return enabled.plugin->PostFilter(state, pod, statuses); });
      if (result.status.ok()) return result;
      if (result.status.code() == Code::kUnschedulableAndUnresolvable || !result.status.IsRejected()) {
        if (!result.status.IsRejected()) result.status = Status::Error(result.status.Message());
        result.status = result.status.WithPlugin(enabled.name);
        return result;
      }
      reasons.insert(reasons.end(), result.status.reasons().begin(), result.status.reasons().end());
      if (rejector.empty()) rejector = enabled.name;
      if (result.clear_nomination) last = std::move(result);
    }
    last.status = Status(Code::kUnschedulable, std::move(reasons)).WithPlugin(rejector);
    return last;
  });
}

Status Profile::RunPreScore(CycleState& state, const PodInfo& pod, std::span<const NodeInfo* const> feasible) const {
  return ObservedStep(Step::kPreScore, [&]() -> Status {
    state.skip_score = 0;
    for (const auto& enabled : pre_score_) {
      const Status status =
          Observed(Step::kPreScore, enabled.name, [&] { return enabled.plugin->PreScore(state, pod, feasible); });
      if (status.IsSkip()) {
        state.skip_score |= uint64_t{1} << enabled.id;
      } else if (!status.ok()) {
        return AsPluginError(status, "PreScore", enabled.name);
      }
    }
    return Status::Success();
  });
}

std::shared_ptr<const api::Pod> Profile::OnNode(const CycleState& state, const PodInfo& pod,
                                                const std::string& node_name) const {
  for (const auto& enabled : reserve_) {
    if (std::shared_ptr<const api::Pod> changed = enabled.plugin->OnNode(state, pod, node_name)) return changed;
  }
  return nullptr;
}

Status Profile::RunReserve(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  return ObservedStep(Step::kReserve, [&]() -> Status {
    for (const auto& enabled : reserve_) {
      const Status status =
          Observed(Step::kReserve, enabled.name, [&] { return enabled.plugin->Reserve(state, pod, node_name); });
      if (status.ok()) continue;
      return status.IsRejected() ? status.WithPlugin(enabled.name) : AsPluginError(status, "Reserve", enabled.name);
    }
    return Status::Success();
  });
}

void Profile::RunUnreserve(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  (void)ObservedStep(Step::kUnreserve, [&] {
    for (auto enabled = reserve_.rbegin(); enabled != reserve_.rend(); ++enabled) {
      (void)Observed(Step::kUnreserve, enabled->name, [&] {
        enabled->plugin->Unreserve(state, pod, node_name);
        return Status::Success();
      });
    }
    return Status::Success();
  });
}

PermitOutcome Profile::RunPermit(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  return ObservedStep(Step::kPermit, [&]() -> PermitOutcome {
    constexpr base::Duration kLongestWait = std::chrono::minutes(15);
    PermitOutcome outcome;
    for (const auto& enabled : permit_) {
      const framework::PermitResult result =
          Observed(Step::kPermit, enabled.name, [&] { return enabled.plugin->Permit(state, pod, node_name); });
      if (result.status.ok()) continue;
      if (result.status.IsWait()) {
        outcome.waits[std::string(enabled.name)] = std::min(result.timeout, kLongestWait);
        continue;
      }
      const Status status =
          result.status.IsRejected() ? result.status : AsPluginError(result.status, "Permit", enabled.name);
      return {status.WithPlugin(enabled.name), {}};
    }
    if (!outcome.waits.empty()) {
      outcome.status = Status(Code::kWait, {"one or more plugins asked to wait and no plugin rejected pod"});
    }
    return outcome;
  });
}

Status Profile::AskPreBindPreFlights(const CycleState& state, const PodInfo& pod, const std::string& node_name,
                                     uint64_t& skipped) {
  return ObservedStep(Step::kPreBindPreFlight, [&]() -> Status {
    for (const auto& enabled : pre_bind_) {
      const Status pre_flight = Observed(Step::kPreBindPreFlight, enabled.name, [&] {
                                  return enabled.plugin->PreBindPreFlight(state, pod, node_name);
                                }).status;
      if (pre_flight.ok()) continue;
      if (pre_flight.IsError()) {
        return Status::Error(fmt::format("running PreBindPreFlight \"{}\": {}", enabled.name, pre_flight.Message()));
      }
      if (!pre_flight.IsSkip()) {
        return Status::Error(
            fmt::format("PreBindPreFlight {} returned \"{}\", which is unsupported. It is supposed to return "
                        "Success, Skip, or Error status",
                        enabled.name, framework::NameOf(pre_flight.code())));
      }
      skipped |= uint64_t{1} << enabled.id;
    }
    return Status::Success();
  });
}

Status Profile::RunPreBindPreFlight(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  uint64_t skipped = 0;
  if (Status asked = AskPreBindPreFlights(state, pod, node_name, skipped); !asked.ok()) return asked;
  state.skip_pre_bind = skipped;
  const bool is_idle = std::all_of(pre_bind_.begin(), pre_bind_.end(),
                                   [&](const auto& enabled) { return IsSkipped(skipped, enabled.id); });
  return is_idle ? Status::Skip() : Status::Success();
}

Status Profile::RunPreBind(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  uint64_t skipped = state.skip_pre_bind.value_or(0);
  if (!state.skip_pre_bind) {
    if (Status asked = AskPreBindPreFlights(state, pod, node_name, skipped); !asked.ok()) return asked;
  }
  return ObservedStep(Step::kPreBind, [&]() -> Status {
    for (const auto& enabled : pre_bind_) {
      if (IsSkipped(skipped, enabled.id)) continue;
      const Status status =
          Observed(Step::kPreBind, enabled.name, [&] { return enabled.plugin->PreBind(*this, state, pod, node_name); });
      if (status.ok()) continue;
      return status.IsRejected() ? status.WithPlugin(enabled.name) : AsPluginError(status, "PreBind", enabled.name);
    }
    return Status::Success();
  });
}

Status Profile::RunBind(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  return ObservedStep(Step::kBind, [&]() -> Status {
    for (const auto& enabled : bind_) {
      const Status status =
          Observed(Step::kBind, enabled.name, [&] { return enabled.plugin->Bind(*this, state, pod, node_name); });
      if (status.IsSkip()) continue;
      if (status.ok()) return status;
      return status.IsRejected() ? status.WithPlugin(enabled.name) : AsPluginError(status, "Bind", enabled.name);
    }
    return Status::Error("no bind plugin took the pod");
  });
}

// Posted work may refer to the profile's plugins: these live until it is done, even when another configuration has
// taken over. Only while the plugins are being made nobody shares the profile yet. Such work is dropped if nothing
// comes of the profile: an error in a new configuration changes nothing.
void Profile::Post(std::function<void()> work) { PostAnswer({}, std::move(work)); }

void Profile::PostAnswer(framework::PostedAnswer answer, std::function<void()> work, std::function<bool()> is_wanted) {
  const std::shared_ptr<Profile> self = weak_from_this().lock();
  if (!self) {
    is_wanted = [alive = std::weak_ptr<const int>(alive_), wanted = std::move(is_wanted)] {
      return !alive.expired() && (!wanted || wanted());
    };
  }
  environment_.posted.Post([self, work = std::move(work)] { work(); }, std::move(answer), std::move(is_wanted));
}

// Answers that come too late are dropped rather than ignored: a recording must not contain them, because it has no
// attempts.
std::function<bool()> Profile::IfWaits(const std::string& uid, base::Ticket attempt) const {
  if (attempt == base::Ticket::kNone) return {};
  return [this, uid, attempt] { return environment_.waiting_pods.Waits(uid, attempt); };
}

void Profile::Allow(const std::string& uid, const std::string& plugin, base::Ticket attempt) {
  PostAnswer(
      {.kind = framework::PostedAnswer::Kind::kAllow, .uids = {uid}, .plugin = plugin},
      [this, uid, plugin] { environment_.waiting_pods.Allow(uid, plugin); }, IfWaits(uid, attempt));
}

void Profile::Reject(const std::string& uid, const std::string& plugin, const std::string& message,
                     base::Ticket attempt) {
  PostAnswer(
      {.kind = framework::PostedAnswer::Kind::kReject, .uids = {uid}, .plugin = plugin, .message = message},
      [this, uid, plugin, message] { environment_.waiting_pods.Reject(uid, plugin, message); }, IfWaits(uid, attempt));
}

void Profile::Activate(const std::vector<std::string>& uids) {
  PostAnswer({.kind = framework::PostedAnswer::Kind::kActivate, .uids = uids}, [this, uids] {
    for (const std::string& uid : uids) {
      if (environment_.activate) environment_.activate(uid);
    }
  });
}

void Profile::RunPostBind(CycleState& state, const PodInfo& pod, const std::string& node_name) {
  (void)ObservedStep(Step::kPostBind, [&] {
    for (const auto& enabled : post_bind_) {
      (void)Observed(Step::kPostBind, enabled.name, [&] {
        enabled.plugin->PostBind(*this, state, pod, node_name);
        return Status::Success();
      });
    }
    return Status::Success();
  });
}

std::optional<std::string> Profile::Sign(const PodInfo& pod) const {
  if (!all_sign_) return std::nullopt;
  return ObservedStep(Step::kSign, [&]() -> std::optional<std::string> {
    framework::SignatureBuilder builder;
    for (const framework::SignPlugin* signer : signers_) {
      if (!signer->Sign(pod, builder)) return std::nullopt;
    }
    return std::move(builder).Build();
  });
}

}  // namespace berth::engine
