#include "perf/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "api/time.h"
#include "perf/stage_counter.h"

namespace berth::perf {

Executor::Executor(const Suite& suite, const TestCase& test_case, const Workload& workload,
                   const std::vector<Operation>& operations, InMemoryCluster& cluster, Options options)
    : suite_(suite),
      test_case_(test_case),
      workload_(workload),
      operations_(operations),
      cluster_(cluster),
      options_(std::move(options)),
      deadline_(cluster.clock().Now() + options_.timeout) {}

Result<std::vector<Collection>> Executor::Run() {
  for (current_ = 0; current_ < operations_.size(); ++current_) {
    if (Result<void> ran = RunOne(operations_[current_]); !ran) return AtOperation(ran.error());
  }
  return std::move(collections_);
}

Error Executor::AtOperation(const Error& error) const {
  const Operation& operation = operations_[current_];
  return {error.code, fmt::format("{}: op {} ({}): {}", codec::Where(suite_.file, operation.where), current_,
                                  operation.opcode, error.message)};
}

Result<void> Executor::RunOne(const Operation& operation) {
  switch (operation.code) {
    case Opcode::kCreateAny:
      return CreateAny(operation);
    case Opcode::kCreateNamespaces:
      return CreateNamespaces(operation);
    case Opcode::kCreateNodes:
      return CreateNodes(operation);
    case Opcode::kCreatePods:
      return CreatePods(operation);
    case Opcode::kDeletePods:
      return DeletePods(operation);
    case Opcode::kUpdateAny:
      return UpdateAny(operation);
    case Opcode::kChurn:
      return Churn(operation);
    case Opcode::kBarrier:
      return Barrier(operation);
    case Opcode::kSleep:
      return Sleep(operation);
    case Opcode::kStartCollectingMetrics:
      return StartCollecting(operation.name, operation.namespaces, operation.label_selector);
    case Opcode::kStopCollectingMetrics:
      return StopCollecting();
    case Opcode::kCreateResourceClaims:
      return CreateResourceClaims(operation);
    case Opcode::kCreateResourceDriver:
      return CreateResourceDriver(operation);
    case Opcode::kAllocResourceClaims:
      return cluster_.AllocateClaims(operation.name_space.value_or(""));
    case Opcode::kCreatePodSets:
      break;
  }
  return Error::Internal("an operation that should have been resolved");
}

Result<void> Executor::Sleep(const Operation& operation) {
  const base::Time until = cluster_.clock().Now() + operation.duration.value;
  const std::shared_ptr<bool> over = StartTicker(operation.duration.value, [] { return false; });
  return RunUntil([&] { return cluster_.clock().Now() >= until || *over; },
                  [&] { return "for " + api::FormatDuration(operation.duration.value) + " to pass"; });
}

// After a barrier no pod of these namespaces is pending any more, so that a later one starts counting anew.
Result<void> Executor::Barrier(const Operation& operation) {
  for (const std::string& name : operation.namespaces) {
    if (!pods_wanted_.contains(name)) return Error::InvalidArgument(fmt::format("unknown namespace \"{}\"", name));
  }
  std::vector<std::string> namespaces = operation.namespaces;
  if (namespaces.empty()) {
    for (const auto& [name, count] : pods_wanted_) namespaces.push_back(name);
  }
  const bool attempted = operation.stage_requirement == "Attempted";
  for (const std::string& name : namespaces) {
    const PodStage stage = attempted ? PodStage::kAttempted : PodStage::kScheduled;
    if (Result<void> waited = WaitForPods({name}, operation.label_selector, stage, pods_wanted_[name]); !waited)
      return waited;
  }
  if (attempted) return {};
  for (const std::string& name : namespaces) pods_wanted_.erase(name);
  return {};
}

Result<void> Executor::WaitForPods(std::vector<std::string> namespaces,
                                   const base::FlatMap<std::string, std::string>& labels, PodStage stage,
                                   int64_t wanted) {
  const std::string where = fmt::format("{}", fmt::join(namespaces, ", "));
  const StageCounter counter(cluster_, PodFilter(std::move(namespaces), labels), stage);
  return RunUntil([&] { return counter.count() >= wanted; },
                  [&] {
                    return fmt::format("for {} pods of namespace {} to be {}; {} are{}", wanted, where,
                                       stage == PodStage::kScheduled ? "scheduled" : "attempted", counter.count(),
                                       counter.FirstMissing());
                  });
}

Result<void> Executor::RunUntil(const Condition& done, const std::function<std::string()>& what) {
  while (!done()) {
    if (Result<void> on_time = LookAround(what); !on_time) return on_time;
    if (cluster_.Step()) continue;
    if (done()) break;
    // Nothing is ready. Something may become ready with time, or through a background operation.
    std::optional<base::Time> wake = cluster_.NextWake();
    if (const std::optional<base::Time> tick = NextTick()) wake = wake ? std::min(*wake, *tick) : tick;
    if (!wake) {
      return Error{ErrorCode::kDeadlineExceeded,
                   fmt::format("waits in vain {}; nothing is left that could change that", what())};
    }
    std::this_thread::sleep_for(std::min(*wake, deadline_) - cluster_.clock().Now());
  }
  return {};
}

Result<void> Executor::LookAround(const std::function<std::string()>& what) {
  if (Result<void> fired = FireTickers(); !fired) return fired;
  if (collector_) collector_->Tick();
  if (cluster_.clock().Now() < deadline_) return {};
  return Error{ErrorCode::kDeadlineExceeded,
               fmt::format("waited {} {}", api::FormatDuration(options_.timeout), what())};
}

Result<void> Executor::FireTickers() {
  for (size_t i = 0; i < tickers_.size(); ++i) {
    const base::Time now = cluster_.clock().Now();
    if (now < tickers_[i].next) continue;
    // Missed ticks are dropped, as with Go's tickers.
    const int64_t late = std::max<int64_t>(0, (now - tickers_[i].next) / tickers_[i].interval);
    tickers_[i].next += tickers_[i].interval * (late + 1);
    Result<bool> more = tickers_[i].tick();
    if (!more) return more.error();
    if (!*more) *tickers_[i].done = true;
  }
  std::erase_if(tickers_, [](const Ticker& ticker) { return *ticker.done; });
  return {};
}

std::optional<base::Time> Executor::NextTick() const {
  std::optional<base::Time> next;
  for (const Ticker& ticker : tickers_) next = next ? std::min(*next, ticker.next) : ticker.next;
  return next;
}

std::shared_ptr<bool> Executor::StartTicker(base::Duration interval, std::function<Result<bool>()> tick) {
  Ticker ticker;
  ticker.interval = std::max(interval, base::Duration(1));
  ticker.next = cluster_.clock().Now() + ticker.interval;
  ticker.tick = std::move(tick);
  tickers_.push_back(ticker);
  return ticker.done;
}

Result<void> Executor::StartCollecting(std::string_view name, const std::vector<std::string>& namespaces,
                                       const base::FlatMap<std::string, std::string>& labels) {
  if (collector_) return Error::InvalidArgument("metrics are already being collected: stop that collection first");
  collector_ = std::make_unique<Collector>(cluster_, fmt::format("{}/{}/{}", test_case_.name, workload_.name, name),
                                           PodFilter(namespaces, labels));
  return {};
}

Result<void> Executor::StopCollecting() {
  if (!collector_) return Error::InvalidArgument("no metrics are being collected: startCollectingMetrics is missing");
  const auto& config = test_case_.metrics_collector_config;
  Collection collection = collector_->Finish(config ? &*config : nullptr);
  collector_.reset();
  collection.missed =
      ApplyThreshold(collection.items, workload_.threshold.For(options_.topic), SelectorOf(test_case_, workload_));
  collections_.push_back(std::move(collection));
  return {};
}

}  // namespace berth::perf
