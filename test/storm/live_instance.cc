// The real scheduler as an Instance: live::LiveCore, as `berth scheduler` runs it, on loops in virtual time; binding
// cycles run on fibers.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "client/scheduling_kinds.h"
#include "cluster/stores.h"
#include "codec/json.h"
#include "config/load.h"
#include "live/live_core.h"
#include "metrics/registry.h"
#include "replay/recorder.h"
#include "replay/testing/echo.h"
#include "storm/decisions.h"
#include "storm/fibers.h"
#include "storm/hold.h"
#include "storm/instance.h"
#include "storm/model_extender.h"
#include "storm/request_rate.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

// A pod that nothing requeues has been forgotten; the periodic flush must not hide that.
constexpr base::Duration kNeverFlushed = 24h;
constexpr int kMostReportsBeforeBinding = 16;
constexpr base::Duration kLongestCalmWait = 1s;
constexpr base::Duration kSlowestTurn = 3s;
constexpr size_t kLastingTimers = 4;
// In one of this many storms a second driver repeats every decision, from what a recording would contain.
constexpr uint64_t kEchoEvery = 4;

// The elapsed time, as base::MonotonicClock reports it.
class ProcessClock final : public base::Clock {
 public:
  explicit ProcessClock(const Process& process) : process_(process) {}
  base::Time Now() const override { return base::Time(kEpoch + process_.Monotonic()); }

 private:
  const Process& process_;
};

class FiberRunner final : public live::BindingRunner {
 public:
  FiberRunner(Process& process, Faults& faults) : loop_(std::in_place, process), faults_(faults) {}

  void Run(Task work, Task report) override {
    if (!loop_) return;
    loop_->Post([this, work = std::move(work), report = std::move(report)] {
      fibers_.Run([this, work, report] {
        work();
        if (loop_ && faults_.Strikes(Fault::kSlowReport)) {
          fibers_.Wait([this](Fibers::Task resume) {
            loop_->RunAfter(faults_.UpTo(Fault::kSlowReport, kSlowestTurn), std::move(resume));
          });
        }
        report();
      });
    });
  }
  bool WaitFor(Length, const std::function<void(Resume)>& begin) override {
    return fibers_.Wait([&](Fibers::Task resume) {
      begin([this, resume = std::move(resume)] {
        if (loop_) loop_->Post(resume);
      });
    });
  }
  // Cycles that have not begun end as well, while what they refer to still exists.
  void Abandon() {
    loop_.reset();
    fibers_.Abandon();
  }
  size_t live() const { return fibers_.live(); }

 private:
  std::optional<VirtualLoop> loop_;
  Faults& faults_;
  Fibers fibers_;
};

// Statuses of claims are parts of bindings.
bool IsReport(const http::Request& request) {
  return request.method == "PATCH" && request.path.ends_with("/status") &&
         request.path.find("/pods/") != std::string::npos;
}

int BurstOf(const Plan& plan) { return static_cast<int>(plan.qps * 2); }

// Of the second driver.
const framework::Registry& ReplayPlugins() {
  static const framework::Registry registry = PluginsWithHold(nullptr, 0);
  return registry;
}

class LiveInstance final : public Instance {
 public:
  explicit LiveInstance(const InstanceOptions& options);
  ~LiveInstance() override;

  void Start() override {
    core_->Start();
    TakeTurn();
  }
  void Terminate() override { core_->Stop(); }

  const std::string& identity() const override { return core_->identity(); }
  bool is_leader() const override { return core_->is_leader(); }
  bool has_synced() const override { return core_->synced(); }
  Picture picture() const override;
  std::optional<std::map<std::string, Amounts>> usage() const override;
  std::optional<std::map<std::string, std::string>> nominations() const override;
  std::optional<std::string> LastReport(const std::string& pod_uid) const override;
  std::vector<std::string> Leftovers() const override;
  void BreakConnections() override { transport_.BreakAll("connection reset by peer"); }
  void SilenceWatches() override { transport_.SilenceWatches(); }

 private:
  live::LiveOptions CoreOptions();
  void ListenTo(live::LiveOptions& options);
  void TakeTurn();
  void CheckAttempts() const;
  void CheckOrder(const http::Request& request);
  void CheckRate(const http::Request& request);
  void NoteReport(const http::Request& request);

  const InstanceOptions options_;
  const ProcessClock clock_;
  ModelExtender extender_;
  VirtualLoop io_;
  VirtualLoop writes_;
  VirtualLoop election_;
  VirtualLoop turns_;    // the scheduling thread
  VirtualLoop answers_;  // of who decides on pods that wait in Permit
  ProcessTransport transport_;
  FiberRunner runner_;
  metrics::Registry metrics_;
  const std::string server_name_ = "model";
  live::RequestMetrics request_metrics_;
  std::unique_ptr<replay::testing::Echo> echo_;
  std::unique_ptr<live::LiveCore> core_;
  struct LastSent {
    std::string pod;  // its name
    std::string message;
  };
  std::map<std::string, LastSent> reports_;  // by UID
  Decisions decisions_;
  RequestRate rate_;
  base::TimerId next_turn_ = 0;
  int reports_before_binding_ = 0;                 // sent while some binding waited
  std::optional<base::Time> binding_waits_since_;  // as far as requests have shown
  bool mail_ = false;
  bool led_ = false;
  bool left_ = false;
};

LiveInstance::LiveInstance(const InstanceOptions& options)
    : options_(options),
      clock_(options.process),
      extender_(options.network.faults(), options.plan.extender == ExtenderKind::kIgnorable),
      io_(options.process),
      writes_(options.process),
      election_(options.process),
      turns_(options.process),
      answers_(options.process),
      transport_(options.network, options.process),
      runner_(options.process, options.network.faults()),
      request_metrics_(metrics_, server_name_),
      decisions_(clock_, options.report, options.on_binding),
      rate_(options.plan.qps, BurstOf(options.plan)) {
  transport_.set_on_answer(
      [this](const http::Request& request, int status) { decisions_.NoteAnswer(request, status); });
  transport_.set_on_delivery([this](const Delivery& delivery) { decisions_.NoteDelivery(delivery); });
  transport_.set_on_request([this](const http::Request& request) {
    decisions_.NoteRequest(request);
    CheckOrder(request);
    CheckRate(request);
    NoteReport(request);
  });
  const framework::Registry plugins = PluginsWithHold(&answers_, options.seed);
  Result<std::unique_ptr<live::LiveCore>> made = live::LiveCore::Create(CoreOptions(), plugins, metrics_,
                                                                        {.transport = transport_,
                                                                         .io = io_,
                                                                         .writes = writes_,
                                                                         .election = election_,
                                                                         .runner = runner_,
                                                                         .clock = options.process.wall_clock(),
                                                                         .monotonic = clock_,
                                                                         .request_metrics = request_metrics_});
  CHECK_WHY(made.ok(), "the default configuration must be good");
  core_ = std::move(*made);
  core_->loop().set_on_mail([this] {
    if (std::exchange(mail_, true)) return;
    Faults& faults = options_.network.faults();
    if (!faults.Strikes(Fault::kSlowTurn)) return turns_.Post([this] { TakeTurn(); });
    // Busy with something slow, such as an extender.
    turns_.Cancel(next_turn_);
    next_turn_ = turns_.RunAfter(faults.UpTo(Fault::kSlowTurn, kSlowestTurn), [this] { TakeTurn(); });
  });
}

// Binding cycles run to their end, and are destroyed while what they refer to still exists.
LiveInstance::~LiveInstance() {
  transport_.Kill();
  core_->Detach();
  runner_.Abandon();
  core_->loop().Stop();
  core_->loop().Turn();
}

live::LiveOptions LiveInstance::CoreOptions() {
  live::LiveOptions options;
  options.configuration = config::DefaultConfiguration(options.gates);
  options.hostname = options_.process.name();
  options.configuration.profiles[0].plugins.multi_point.enabled.push_back({std::string(kHoldName), 0});
  options.rest.qps = options_.plan.qps;
  options.rest.burst = BurstOf(options_.plan);
  if (!options_.plan.protobuf) options.rest.content_type = client::kJsonType;
  options.budgets[static_cast<size_t>(client::WriteClass::kStatus)].max_waiting = options_.plan.status_line;
  options.loop.seed = options_.seed;
  options.loop.backlog = options_.plan.backlog;
  options.loop.max_binding = options_.plan.max_binding;
  options.loop.verify_incremental = true;
  options.loop.max_unschedulable = kNeverFlushed;
  if (options_.plan.extender != ExtenderKind::kNone) options.loop.extenders.push_back(&extender_);
  if (options_.plan.seed % kEchoEvery == 0) ListenTo(options);
  return options;
}

void LiveInstance::ListenTo(live::LiveOptions& options) {
  record::Header header = replay::MakeHeader(options.configuration, options.gates, options.loop.extenders);
  header.seed = options.loop.seed;
  header.max_unschedulable = options.loop.max_unschedulable;
  header.max_binding = scheduler::Driver::kNoLimit;
  echo_ = std::make_unique<replay::testing::Echo>(replay::testing::Echo::Options{
      .header = std::move(header),
      .registry = ReplayPlugins(),
      .on_difference = [this](const replay::Difference& difference) {
        options_.report(
            "a recording decides the same again",
            fmt::format("{}, input {}, {} {}: recorded {}; replayed {}", options_.process.name(), difference.input,
                        difference.what, difference.pod, difference.recorded, difference.replayed),
            {difference.pod});
      }});
  options.loop.tap = echo_.get();
}

void LiveInstance::TakeTurn() {
  mail_ = false;
  turns_.Cancel(next_turn_);
  live::SchedulingLoop& loop = core_->loop();
  decisions_.BeginTurn();
  const base::Time next = loop.Turn();
  decisions_.EndTurn(loop.driver());
  CheckAttempts();
  if (std::exchange(led_, core_->is_leader()) != led_) {
    options_.trace.Add(options_.process.name(), "world {}", led_ ? "leads" : "leads no longer");
    reports_.clear();
  }
  if (!loop.ended()) {
    next_turn_ = turns_.RunAfter(next - clock_.Now(), [this] { TakeTurn(); });
  } else if (!std::exchange(left_, true)) {
    core_->Release(options_.on_exit);
  }
}

// One attempt at a time: a pod that is being bound must not be queued for another.
void LiveInstance::CheckAttempts() const {
  const scheduler::Driver& driver = core_->loop().driver();
  if (driver.binding() == 0) return;
  driver.queue().ForEach([&](const queue::QueuedPod& pod, queue::PodState place) {
    const bool in_attempt = place == queue::PodState::kBinding || place == queue::PodState::kInFlight;
    if (in_attempt || !driver.cluster().IsAssumed(pod.pod->uid())) return;
    options_.report("a pod is in one attempt at a time",
                    fmt::format("{} has {} in line while it is being bound", options_.process.name(), pod.pod->Key()),
                    {pod.pod->name()});
  });
}

void LiveInstance::NoteReport(const http::Request& request) {
  // After a conflict the pod is read. If it shows by then what is to be said, nothing more is sent.
  if (request.method == "GET" && request.path.find("/pods/") != std::string::npos) {
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    std::erase_if(reports_, [&](const auto& report) { return report.second.pod == name; });
  }
  if (!IsReport(request)) return;
  const std::string pod = request.path.substr(0, request.path.rfind('/'));
  const Result<codec::Document> patch = codec::ParseJson(request.body, "patch");
  if (!patch) return options_.report("a patch can be read", patch.error().message, {request.path});
  const codec::Value* metadata = patch->root().Find("metadata");
  const codec::Value* status = patch->root().Find("status");
  const codec::Value* conditions = status != nullptr ? status->Find("conditions") : nullptr;
  if (metadata == nullptr || conditions == nullptr) return;
  for (const codec::Value& condition : conditions->items()) {
    const codec::Value* message = condition.Find("message");
    if (message == nullptr) continue;
    const std::string_view text = message->is_null() ? std::string_view() : message->text();
    reports_[std::string(metadata->Find("uid")->text())] = {pod.substr(pod.rfind('/') + 1), std::string(text)};
  }
}

std::optional<std::string> LiveInstance::LastReport(const std::string& pod_uid) const {
  const auto found = reports_.find(pod_uid);
  return found == reports_.end() ? std::nullopt : std::optional(found->second.message);
}

// Without faults only its rate delays a binding, and the one status patch of its own pod that is in flight.
void LiveInstance::CheckOrder(const http::Request& request) {
  if (options_.plan.has_faults() || core_ == nullptr) return;
  const bool is_report = IsReport(request);
  if (core_->client().writes().waiting(client::WriteClass::kBind) == 0 || request.path.ends_with("/binding")) {
    reports_before_binding_ = 0;
    binding_waits_since_.reset();
    return;
  }
  if (!binding_waits_since_) binding_waits_since_ = clock_.Now();
  if (!is_report || ++reports_before_binding_ < kMostReportsBeforeBinding) return;
  if (clock_.Now() - *binding_waits_since_ < kLongestCalmWait) return;
  options_.report(
      "no binding waits for reports",
      fmt::format("{} has sent {} reports while a binding waits", options_.process.name(), reports_before_binding_),
      {"/status", "/binding"});
}

// Writes, and the reads of single objects that tell how a write has ended, wait for a token each. Leases, lists and
// watches never wait: these are exempt.
void LiveInstance::CheckRate(const http::Request& request) {
  const Result<ApiRequest> parsed = ReadRequest(request);
  if (!parsed || parsed->kind == api::Kind::kLease) return;
  if (request.method == "GET" && parsed->name.empty()) return;
  if (rate_.Take(options_.process.Monotonic())) return;
  options_.report("no more requests than the rate allows",
                  fmt::format("{} sends {} {} above its rate of {} per second", options_.process.name(), request.method,
                              request.path, options_.plan.qps),
                  {options_.process.name()});
}

std::optional<std::map<std::string, std::string>> LiveInstance::nominations() const {
  if (!is_leader()) return std::nullopt;
  std::map<std::string, std::string> known;
  const scheduler::Driver& driver = core_->loop().driver();
  driver.queue().ForEach([&](const queue::QueuedPod& pod, queue::PodState) {
    const std::string& node = driver.cluster().nominator().NodeOf(pod.pod->uid());
    if (!node.empty()) known.emplace(pod.pod->uid(), node);
  });
  return known;
}

Picture LiveInstance::picture() const {
  Picture picture;
  const auto add = [&](api::Kind kind, const api::ObjectMeta& metadata) {
    picture.emplace(std::pair(kind, api::KeyOf(metadata)), std::pair(metadata.uid, metadata.resource_version));
  };
  const scheduler::Driver& driver = core_->loop().driver();
  for (const framework::NodeInfo* node : driver.cluster().nodes()) add(api::Kind::kNode, node->node().metadata);
  // Of a pod that is being bound the queue has the newest version, and the cluster the one that was assumed.
  driver.queue().ForEach(
      [&](const queue::QueuedPod& pod, queue::PodState) { add(api::Kind::kPod, pod.pod->pod().metadata); });
  driver.cluster().ForEachPod([&](const framework::PodInfoPtr& pod) { add(api::Kind::kPod, pod->pod().metadata); });
  auto& objects = const_cast<framework::Objects&>(driver.cluster().objects());
  for (const api::Kind kind : client::kSchedulingKinds) {
    cluster::VisitStore(objects, kind, [&](const auto& store) {
      for (const auto& [key, object] : store) add(kind, object->metadata);
    });
  }
  return picture;
}

std::optional<std::map<std::string, Amounts>> LiveInstance::usage() const {
  std::map<std::string, Amounts> usage;
  for (const framework::NodeInfo* node : core_->loop().driver().cluster().nodes()) {
    if (node->pods().empty() && node->requested() == framework::Resource()) continue;
    usage[node->name()] = {.milli_cpu = node->requested().milli_cpu,
                           .memory = node->requested().memory,
                           .pods = static_cast<int64_t>(node->pods().size())};
  }
  return usage;
}

std::vector<std::string> LiveInstance::Leftovers() const {
  std::vector<std::string> left;
  const auto count = [&](size_t number, std::string_view what) {
    if (number > 0) left.push_back(fmt::format("{} {}", number, what));
  };
  const scheduler::Driver& driver = core_->loop().driver();
  const queue::SchedulingQueue::Counts counts = driver.queue().counts();
  count(driver.binding(), "binding cycles");
  count(runner_.live(), "fibers");
  // A standby accumulates pods to schedule.
  if (is_leader()) count(counts.active, "active pods");
  if (is_leader()) count(counts.backoff, "pods in backoff");
  count(counts.in_flight, "pods in flight");
  driver.queue().ForEachInFlightEvent([&](const framework::ClusterEvent& event, size_t number) {
    count(number, fmt::format("events {} kept for pods in flight", event.Label()));
  });
  const live::LiveApi& api = core_->loop().api();
  count(api.unsent(), "reports that found the line of writes full");
  count(api.nominations(), "nominations to send");
  count(api.waiting(), "waits for storage or devices");
  count(api.evicting(), "rounds of evictions");
  count(core_->loop().retries(), "retries");
  count(answers_.timers(), "answers to pods in Permit");
  count(writes_.timers(), "timers of writes");
  // One per reflector, and those that always run.
  if (io_.timers() > std::size(client::kSchedulingKinds) + kLastingTimers)
    count(io_.timers(), "timers of reads and events");
  count(core_->events().waiting(), "events to write");
  for (const client::WriteClass write_class : {client::WriteClass::kBind, client::WriteClass::kEvict,
                                               client::WriteClass::kStatus, client::WriteClass::kEvents}) {
    count(core_->client().writes().waiting(write_class), fmt::format("{} writes in line", NameOf(write_class)));
    count(core_->client().writes().in_flight(write_class), fmt::format("{} writes in flight", NameOf(write_class)));
  }
  driver.cluster().ForEachPod([&](const framework::PodInfoPtr& pod) {
    if (driver.cluster().IsAssumed(pod->uid())) left.push_back(pod->Key() + " is assumed");
  });
  for (const engine::Profile* profile : driver.scheduler().profiles()) {
    if (!profile->IsAtRest()) left.push_back("state that a plugin keeps of pods in flight");
  }
  if (driver.cluster().HasAssumedClaims()) left.push_back("claims that are assumed, or devices in flight");
  // A watch of each kind, and the lease may be being renewed.
  if (transport_.open_calls() > std::size(client::kSchedulingKinds) + 1) count(transport_.open_calls(), "open calls");
  return left;
}

}  // namespace

Scheduler LiveScheduler() {
  return {.make = [](const InstanceOptions& options) { return std::make_unique<LiveInstance>(options); },
          .preempts = true,
          .allocates = true};
}

}  // namespace berth::storm
