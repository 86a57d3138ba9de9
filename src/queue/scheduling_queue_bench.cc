// The cost of the queue per pod, and per event with many unschedulable pods.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "queue/scheduling_queue.h"

namespace berth::queue {
namespace {

using framework::ActionType;
using framework::EventResource;
using framework::PodInfoPtr;
using framework::QueueingHint;

constexpr size_t kSleepers = 10'000;

class ByPriorityThenTime final : public framework::QueueSortPlugin {
 public:
  bool Less(const framework::QueuedPodView& a, const framework::QueuedPodView& b) const override {
    if (a.pod.priority() != b.pod.priority()) return a.pod.priority() > b.pod.priority();
    return a.added < b.added;
  }
};

PodInfoPtr MakePod(size_t i) {
  auto pod = std::make_shared<api::Pod>();
  pod->metadata.name = "pod-" + std::to_string(i);
  pod->metadata.uid = "3f2b8a54-7d1e-4c0a-9b6f-" + std::to_string(100'000'000'000 + i);
  pod->spec.scheduler_name = "default-scheduler";
  return framework::PodInfo::Make(std::move(pod), {});
}

// A queue whose gates are shut while `gated` is set. NodeResourcesFit declines every event it is asked about.
struct Bench {
  explicit Bench(size_t pods) {
    for (size_t i = 0; i < pods; ++i) made.push_back(MakePod(i));
    ProfileHooks hooks;
    hooks.pre_enqueue = [this](const framework::PodInfo&) {
      return gated ? framework::Status::Unschedulable("gated").WithPlugin("SchedulingGates")
                   : framework::Status::Success();
    };
    hooks.events["SchedulingGates"] = {
        {{EventResource::kPod, ActionType::kUpdatePodSchedulingGatesEliminated}, nullptr}};
    hooks.events["NodeResourcesFit"] = {
        {{EventResource::kPod, ActionType::kDelete}, Decline},
        {{EventResource::kNode, ActionType::kAdd | ActionType::kUpdateNodeAllocatable}, Decline}};
    hooks.events["InterPodAffinity"] = {{{EventResource::kPod, ActionType::kAdd | ActionType::kDelete}, Decline}};
    queue = std::make_unique<SchedulingQueue>(
        clock, sort, std::map<std::string, ProfileHooks>{{"default-scheduler", std::move(hooks)}},
        SchedulingQueue::Options{});
  }
  static QueueingHint Decline(const framework::PodInfo&, const framework::EventObject&, const framework::EventObject&) {
    return QueueingHint::kSkip;
  }
  void PutToSleep() {
    for (const PodInfoPtr& pod : made) {
      queue->Add(pod);
      if (const QueuedPod* popped = queue->Pop()) queue->Requeue(pod->uid(), popped->ticket, {"NodeResourcesFit"}, {});
    }
  }

  base::FakeClock clock{base::Time(std::chrono::seconds(1000))};
  ByPriorityThenTime sort;
  bool gated = false;
  std::vector<PodInfoPtr> made;
  std::unique_ptr<SchedulingQueue> queue;
};

void AddPopDone(benchmark::State& state) {
  const auto waiting = static_cast<size_t>(state.range(0));
  Bench bench(waiting + 1000);
  for (size_t i = 0; i < waiting; ++i) bench.queue->Add(bench.made[i]);
  size_t next = waiting;
  for (auto _ : state) {
    bench.clock.Advance(std::chrono::microseconds(1));
    bench.queue->Add(bench.made[next % bench.made.size()]);
    const QueuedPod* pod = bench.queue->Pop();
    bench.queue->Done(pod->pod->uid(), pod->ticket);
    ++next;
  }
}
BENCHMARK(AddPopDone)->ArgName("waiting")->Arg(0)->Arg(1000)->Arg(100'000);

// Fails and is requeued at once: unschedulable, event, out of the backoff.
void RequeueAndWake(benchmark::State& state) {
  Bench bench(1);
  bench.queue->Add(bench.made[0]);
  for (auto _ : state) {
    bench.clock.Advance(std::chrono::seconds(20));
    const QueuedPod* pod = bench.queue->Pop();
    bench.queue->Requeue(pod->pod->uid(), pod->ticket, {"NodeResourcesFit"}, {});
    bench.queue->OnEvent(HappenedEvent{});
  }
}
BENCHMARK(RequeueAndWake);

void Event(benchmark::State& state, EventResource resource, ActionType action, bool gated) {
  Bench bench(kSleepers);
  bench.gated = gated;
  bench.PutToSleep();
  const auto about = std::make_shared<const api::Pod>();
  for (auto _ : state) bench.queue->OnEvent<api::Pod>({resource, action}, about, about);
}
BENCHMARK_CAPTURE(Event, nobody_registered, EventResource::kPersistentVolume, ActionType::kAdd, false);
BENCHMARK_CAPTURE(Event, registered_by_others, EventResource::kAssignedPod, ActionType::kAdd, false);
BENCHMARK_CAPTURE(Event, all_ask_their_hint, EventResource::kAssignedPod, ActionType::kDelete, false);
BENCHMARK_CAPTURE(Event, gated, EventResource::kAssignedPod, ActionType::kAdd, true);

// The cost of binding a pod while ten thousand others are gated.
void BindWhileOthersAreGated(benchmark::State& state) {
  Bench bench(kSleepers);
  bench.gated = true;
  bench.PutToSleep();
  bench.gated = false;
  const PodInfoPtr pod = MakePod(kSleepers);
  for (auto _ : state) {
    bench.queue->Add(pod);
    const base::Ticket ticket = bench.queue->Pop()->ticket;
    bench.queue->OnEvent<api::Pod>({EventResource::kAssignedPod, ActionType::kAdd}, nullptr, pod->shared_pod());
    bench.queue->Done(pod->uid(), ticket);
    benchmark::DoNotOptimize(bench.queue->counts());
  }
}
BENCHMARK(BindWhileOthersAreGated);

// Every unschedulable pod is requeued and passes its gates.
void AllWake(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto bench = std::make_unique<Bench>(kSleepers);
    bench->PutToSleep();
    bench->clock.Advance(std::chrono::minutes(1));
    state.ResumeTiming();
    bench->queue->OnEvent(HappenedEvent{});
    state.PauseTiming();
    bench.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(AllWake)->Iterations(20);

}  // namespace
}  // namespace berth::queue
