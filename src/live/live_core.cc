#include "live/live_core.h"

#include "base/log.h"
#include "client/scheduling_kinds.h"

namespace berth::live {

namespace {

// How long the first check of the lease may delay the first lists.
constexpr base::Duration kFirstLook = std::chrono::seconds(2);
// A leader that has not noticed this long after its lease expired is unhealthy.
constexpr base::Duration kLeadershipTolerance = std::chrono::seconds(20);
// How long a write without an answer may take until it takes effect.
constexpr base::Duration kLateEffect = std::chrono::seconds(5);
// What kube-scheduler v1.36.4, whose decisions these are, reports as its version: an election among different
// schedulers is won by the oldest emulation version.
constexpr const char* kBinaryVersion = "1.36.4";
constexpr const char* kEmulationVersion = "1.36.0";

// The kinds that tell what is taken already: room on nodes, and devices. Whoever misses some of that gives it away
// twice.
bool TellsWhatIsTaken(api::Kind kind) {
  return kind == api::Kind::kPod || kind == api::Kind::kNode || kind == api::Kind::kResourceClaim;
}

bool WantsProtobuf(const http::RestConfig& rest) {
  return rest.content_type.empty() || rest.content_type == client::kProtobufType;
}

void LogProblem(std::string_view what, const Error& error) {
  LOG_ERROR("Failed to talk to the API server; trying again", {"what", what}, {"err", error});
}

}  // namespace

LiveCore::LiveCore(const LiveOptions& options, metrics::Registry& metrics, LiveEnvironment environment)
    : options_(options),
      environment_(environment),
      metrics_(metrics, {.queueing_hints = true,
                         .async_preemption = true,
                         .async_api_calls = options_.gates.Enabled("SchedulerAsyncAPICalls"),
                         .dra_extended_resource = options_.gates.Enabled("DRAExtendedResource"),
                         .dra_binding_conditions = options_.gates.Enabled("DRADeviceBindingConditions")}),
      engine_metrics_(metrics),
      election_metrics_(metrics),
      bucket_(std::make_shared<client::TokenBucket>(options_.rest.qps, options_.rest.burst)),
      client_(environment_.transport, environment_.writes, environment_.clock, ClientOptions()),
      election_client_(environment_.transport, environment_.election, environment_.clock,
                       {.protobuf = WantsProtobuf(options_.rest),
                        .timeout = client::LeaseRequestTimeout(options_.configuration.leader_election.renew_deadline),
                        .bucket = bucket_,
                        .urgent = true,
                        .observer = &environment_.request_metrics}),
      events_(client_, environment_.io, environment_.clock,
              {.hostname = options_.hostname,
               .on_problem = [](const Error& error) { LogProblem("event", error); },
               .on_dropped = [this](uint64_t count) { environment_.request_metrics.CountDroppedEvents(count); }}) {}

LiveCore::~LiveCore() { Detach(); }

void LiveCore::Detach() {
  if (first_look_ != 0) environment_.election.Cancel(first_look_);
  // First, because a lease that is acquired in this moment starts what follows.
  elector_.reset();
  candidacy_.reset();
  sync_report_.reset();
  for (auto& reflector : reflectors_) reflector->Stop();
}

Result<std::unique_ptr<LiveCore>> LiveCore::Create(const LiveOptions& options, const framework::Registry& registry,
                                                   metrics::Registry& metrics, LiveEnvironment environment) {
  std::unique_ptr<LiveCore> core(new LiveCore(options, metrics, environment));
  if (Result<void> made = core->Make(registry); !made) return made.error();
  return core;
}

// Every write is fenced by the lease, which is checked right before the write is sent.
client::ApiClientOptions LiveCore::ClientOptions() {
  client::ApiClientOptions options;
  options.protobuf = WantsProtobuf(options_.rest);
  options.bucket = bucket_;
  options.observer = &environment_.request_metrics;
  options.budgets = options_.budgets;
  // Waking the loop sends whatever found a queue full.
  options.on_room = [this](client::WriteClass) { loop_->Post([] {}); };
  if (options_.configuration.leader_election.leader_elect) options.window = window_;
  return options;
}

namespace {

std::set<api::Kind> KindsToRead(const config::FeatureGates& gates) {
  std::set<api::Kind> kinds(std::begin(client::kSchedulingKinds), std::end(client::kSchedulingKinds));
  if (gates.Enabled("DRADeviceTaintRules")) kinds.insert(api::Kind::kDeviceTaintRule);
  return kinds;
}

}  // namespace

Result<void> LiveCore::Make(const framework::Registry& registry) {
  SchedulingLoop::Options loop = options_.loop;
  loop.kinds = KindsToRead(options_.gates);
  loop.engine_metrics = &engine_metrics_;
  for (engine::Extender* extender : loop.extenders) {
    extender->set_confirm([this](const framework::PodInfo& pod, const std::string& node_name, const Error& refusal) {
      return loop_->ConfirmBound(pod, node_name, refusal);
    });
    if (!options_.configuration.leader_election.leader_elect) continue;
    extender->set_may_bind([this] { return window_->TimeLeft(environment_.writes.Now()) > base::Duration::zero(); });
  }
  Result<std::unique_ptr<SchedulingLoop>> made =
      SchedulingLoop::Create(options_.configuration, registry, options_.gates, environment_.monotonic,
                             environment_.runner, client_, events_, metrics_, std::move(loop));
  if (!made) return made.error();
  loop_ = std::move(*made);
  MakeReflectors();
  if (options_.configuration.leader_election.leader_elect) MakeElector();
  return {};
}

void LiveCore::MakeReflectors() {
  for (const api::Kind kind : KindsToRead(options_.gates)) {
    client::ReflectorOptions options{.kind = kind};
    if (kind == api::Kind::kPod) options.field_selector = client::kLivePods;
    options.always_served = client::IsAlwaysServed(kind);
    options.whole_list = client::HasManyObjects(kind);
    options.seed = std::hash<std::string>{}(options_.hostname) + static_cast<uint64_t>(kind);
    options.on_problem = [kind](const Error& error, int) { LogProblem(api::InfoOf(kind).resource, error); };
    reflectors_.push_back(std::make_unique<client::Reflector>(client_, environment_.io, *loop_, std::move(options)));
  }
  MakeCustomReflectors();
  std::vector<const client::Reflector*> reflectors;
  for (const auto& reflector : reflectors_) reflectors.push_back(reflector.get());
  sync_report_ =
      std::make_unique<client::SyncReport>(environment_.io, std::move(reflectors), [](const std::string& missing) {
        LOG_ERROR("Caches have not synced; nothing is scheduled until they have", {"missing", missing});
      });
}

void LiveCore::MakeCustomReflectors() {
  for (const auto& [number, watched] : loop_->driver().cluster().custom_objects().watched()) {
    client::ReflectorOptions options{.kind = api::Kind::kCustomObject};
    options.custom = client::CustomSource{.resource = watched.resource, .keep_json = watched.keep_json};
    options.seed = std::hash<std::string>{}(options_.hostname + watched.resource.Text());
    options.on_problem = [name = watched.resource.Text()](const Error& error, int) { LogProblem(name, error); };
    custom_watches_.push_back(std::make_unique<CustomWatch>(*loop_, number));
    reflectors_.push_back(
        std::make_unique<client::Reflector>(client_, environment_.io, *custom_watches_.back(), std::move(options)));
  }
}

void LiveCore::MakeElector() {
  const config::LeaderElection& election = options_.configuration.leader_election;
  base::Random random(static_cast<uint64_t>(environment_.clock.Now().time_since_epoch().count()));
  client::LeaderElectionOptions options;
  identity_ = client::MakeIdentity(options_.hostname, random);
  options.identity = identity_;
  options.name_space = election.resource_namespace;
  options.name = election.resource_name;
  options.lease_duration = election.lease_duration;
  options.renew_deadline = election.renew_deadline;
  options.retry_period = election.retry_period;
  options.seed = random.Next();
  options.coordinated = options_.gates.Enabled("CoordinatedLeaderElection");
  if (options.coordinated) MakeCandidacy(options.seed);
  options.window = window_;
  options.has_writes = [this] {
    using client::WriteClass;
    const client::WritePath& writes = client_.writes();
    const std::optional<base::Duration> unanswered = writes.last_unanswered();
    return writes.in_flight(WriteClass::kBind) + writes.in_flight(WriteClass::kEvict) +
                   writes.in_flight(WriteClass::kStatus) >
               0 ||
           (unanswered && environment_.writes.Now() - *unanswered < kLateEffect);
  };
  options.started_leading = [this] {
    OnStartedLeading();
    OnLooked();
  };
  options.new_leader = [this](const std::string& identity) {
    LOG_INFO(0, "New leader elected", {"identity", identity});
    if (!elector_->is_leader()) OnLooked();
  };
  options.stopped_leading = [this] { OnStoppedLeading(); };
  options.term_ended = [](const std::string& preferred) {
    LOG_INFO(0, "Lease is marked as 'end of term'; giving it back", {"preferredHolder", preferred});
  };
  options.on_problem = [](const Error& error) { LogProblem("lease", error); };
  options.on_slow_path = [this] {
    election_metrics_.slowpath.With(options_.configuration.leader_election.resource_name).Add();
  };
  options.record_event = [this](const api::Lease& lease, const std::string& message) {
    events_.Record({.reporting_controller = "default-scheduler",
                    .regarding = client::ReferenceTo(api::Kind::kLease, lease.metadata),
                    .type = "Normal",
                    .reason = "LeaderElection",
                    .action = "Elected",
                    .note = message});
  };
  elector_ = std::make_unique<client::LeaderElector>(election_client_, environment_.election, environment_.clock,
                                                     std::move(options));
  election_metrics_.master_status.With(election.resource_name).Set(0);
}

// For exactly the lease that the elector waits for: a candidate for another lease would be elected there, and idle
// here.
void LiveCore::MakeCandidacy(uint64_t seed) {
  const config::LeaderElection& election = options_.configuration.leader_election;
  client::LeaseCandidacyOptions options;
  options.identity = identity_;
  options.name_space = election.resource_namespace;
  options.lease_name = election.resource_name;
  options.binary_version = kBinaryVersion;
  options.emulation_version = kEmulationVersion;
  options.seed = seed;
  options.on_problem = [](const Error& error) { LogProblem("lease candidate", error); };
  candidacy_ = std::make_unique<client::LeaseCandidacy>(election_client_, environment_.election, environment_.clock,
                                                        std::move(options));
}

void LiveCore::Announce(const std::string& type, const std::string& reason, const std::string& note) {
  api::ObjectMeta lease;
  lease.namespace_ = Symbol(options_.configuration.leader_election.resource_namespace);
  lease.name = options_.configuration.leader_election.resource_name;
  events_.Record({.reporting_controller = "default-scheduler",
                  .regarding = client::ReferenceTo(api::Kind::kLease, lease),
                  .type = type,
                  .reason = reason,
                  .action = "Configuring",
                  .note = note});
}

void LiveCore::Start() {
  if (!elector_) {
    loop_->StartScheduling();
    StartReflectors(client::Reflector::From::kLatest);
    return;
  }
  if (candidacy_) candidacy_->Start();
  elector_->Start();
  first_look_ = environment_.election.RunAfter(kFirstLook, [this] { OnLooked(); });
}

void LiveCore::OnLooked() {
  if (!options_.configuration.delay_cache_until_active) StartReflectors(client::Reflector::From::kAnyVersion);
}

void LiveCore::Stop() {
  stopping_ = true;
  End();
}

void LiveCore::End() {
  if (options_.on_stop) options_.on_stop();
  loop_->Stop();
}

void LiveCore::Release(std::function<void()> done) {
  for (auto& reflector : reflectors_) reflector->Stop();
  if (!elector_) return done();
  // A scheduler that is about to release the lease must not be elected again.
  if (candidacy_) candidacy_->Stop();
  elector_->Stop(std::move(done));
}

bool LiveCore::StartReflectors(client::Reflector::From from) {
  const std::lock_guard lock(reflecting_mutex_);
  if (std::exchange(reflecting_, true)) return false;
  for (auto& reflector : reflectors_) reflector->Start(from);
  sync_report_->Start();
  return true;
}

void LiveCore::OnStartedLeading() {
  LOG_INFO(0, "Successfully acquired lease", {"lease", options_.configuration.leader_election.resource_name});
  election_metrics_.master_status.With(options_.configuration.leader_election.resource_name).Set(1);
  if (StartReflectors(client::Reflector::From::kLatest)) {
    loop_->StartScheduling();
  } else {
    CatchUpThenSchedule();
  }
}

// A standby's cache may be behind what the last leader wrote, but must not be when it writes itself: every kind is
// listed again, from the latest version and not from the server's caches.
//
// A kind that cannot be listed for minutes does not hold up scheduling as long as it can be watched. Every write of the
// last leader has an older version than the lease that we hold now, since they have one etcd. So a watch that has come
// that far shows all of them, as a list would. This is required of the kinds that tell what is taken; of the others,
// which may come from an etcd of their own, only that they are watched.
void LiveCore::CatchUpThenSchedule() {
  const auto behind = std::make_shared<std::atomic<size_t>>(reflectors_.size());
  const auto done = [this, behind] {
    if (--*behind == 0) loop_->StartScheduling();
  };
  const std::string& lease = elector_->lease_version();
  for (auto& reflector : reflectors_) {
    const client::ReflectorState state = reflector->state();
    const bool must_be_current = TellsWhatIsTaken(state.kind);
    client::UnlistedStart unlisted;
    if (must_be_current) unlisted.version = lease;
    if (!must_be_current || !lease.empty()) {
      unlisted.done = [done, resource = state.resource](const std::string& why) {
        LOG_WARNING("Listing keeps failing; scheduling with what the watch has shown", {"resource", resource},
                    {"err", why});
        done();
      };
    }
    reflector->CatchUp(done, std::move(unlisted));
  }
  sync_report_->Start();
}

void LiveCore::OnStoppedLeading() {
  election_metrics_.master_status.With(options_.configuration.leader_election.resource_name).Set(0);
  if (candidacy_) candidacy_->Stop();
  if (stopping_) return;
  LOG_ERROR("Leaderelection lost");
  lost_ = true;
  End();
}

Result<void> LiveCore::CheckLeadership() const {
  return elector_ ? elector_->Check(kLeadershipTolerance) : Result<void>();
}

}  // namespace berth::live
