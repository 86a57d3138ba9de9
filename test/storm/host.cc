#include "storm/host.h"

#include <chrono>
#include <utility>

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kSlowestRestart = 5'000'000'000;  // nanoseconds

}  // namespace

Host::Host(Timeline& timeline, Network& network, Trace& trace, const Scheduler& scheduler, std::string name,
           const Plan& plan, uint64_t seed, std::function<void(const Host& host)> on_life, Report report,
           OnBinding on_binding)
    : timeline_(timeline),
      network_(network),
      trace_(trace),
      scheduler_(scheduler),
      plan_(plan),
      random_(seed),
      on_life_(std::move(on_life)),
      report_(std::move(report)),
      on_binding_(std::move(on_binding)),
      process_(timeline, std::move(name), seed) {}

Host::~Host() = default;

void Host::Launch() {
  if (instance_ != nullptr) return;
  process_.BeginLife();
  const int life = process_.life();
  trace_.Add(process_.name(), "world starts, life {}", life);
  instance_ = scheduler_.make({.process = process_,
                               .network = network_,
                               .trace = trace_,
                               .seed = random_.Next(),
                               .plan = plan_,
                               .on_exit = [this, life] { timeline_.After(1ms, [this, life] { End(life); }); },
                               .report = report_,
                               .on_binding = [this](const SentBinding& binding) { on_binding_(process_, binding); }});
  on_life_(*this);
  instance_->Start();
}

void Host::End(int life) {
  if (life != process_.life() || instance_ == nullptr) return;
  trace_.Add(process_.name(), "world ends, life {}", life);
  instance_.reset();
  timeline_.After(100ms + base::Duration(random_.Below(kSlowestRestart)), [this] { Launch(); });
}

void Host::Crash() {
  if (instance_ == nullptr) return;
  process_.Resume();
  End(process_.life());
}

void Host::Terminate() {
  if (instance_ == nullptr || process_.paused()) return;
  trace_.Add(process_.name(), "world is told to terminate");
  instance_->Terminate();
}

void Host::SilenceWatches() {
  if (instance_ == nullptr) return;
  trace_.Add(process_.name(), "world goes blind");
  instance_->SilenceWatches();
}

void Host::Pause(base::Duration how_long) {
  if (process_.paused()) return;
  trace_.Add(process_.name(), "world pauses for {} ms", how_long / 1ms);
  process_.Pause();
  timeline_.After(how_long, [this] {
    trace_.Add(process_.name(), "world goes on");
    process_.Resume();
  });
}

void Host::Partition(base::Duration how_long, bool breaks_connections) {
  trace_.Add(process_.name(), "world is cut off for {} ms", how_long / 1ms);
  network_.Partition(process_.name(), timeline_.Now() + how_long);
  if (!breaks_connections) return;
  timeline_.After(how_long, [this] {
    if (instance_ != nullptr) instance_->BreakConnections();
  });
}

}  // namespace berth::storm
