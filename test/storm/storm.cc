#include "storm/storm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "client/scheduling_kinds.h"
#include "testing/builders.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

// A half-open watch is noticed after two minutes, a kind that was not served is requested again after one; twice each,
// and the longest backoff. Less than the ten minutes after which a watch ends, so that its end does not hide anything.
constexpr base::Duration kLongestSettling = 8min;
constexpr base::Duration kBetweenLooks = 5s;
constexpr base::Duration kQuietTime = 1min;
constexpr uint64_t kPodsOfTakeover = 6;
// After a renewal that is the last one: the leader must have stopped writing, and the next one is about to lead.
constexpr base::Duration kLeaseEnds = 13s;
constexpr base::Duration kLongestTerm = 6s;
constexpr base::Duration kLongestPause = 20s;
// How often the world may become unsettled again before it is quiet.
constexpr int kMostRounds = 10;
constexpr int kNoisyRounds = 3;
// A storm takes some tens of thousands; this many mean that something spins.
constexpr uint64_t kMostEvents = 300'000;

base::Duration Between(base::Random& random, base::Duration shortest, base::Duration longest) {
  return shortest + base::Duration(random.Below(static_cast<uint64_t>((longest - shortest).count())));
}

}  // namespace

Storm::Storm(const Plan& plan, const Scheduler& scheduler, Trace::Keep keep)
    : plan_(plan),
      scheduler_(scheduler),
      trace_(timeline_, keep),
      faults_(plan.rates, plan.seed),
      store_(timeline_),
      network_(timeline_, faults_, trace_, plan.seed + 1),
      server_(timeline_, store_, faults_, trace_, plan.server, plan.seed + 2),
      claims_(timeline_, store_, scheduler.allocates, plan.seed + 4),
      volumes_(timeline_, store_, plan.volumes && scheduler.allocates, plan.seed + 5),
      actors_(timeline_, store_, server_.writes(), claims_, volumes_, trace_, plan.seed + 3),
      invariants_(timeline_, store_, server_.writes(), scheduler.preempts),
      evictions_(timeline_, store_, server_.writes()) {
  network_.set_server([this](const ExchangePtr& exchange) { server_.Serve(exchange); });
  server_.set_has_picture([this](const std::string& process) {
    const Host* host = FindHost(process);
    return host != nullptr && host->instance() != nullptr && host->instance()->has_synced();
  });
  store_.Observe([this](const Change& change) {
    if (!trace_.on()) return;
    constexpr std::string_view kVerbs[] = {"added", "modified", "deleted"};
    const api::Pod* pod = change.object.As<api::Pod>();
    trace_.Add("store", "{} {} {}{}", change.revision, kVerbs[static_cast<size_t>(change.type)],
               api::KeyOf(change.object.metadata()),
               pod == nullptr ? std::string()
                              : fmt::format(" ({}, phase {}, node \"{}\"{}{})", pod->metadata.uid, pod->status.phase,
                                            pod->spec.node_name,
                                            pod->status.nominated_node_name.empty()
                                                ? ""
                                                : fmt::format(", nominated to {}", pod->status.nominated_node_name),
                                            pod->metadata.deletion_timestamp ? ", going" : ""));
  });
  network_.set_mishap([this](Fault fault, const http::Request& request, const std::string& process) {
    if (fault == Fault::kPausesRenewing) {
      timeline_.After(1us, [this, process] { PauseRenewing(process); });
      return true;
    }
    if (!actors_.DoWhileBound(fault, request)) return false;
    // Not at once: this is called by the process itself.
    if (fault == Fault::kCrashesWhileBinding) timeline_.After(1us, [this, process] { FindHost(process)->Crash(); });
    return true;
  });
  network_.set_on_given_up([this] { actors_.AskForDevices(); });
  faults_.set_on_strike([this](Fault fault) {
    if (fault == Fault::kSlowReport) actors_.CompeteForDevices();
    if (fault == Fault::kInDoubt) actors_.KeepBusy(10ms, kLongestTerm);
    if (fault == Fault::kLeaseStalls) actors_.KeepBusy(kLeaseEnds, kLeaseEnds + kLongestTerm);
  });
  store_.Put(berth::testing::MakeNamespace("default"));
  store_.Put(berth::testing::MakeNamespace("kube-system"));
  actors_.set_answers_held(plan.answers_held);
  actors_.MakeNodes(plan.nodes);
  if (!plan.has_faults()) {
    actors_.set_on_give_up([this](const std::string& pod) { invariants_.CheckKnownAsItIs(pod, hosts_); });
  }
  for (int i = 0; i < plan.instances; ++i) {
    hosts_.push_back(std::make_unique<Host>(
        timeline_, network_, trace_, scheduler_, fmt::format("sched-{}", i), plan_,
        plan.seed * 16 + static_cast<uint64_t>(i), [this](const Host& host) { invariants_.AddLife(host); },
        [this](std::string invariant, std::string message, std::vector<std::string> subjects) {
          invariants_.Report({std::move(invariant), std::move(message), std::move(subjects)});
        },
        [this](const Process& process, const SentBinding& binding) { invariants_.OnSent(process, binding); }));
  }
}

Storm::~Storm() = default;

void Storm::AddLog(std::string_view line) {
  // The time and the position come first; the trace has its own time.
  const size_t text = line.find("] ");
  if (text != std::string_view::npos) line.remove_prefix(text + 2);
  if (line.ends_with('\n')) line.remove_suffix(1);
  trace_.Add(timeline_.actor(), "log {}", line);
}

std::optional<Violation> Storm::Run() {
  Schedule();
  if (RunUntil(plan_.length)) {
    Calm();
    if (Settle() && StaysQuiet() && !plan_.has_faults()) {
      if (std::optional<Violation> needless = evictions_.FindNeedless()) invariants_.Report(std::move(*needless));
    }
  }
  return invariants_.violation();
}

void Storm::Schedule() {
  for (const auto& host : hosts_) host->Launch();
  for (const Action& action : plan_.actions) {
    timeline_.At(action.at, [this, action] { Do(action); });
  }
}

bool Storm::RunUntil(base::Duration until) {
  while (timeline_.RunOne(until)) {
    if (invariants_.violation()) return false;
    if (timeline_.events() < kMostEvents) continue;
    invariants_.Report({.invariant = "nothing spins",
                        .message = fmt::format("{} events have happened, and there is no end", timeline_.events())});
    return false;
  }
  return true;
}

void Storm::Do(const Action& action) { IsMisfortune(action.kind) ? DoToWorld(action) : actors_.Do(action); }

void Storm::DoToWorld(const Action& action) {
  base::Random random(action.seed);
  Host& host = PickHost(random);
  switch (action.kind) {
    case ActionKind::kCompact:
      trace_.Add("server", "world compacts at {}", store_.revision());
      return server_.Compact();
    case ActionKind::kHideKind:
      return HideKind(random);
    case ActionKind::kCrash:
      return host.Crash();
    case ActionKind::kTerminate:
      return Terminate(host, random);
    case ActionKind::kTakeover:
      return TakeOver(random);
    case ActionKind::kPause:
      // When it goes on, it has something to write.
      actors_.Do({.at = timeline_.Now(), .kind = ActionKind::kAddPod, .seed = random.Next()});
      return host.Pause(Between(random, 100ms, 40s));
    case ActionKind::kPartition:
      return host.Partition(Between(random, 100ms, 60s), random.Below(2) == 0);
    case ActionKind::kStepClock: {
      const base::Duration step = Between(random, -1h, 1h);
      trace_.Add(host.process().name(), "world steps the clock by {} s", step / 1s);
      return host.process().StepWallClock(step);
    }
    default:
      return;
  }
}

// Usually the leader: what happens to a standby matters less.
Host& Storm::PickHost(base::Random& random) {
  const bool leads = random.Below(4) != 0;
  for (const auto& host : hosts_) {
    if (leads && host->is_leader()) return *host;
  }
  return *hosts_[random.Below(hosts_.size())];
}

// The next leader has not seen what the last one still does: not even the outcome of pods that both know.
void Storm::TakeOver(base::Random& random) {
  // Those with claims leave behind more than a binding: devices that are theirs, though they are not bound.
  constexpr ActionKind kKinds[] = {ActionKind::kAddClaimPod, ActionKind::kAddPod, ActionKind::kAddUrgentPod};
  const ActionKind kind = kKinds[random.Below(std::size(kKinds))];
  for (uint64_t i = 0; i < kPodsOfTakeover; ++i) {
    actors_.Do({.at = timeline_.Now(), .kind = kind, .seed = random.Next()});
  }
  // Without a standby the next leader is the same program, restarted. The server's caches do not contain yet what the
  // last one has done: they stop when it has seen the pods.
  const bool stand_still = hosts_.size() == 1 || random.Below(2) == 0;
  const base::Duration still = Between(random, 2s, 12s);
  timeline_.After(Between(random, 2ms, 30ms), [this, stand_still, still] {
    for (const auto& host : hosts_) {
      if (!host->is_leader()) host->SilenceWatches();
    }
    if (!stand_still) return;
    trace_.Add("server", "world has caches that stand still");
    server_.watches().Stall(timeline_.Now() + still);
  });
  const base::Duration when = stand_still ? Between(random, 5ms, 300ms) : Between(random, 1s, 15s);
  timeline_.After(when, [this, crash = !stand_still && random.Below(2) == 0] {
    for (const auto& host : hosts_) {
      if (host->is_leader()) crash ? host->Crash() : host->Terminate();
    }
  });
}

// For longer than the lease lasts; when it goes on, it has much to write.
void Storm::PauseRenewing(const std::string& process) {
  Host* host = FindHost(process);
  if (host == nullptr || !host->is_leader()) return;
  const base::Duration how_long = kLeaseEnds + faults_.UpTo(Fault::kPausesRenewing, kLongestPause);
  actors_.KeepBusy(how_long, how_long + kLongestTerm);
  host->Pause(how_long);
}

Host* Storm::FindHost(const std::string& process) const {
  const auto found =
      std::find_if(hosts_.begin(), hosts_.end(), [&](const auto& host) { return host->process().name() == process; });
  return found != hosts_.end() ? found->get() : nullptr;
}

// Sometimes while pods come that it must leave to the next leader, or while more reports wait than may be sent before
// the lease is given back.
void Storm::Terminate(Host& host, base::Random& random) {
  if (random.Below(2) == 0) {
    actors_.KeepBusy(base::Duration::zero(), kLongestTerm);
    return host.Terminate();
  }
  actors_.Do({.at = timeline_.Now(), .kind = ActionKind::kAddCrowd, .seed = random.Next()});
  const base::Duration when = Between(random, 5ms, 2s);
  if (random.Below(2) == 0) network_.SlowLease(host.process().name(), timeline_.Now() + when + kLongestTerm);
  timeline_.After(when, [&host] { host.Terminate(); });
}

void Storm::HideKind(base::Random& random) {
  // Among the kinds that a server need not serve, only storage classes ever have objects.
  const size_t other = random.Below(std::size(client::kSchedulingKinds));
  const api::Kind kind = random.Below(2) == 0 ? api::Kind::kStorageClass : client::kSchedulingKinds[other];
  trace_.Add("server", "world does not serve {}", api::InfoOf(kind).resource);
  server_.SetServed(kind, false);
  // Changes in the meantime are not reported to anyone. Known objects are given up after two minutes.
  const bool is_class = kind == api::Kind::kStorageClass;
  for (uint64_t i = 0; is_class && i < 3; ++i) {
    timeline_.After(Between(random, 1s, 60s), [this, seed = random.Next()] {
      actors_.Do({.at = timeline_.Now(), .kind = ActionKind::kChangeClass, .seed = seed});
    });
  }
  timeline_.After(Between(random, 1s, is_class ? 240s : 150s), [this, kind] {
    trace_.Add("server", "world serves {} again", api::InfoOf(kind).resource);
    server_.SetServed(kind, true);
  });
}

// No new faults occur. Lasting ones, such as a partition, a pause or classes that are not served, end by themselves.
void Storm::Calm() {
  trace_.Add("storm", "world calms down");
  faults_.set_on(false);
  for (const api::Kind kind : client::kSchedulingKinds) {
    if (kind != api::Kind::kStorageClass) server_.SetServed(kind, true);
  }
}

bool Storm::Settle() {
  const base::Duration deadline = timeline_.Now() + kLongestSettling;
  std::optional<Violation> unsettled;
  while (timeline_.Now() < deadline) {
    if (!RunUntil(timeline_.Now() + kBetweenLooks)) return false;
    unsettled = invariants_.FindUnsettled(hosts_);
    if (!unsettled) return true;
  }
  unsettled->message += fmt::format(", {} s after the last fault", kLongestSettling / 1s);
  invariants_.Report(std::move(*unsettled));
  return false;
}

// A settled world stays as it is, and its scheduler writes nothing unless something else changes.
bool Storm::StaysQuiet() {
  const auto changes = [this] {
    return store_.history(api::Kind::kPod).size() + store_.history(api::Kind::kNode).size() +
           store_.history(api::Kind::kResourceClaim).size();
  };
  int noisy = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    const uint64_t writes = invariants_.working_writes();
    const size_t before = changes();
    if (!RunUntil(timeline_.Now() + kQuietTime)) return false;
    const uint64_t written = invariants_.working_writes() - writes;
    if (changes() - before > written || invariants_.FindUnsettled(hosts_)) {
      if (!Settle()) return false;
      continue;
    }
    // A write that was in flight when the world settled is harmless.
    if (written > 0 && ++noisy < kNoisyRounds) continue;
    if (written > 0) {
      invariants_.Report(
          {.invariant = "a settled world is quiet",
           .message = fmt::format("{} writes in {} s although nothing happened", written, kQuietTime / 1s),
           .subjects = {"server"}});
    }
    return !invariants_.violation();
  }
  invariants_.Report({.invariant = "a settled world stays settled",
                      .message = fmt::format("it was unsettled again {} times", kMostRounds)});
  return false;
}

}  // namespace berth::storm
