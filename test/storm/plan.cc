#include "storm/plan.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>

#include "base/random.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, kActionKindCount> kNames = {
    "add_pod",      "add_large_pod",   "add_urgent_pod",  "add_gated_pod",  "add_pinned_pod", "add_direct_pod",
    "add_held_pod", "add_refused_pod", "add_claim_pod",   "add_volume_pod", "add_crowd",      "ungate_pod",
    "finish_pod",   "fail_pod",        "fail_and_return", "delete_pod",     "recreate_pod",   "relabel_pod",
    "change_class", "add_node",        "remove_node",     "replace_node",   "cordon_node",    "uncordon_node",
    "taint_node",   "grow_node",       "relabel_node",    "compact",        "hide_kind",      "crash",
    "terminate",    "pause",           "partition",       "step_clock",     "takeover",
};

// Every so many storms have no faults: then nothing excuses a failure.
constexpr uint64_t kCalmEvery = 6;

// Every so many storms have volumes. Not an emphasis: they go with any of those.
constexpr uint64_t kVolumesEvery = 5;

constexpr uint64_t kBurst = 200'000'000;       // nanoseconds
constexpr uint64_t kAtTheEnd = 5'000'000'000;  // the same

// How often each is chosen, relative to the others.
constexpr std::array<uint32_t, kActionKindCount> kWeights = {
    40, 3, 12, 3, 4, 2, 4, 4, 12, 0, 1, 4, 6, 3, 10, 6, 4, 8, 4,  // pods; with volumes only in storms about them
    3,  2, 2,  5, 4, 2, 3, 2,                                     // nodes
    3,  2, 3,  4, 3, 2, 1, 2,                                     // the world
};

// The highest rate of each fault in one storm, per ten thousand.
constexpr Faults::Rates kMostOften = {
    600,   // request_lost
    600,   // answer_lost
    2000,  // delay
    3000,  // slow_bind
    3000,  // torn_frame
    200,   // broken_stream
    200,   // silent_stream
    2000,  // duplicate_event
    2000,  // late_events
    5000,  // stale_list
    500,   // version_too_large
    500,   // expired
    800,   // too_many_requests
    600,   // server_error
    600,   // server_error_after
    300,   // not_found_once
    2000,  // admission
    3000,  // slow_patch
    3000,  // extender
    300,   // slow_turn
    6000,  // slow_claim
    3000,  // slow_lease
    1500,  // lease_stalls
    2000,  // late_effect
    9000,  // refused_node
    9000,  // extender_preempts
    3000,  // slow_report
    400,   // pauses_renewing
    500,   // in_doubt
    4000,  // preemption_changes
    1000,  // recreated
    6000,  // slow_volume
    2000,  // proxy_answers
    6000,  // bound_elsewhere
    8000,  // returns_while_bound
    4000,  // fails_with_claim
    1500,  // crashes_while_binding
};

// What a storm has more of than others. Some bugs need several rare things at once, and then nothing that wakes the pod
// in question by accident.
enum class Emphasis : uint8_t {
  kNone,
  kReturns,
  kLateEnds,
  kCrashes,
  kPermit,
  kPreemption,
  kElsewhere,
  kReports,
  kRefusals,
  kLeaders,
  kUnlistable,
  kDoubt,
};
// Claims have the longest chains of events, so there are more storms about them.
constexpr Emphasis kEmphases[] = {Emphasis::kNone,       Emphasis::kReturns, Emphasis::kLateEnds, Emphasis::kLateEnds,
                                  Emphasis::kCrashes,    Emphasis::kCrashes, Emphasis::kPermit,   Emphasis::kPreemption,
                                  Emphasis::kElsewhere,  Emphasis::kReports, Emphasis::kRefusals, Emphasis::kLeaders,
                                  Emphasis::kUnlistable, Emphasis::kDoubt};

// Every second ordinary pod becomes something else.
ActionKind Emphasize(ActionKind kind, Emphasis emphasis, base::Random& random) {
  if (kind != ActionKind::kAddPod || random.Below(2) != 0) return kind;
  switch (emphasis) {
    case Emphasis::kNone:
    case Emphasis::kElsewhere:
    case Emphasis::kDoubt:
      return kind;
    case Emphasis::kReturns:
    case Emphasis::kLateEnds:
    case Emphasis::kCrashes:
      return ActionKind::kAddClaimPod;  // there are too few devices, and pods wait for nothing else
    case Emphasis::kPermit:
      return ActionKind::kAddHeldPod;
    case Emphasis::kPreemption:
      return ActionKind::kAddUrgentPod;
    case Emphasis::kReports: {
      constexpr ActionKind kReported[] = {ActionKind::kRecreatePod, ActionKind::kAddLargePod, ActionKind::kAddLargePod,
                                          ActionKind::kCordonNode};
      return kReported[random.Below(std::size(kReported))];
    }
    case Emphasis::kRefusals:
      return random.Below(2) == 0 ? ActionKind::kAddRefusedPod : kind;
    case Emphasis::kLeaders: {
      constexpr ActionKind kEnds[] = {ActionKind::kTakeover, ActionKind::kTerminate, ActionKind::kPause,
                                      ActionKind::kPartition};
      const uint64_t end = random.Below(9);
      return end < std::size(kEnds) ? kEnds[end] : kind;
    }
    case Emphasis::kUnlistable:
      return random.Below(4) == 0 ? ActionKind::kTerminate : kind;
  }
  return kind;
}

// Many pods that want one of few volumes, and pods that give them back; if it is to be quiet, nothing else that wakes
// pods.
ActionKind WithVolumes(ActionKind kind, bool is_quiet) {
  if (is_quiet && kind >= ActionKind::kAddNode) {
    return static_cast<size_t>(kind) % 2 == 0 ? ActionKind::kAddHeldPod : ActionKind::kAddVolumePod;
  }
  switch (kind) {
    case ActionKind::kAddPod:
    case ActionKind::kAddPinnedPod:
    case ActionKind::kAddClaimPod:
    case ActionKind::kRelabelPod:
      return ActionKind::kAddVolumePod;
    case ActionKind::kAddLargePod:
    case ActionKind::kAddDirectPod:
      return ActionKind::kAddHeldPod;
    case ActionKind::kAddGatedPod:
    case ActionKind::kUngatePod:
      return ActionKind::kFinishPod;
    default:
      return kind;
  }
}

std::vector<Fault> FaultsOf(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::kReturns:
      return {Fault::kSlowClaim, Fault::kSlowReport, Fault::kReturnsWhileBound, Fault::kFailsWithClaim};
    case Emphasis::kLateEnds:
      return {Fault::kReturnsWhileBound, Fault::kFailsWithClaim};
    case Emphasis::kCrashes:
      return {Fault::kSlowClaim, Fault::kCrashesWhileBinding};
    case Emphasis::kPermit:
      return {Fault::kRefusedNode};
    case Emphasis::kPreemption:
      return {Fault::kExtenderPreempts, Fault::kPreemptionChanges};
    case Emphasis::kElsewhere:
      return {Fault::kBoundElsewhere};
    case Emphasis::kReports:
      return {Fault::kSlowPatch, Fault::kLateEffect, Fault::kRecreated, Fault::kProxyAnswers};
    case Emphasis::kRefusals:
      return {Fault::kAdmission};
    case Emphasis::kLeaders:
      return {Fault::kSlowLease, Fault::kLeaseStalls, Fault::kPausesRenewing, Fault::kStaleList};
    case Emphasis::kDoubt:
      return {Fault::kInDoubt, Fault::kProxyAnswers};
    case Emphasis::kUnlistable:
    case Emphasis::kNone:
      return {};
  }
  return {};
}

Faults::Rates ChooseRates(base::Random& random, Emphasis emphasis) {
  Faults::Rates rates{};
  for (size_t i = 0; i < kFaultCount; ++i) {
    const bool chosen = random.Below(2) == 0;
    // Usually rare, sometimes frequent.
    const uint64_t part = 1 + random.Below(32) * random.Below(32);
    if (chosen) rates[i] = static_cast<uint32_t>(std::max<uint64_t>(1, kMostOften[i] * part / 1024));
  }
  const std::vector<Fault> emphasized = FaultsOf(emphasis);
  if (emphasized.empty() || random.Below(3) == 0) return rates;
  // In every second of these storms nothing else fails, which might undo what matters.
  if (random.Below(2) == 0) rates = {};
  for (const Fault fault : emphasized) {
    const auto i = static_cast<size_t>(fault);
    rates[i] = static_cast<uint32_t>(kMostOften[i] / 4 + random.Below(kMostOften[i] / 2));
  }
  return rates;
}

ActionKind ChooseKind(base::Random& random, bool misfortunes) {
  uint64_t total = 0;
  for (size_t i = 0; i < kActionKindCount; ++i) {
    if (misfortunes || !IsMisfortune(static_cast<ActionKind>(i))) total += kWeights[i];
  }
  uint64_t choice = random.Below(total);
  for (size_t i = 0; i < kActionKindCount; ++i) {
    if (!misfortunes && IsMisfortune(static_cast<ActionKind>(i))) continue;
    if (choice < kWeights[i]) return static_cast<ActionKind>(i);
    choice -= kWeights[i];
  }
  return ActionKind::kAddPod;
}

ServerOptions ChooseServer(base::Random& random) {
  ServerOptions options;
  constexpr StreamingLists kStreaming[] = {StreamingLists::kWork,   StreamingLists::kWork,    StreamingLists::kWork,
                                           StreamingLists::kWork,   StreamingLists::kRefused, StreamingLists::kRefused,
                                           StreamingLists::kBroken, StreamingLists::kEndless};
  options.streaming = kStreaming[random.Below(std::size(kStreaming))];
  if (random.Below(3) == 0) options.page_size = 1 + random.Below(4);
  options.pages_any_version = random.Below(4) == 0;
  return options;
}

}  // namespace

std::string_view NameOf(ActionKind kind) { return kNames[static_cast<size_t>(kind)]; }

bool Plan::has_faults() const {
  return std::any_of(rates.begin(), rates.end(), [](uint32_t rate) { return rate > 0; }) ||
         std::any_of(actions.begin(), actions.end(), [](const Action& action) { return IsMisfortune(action.kind); });
}

Plan MakePlan(uint64_t seed) {
  base::Random random(seed * 2 + 1);
  Plan plan{.seed = seed};
  const bool calm = seed % kCalmEvery == 0;
  Emphasis emphasis = kEmphases[random.Below(std::size(kEmphases))];
  const bool ends_terms = emphasis == Emphasis::kLeaders || emphasis == Emphasis::kUnlistable;
  if (calm && ends_terms) emphasis = Emphasis::kNone;  // their end is a misfortune
  plan.instances = 1 + static_cast<int>(random.Below(3));
  if (emphasis == Emphasis::kUnlistable && plan.instances == 1) plan.instances = 2;
  plan.nodes = 2 + static_cast<int>(random.Below(4));
  plan.protobuf = random.Below(3) != 0;
  plan.server = ChooseServer(random);
  plan.rates = ChooseRates(random, emphasis);
  if (calm) plan.rates = {};
  if (emphasis == Emphasis::kUnlistable) {
    plan.server.relists_latest = false;
    // What needs a list cannot be had from a watch.
    for (const Fault fault : {Fault::kVersionTooLarge, Fault::kExpired, Fault::kNotFoundOnce}) {
      plan.rates[static_cast<size_t>(fault)] = 0;
    }
  }
  constexpr ExtenderKind kExtenders[] = {ExtenderKind::kNone, ExtenderKind::kNone, ExtenderKind::kIgnorable,
                                         ExtenderKind::kNeeded};
  plan.extender = kExtenders[random.Below(std::size(kExtenders))];
  if (emphasis == Emphasis::kPreemption) plan.extender = ExtenderKind::kNeeded;
  if (random.Below(3) == 0 || (emphasis == Emphasis::kLeaders && random.Below(2) == 0))
    plan.qps = static_cast<float>(4 + random.Below(8));
  if (random.Below(3) == 0) plan.status_line = 1 + random.Below(4);
  if (random.Below(2) == 0) plan.backlog = 1 + random.Below(4);
  if (random.Below(4) == 0) plan.max_binding = 1 + random.Below(4);
  plan.volumes = seed % kVolumesEvery == 0;
  plan.answers_held = seed / kCalmEvery % 2 == 0;
  const bool is_quiet = plan.volumes && random.Below(2) == 0;
  if (is_quiet) {
    plan.instances = 1;
    plan.rates = {};
  }
  if (plan.volumes && !calm) plan.rates[static_cast<size_t>(Fault::kSlowVolume)] += 3000;
  // In a short storm little happens that could wake a forgotten pod.
  const bool is_short = random.Below(3) == 0;
  plan.length = std::chrono::seconds(is_short ? 10 + random.Below(30) : 20 + random.Below(80));
  const uint64_t count = is_short ? 8 + random.Below(24) : 30 + random.Below(60);
  base::Duration at{};
  for (uint64_t i = 0; i < count; ++i) {
    // Half of the actions happen right after another one: that is where races are.
    at = random.Below(2) == 0 ? at + base::Duration(random.Below(kBurst))
                              : base::Duration(random.Below(static_cast<uint64_t>(plan.length.count())));
    ActionKind kind = Emphasize(ChooseKind(random, !calm), emphasis, random);
    if (plan.volumes) kind = WithVolumes(kind, is_quiet);
    const bool needs_list = kind == ActionKind::kCompact || kind == ActionKind::kHideKind;
    if (needs_list && !plan.server.relists_latest) kind = ActionKind::kTerminate;
    plan.actions.push_back({at, kind, random.Next()});
    // Somebody more important wants the room while it waits.
    if (emphasis == Emphasis::kPermit && kind == ActionKind::kAddHeldPod && random.Below(2) == 0) {
      plan.actions.push_back({at + base::Duration(random.Below(kBurst)), ActionKind::kAddUrgentPod, random.Next()});
    }
  }
  // There is room in the end, also for those that were preempted.
  for (int i = 0; emphasis == Emphasis::kPermit && i < 2; ++i) {
    plan.actions.push_back(
        {plan.length - base::Duration(random.Below(kAtTheEnd)), ActionKind::kAddNode, random.Next()});
  }
  // Whoever starts with such a server lists everything another way, and must not wait for the end of its watches.
  if (plan.server.streaming == StreamingLists::kEndless && plan.has_faults()) {
    plan.actions.push_back({plan.length - base::Duration(random.Below(kAtTheEnd)), ActionKind::kCrash, random.Next()});
  }
  std::stable_sort(plan.actions.begin(), plan.actions.end(),
                   [](const Action& a, const Action& b) { return a.at < b.at; });
  return plan;
}

}  // namespace berth::storm
