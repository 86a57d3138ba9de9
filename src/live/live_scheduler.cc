#include "live/live_scheduler.h"

#include <future>

#include "base/log.h"
#include "live/extender_connection.h"

namespace berth::live {

namespace {

// Requests besides watches and leases. The write path limits the writes in flight (client::kDefaultWriteBudgets);
// together with a list of each kind they should find room here, and stay below the 100 streams that a server allows on
// one connection.
constexpr int kMaxRequests = 96;
constexpr size_t kBindingThreads = 64;

}  // namespace

LiveScheduler::LiveScheduler(LiveOptions options, metrics::Registry& metrics, const base::Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      request_metrics_(metrics, host_),
      transport_(std::make_unique<http::ApiTransport>(
          options_.rest, http::TransportOptions{.max_requests = kMaxRequests}, &request_metrics_)),
      host_(transport_->host()),
      threads_(std::make_unique<BindingThreads>(kBindingThreads)) {}

LiveScheduler::~LiveScheduler() {
  if (core_) core_->Detach();
  threads_.reset();
  // Nothing is retried from here on; binding cycles, which would wait for that, have ended with Run().
  io_.Stop();
  write_loop_.Stop();
  election_loop_.Stop();
  // Ends the calls in flight while their callbacks can still run.
  transport_.reset();
}

Result<std::unique_ptr<LiveScheduler>> LiveScheduler::Create(LiveOptions options, const framework::Registry& registry,
                                                             metrics::Registry& metrics, const base::Clock& clock) {
  std::unique_ptr<LiveScheduler> made(new LiveScheduler(std::move(options), metrics, clock));
  auto extenders = MakeHttpExtenders(made->options_.configuration.extenders, made->options_.rest.user_agent, clock);
  if (!extenders) return extenders.error();
  made->extenders_ = *std::move(extenders);
  made->ObserveExtenders(metrics);
  for (const auto& extender : made->extenders_) made->options_.loop.extenders.push_back(extender.get());
  Result<std::unique_ptr<LiveCore>> core = LiveCore::Create(made->options_, registry, metrics,
                                                            {.transport = *made->transport_,
                                                             .io = made->io_,
                                                             .writes = made->write_loop_,
                                                             .election = made->election_loop_,
                                                             .runner = *made->threads_,
                                                             .clock = clock,
                                                             .monotonic = made->monotonic_,
                                                             .request_metrics = made->request_metrics_});
  if (!core) return core.error();
  made->core_ = *std::move(core);
  return made;
}

void LiveScheduler::ObserveExtenders(metrics::Registry& metrics) {
  if (extenders_.empty()) return;
  extender_metrics_ = std::make_unique<metrics::ExtenderMetrics>(metrics);
  for (const auto& extender : extenders_) {
    extender->set_observer(monotonic_, [this, url = std::string(extender->name())](const std::string& verb,
                                                                                   bool answered, base::Duration took) {
      extender_metrics_->duration.With(url, verb, answered ? "success" : "error")
          .Observe(std::chrono::duration<double>(took).count());
    });
  }
}

Result<void> LiveScheduler::Run() {
  core_->Start();
  core_->loop().Run();
  const auto released = std::make_shared<std::promise<void>>();
  core_->Release([released] { released->set_value(); });
  released->get_future().wait_for(options_.configuration.leader_election.renew_deadline);
  if (core_->lost()) return Error::Unavailable("leaderelection lost");
  return {};
}

}  // namespace berth::live
