#include "live/live_scheduler.h"

#include <fmt/format.h>

#include "base/log.h"
#include "client/scheduling_kinds.h"
#include "live/extender_connection.h"

namespace berth::live {

namespace {

// Requests besides watches. The write path decides how many writes are in flight (client::kDefaultWriteBudgets); with a
// list of each kind they must leave room here for leases, and stay below the 100 streams that a server allows on one
// connection.
constexpr int kMaxRequests = 96;

// How long the first look at the lease may hold up the first lists.
constexpr base::Duration kFirstLook = std::chrono::seconds(2);
// A leader whose lease ran out this long ago and that still has not noticed is not well.
constexpr base::Duration kLeadershipTolerance = std::chrono::seconds(20);

bool WantsProtobuf(const http::RestConfig& rest) {
  return rest.content_type.empty() || rest.content_type == client::kProtobufType;
}

void LogProblem(std::string_view what, const Error& error) {
  LOG_ERROR("Failed to talk to the API server; trying again", {"what", what}, {"err", error});
}

}  // namespace

LiveScheduler::LiveScheduler(LiveOptions options, metrics::Registry& metrics, const base::Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      metrics_(metrics, {.queueing_hints = true, .async_preemption = true}),
      election_metrics_(metrics),
      request_metrics_(metrics, host_),
      transport_(std::make_unique<http::ApiTransport>(
          options_.rest, http::TransportOptions{.max_requests = kMaxRequests}, &request_metrics_)),
      host_(transport_->host()),
      bucket_(std::make_shared<client::TokenBucket>(options_.rest.qps, options_.rest.burst)),
      client_(*transport_, write_loop_, clock_, ClientOptions()),
      election_client_(*transport_, election_loop_, clock_,
                       {.protobuf = WantsProtobuf(options_.rest),
                        .timeout = client::LeaseRequestTimeout(options_.configuration.leader_election.renew_deadline),
                        .bucket = bucket_,
                        .observer = &request_metrics_}),
      events_(client_, io_, clock_,
              {.hostname = options_.hostname, .on_problem = [](const Error& error) { LogProblem("event", error); }}) {}

LiveScheduler::~LiveScheduler() {
  sync_report_.reset();
  for (auto& reflector : reflectors_) reflector->Stop();
  elector_.reset();
  threads_.reset();
  // Nothing is tried again from here on; binding cycles, which would wait for that, have ended with Run().
  io_.Stop();
  write_loop_.Stop();
  election_loop_.Stop();
  // Calls under way end here, while those who hear of it are still there.
  transport_.reset();
}

Result<std::unique_ptr<LiveScheduler>> LiveScheduler::Create(LiveOptions options, const framework::Registry& registry,
                                                             metrics::Registry& metrics, const base::Clock& clock) {
  std::unique_ptr<LiveScheduler> scheduler(new LiveScheduler(std::move(options), metrics, clock));
  if (Result<void> made = scheduler->Make(registry); !made) return made.error();
  return scheduler;
}

// Every write is fenced by the lease: asked for right before it goes out, whoever waits for what.
client::ApiClientOptions LiveScheduler::ClientOptions() {
  client::ApiClientOptions options;
  options.protobuf = WantsProtobuf(options_.rest);
  options.bucket = bucket_;
  options.observer = &request_metrics_;
  if (options_.configuration.leader_election.leader_elect) options.window = window_;
  return options;
}

Result<void> LiveScheduler::Make(const framework::Registry& registry) {
  auto extenders = MakeHttpExtenders(options_.configuration.extenders, options_.rest.user_agent, clock_);
  if (!extenders) return extenders.error();
  extenders_ = *std::move(extenders);
  SchedulingLoop::Options loop = options_.loop;
  for (const auto& extender : extenders_) loop.extenders.push_back(extender.get());
  loop.kinds = {std::begin(client::kSchedulingKinds), std::end(client::kSchedulingKinds)};
  Result<std::unique_ptr<SchedulingLoop>> made = SchedulingLoop::Create(
      options_.configuration, registry, options_.gates, clock_, *threads_, client_, events_, metrics_, std::move(loop));
  if (!made) return made.error();
  loop_ = std::move(*made);
  MakeReflectors();
  if (options_.configuration.leader_election.leader_elect) MakeElector();
  return {};
}

void LiveScheduler::MakeReflectors() {
  for (const api::Kind kind : client::kSchedulingKinds) {
    client::ReflectorOptions options{.kind = kind};
    if (kind == api::Kind::kPod) options.field_selector = client::kLivePods;
    options.always_served = client::IsAlwaysServed(kind);
    options.seed = std::hash<std::string>{}(options_.hostname) + static_cast<uint64_t>(kind);
    options.on_problem = [kind](const Error& error, int) { LogProblem(api::InfoOf(kind).resource, error); };
    reflectors_.push_back(std::make_unique<client::Reflector>(client_, io_, *loop_, std::move(options)));
  }
  std::vector<const client::Reflector*> reflectors;
  for (const auto& reflector : reflectors_) reflectors.push_back(reflector.get());
  sync_report_ = std::make_unique<client::SyncReport>(io_, std::move(reflectors), [](const std::string& missing) {
    LOG_ERROR("Caches have not synced; nothing is scheduled until they have", {"missing", missing});
  });
}

void LiveScheduler::MakeElector() {
  const config::LeaderElection& election = options_.configuration.leader_election;
  base::Random random(static_cast<uint64_t>(clock_.Now().time_since_epoch().count()));
  client::LeaderElectionOptions options;
  options.identity = client::MakeIdentity(options_.hostname, random);
  options.name_space = election.resource_namespace;
  options.name = election.resource_name;
  options.lease_duration = election.lease_duration;
  options.renew_deadline = election.renew_deadline;
  options.retry_period = election.retry_period;
  options.seed = random.Next();
  options.window = window_;
  options.started_leading = [this] {
    OnStartedLeading();
    MarkLooked();
  };
  options.new_leader = [this](const std::string& identity) {
    LOG_INFO(0, "New leader elected", {"identity", identity});
    if (!elector_->is_leader()) MarkLooked();
  };
  options.stopped_leading = [this] { OnStoppedLeading(); };
  options.on_problem = [](const Error& error) { LogProblem("lease", error); };
  options.record_event = [this](const api::Lease& lease, const std::string& message) {
    events_.Record({.reporting_controller = "default-scheduler",
                    .regarding = client::ReferenceTo(api::Kind::kLease, lease.metadata),
                    .type = "Normal",
                    .reason = "LeaderElection",
                    .action = "Elected",
                    .note = message});
  };
  elector_ = std::make_unique<client::LeaderElector>(election_client_, election_loop_, clock_, std::move(options));
  election_metrics_.master_status.With(election.resource_name).Set(0);
}

Result<void> LiveScheduler::Run() {
  if (elector_) {
    elector_->Start();
    // Who finds the lease free lists everything afterwards, and need not catch up with anybody.
    looked_.get_future().wait_for(kFirstLook);
  } else {
    loop_->StartScheduling();
  }
  if (!options_.configuration.delay_cache_until_active || !elector_) StartReflectors();
  loop_->Run();

  for (auto& reflector : reflectors_) reflector->Stop();
  if (elector_) {
    auto released = std::make_shared<std::promise<void>>();
    elector_->Stop([released] { released->set_value(); });
    released->get_future().wait_for(options_.configuration.leader_election.renew_deadline);
  }
  if (lost_) return Error::Unavailable("leaderelection lost");
  return {};
}

void LiveScheduler::Stop() {
  stopping_ = true;
  loop_->Stop();
}

bool LiveScheduler::StartReflectors() {
  const std::lock_guard lock(reflecting_mutex_);
  if (std::exchange(reflecting_, true)) return false;
  for (auto& reflector : reflectors_) reflector->Start();
  sync_report_->Start();
  return true;
}

void LiveScheduler::OnStartedLeading() {
  LOG_INFO(0, "Successfully acquired lease", {"lease", options_.configuration.leader_election.resource_name});
  election_metrics_.master_status.With(options_.configuration.leader_election.resource_name).Set(1);
  if (StartReflectors()) {
    loop_->StartScheduling();
  } else {
    CatchUpThenSchedule();
  }
}

// A standby's picture may be behind what the last leader wrote. Its own first write must not be: every kind is read
// anew, from the server and not from its caches.
void LiveScheduler::CatchUpThenSchedule() {
  const auto behind = std::make_shared<std::atomic<size_t>>(reflectors_.size());
  for (auto& reflector : reflectors_) {
    reflector->CatchUp([this, behind] {
      if (--*behind == 0) loop_->StartScheduling();
    });
  }
}

void LiveScheduler::OnStoppedLeading() {
  election_metrics_.master_status.With(options_.configuration.leader_election.resource_name).Set(0);
  if (stopping_) return;
  LOG_ERROR("Leaderelection lost");
  lost_ = true;
  loop_->Stop();
}

Result<void> LiveScheduler::CheckLeadership() const {
  return elector_ ? elector_->Check(kLeadershipTolerance) : Result<void>();
}

}  // namespace berth::live
