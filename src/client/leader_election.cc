#include "client/leader_election.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/uuid.h"
#include "client/backoff.h"
#include "client/lease_record.h"

namespace berth::client {
namespace {

constexpr double kJitterFactor = 1.2;

constexpr base::Duration kLookForWrites = std::chrono::milliseconds(20);

using LeaseResult = Result<std::shared_ptr<const api::Lease>>;

LeaseResult LeaseIn(const Result<api::Object>& result) {
  if (!result) return result.error();
  std::shared_ptr<const api::Lease> lease = result->Share<api::Lease>();
  if (lease == nullptr) return Error::InvalidArgument(fmt::format("expected a Lease, found a {}", result->info().name));
  return lease;
}

}  // namespace

Result<void> Validate(const LeaderElectionOptions& options) {
  const auto refuse = [](const char* why) { return Error::InvalidArgument(why); };
  if (options.lease_duration <= options.renew_deadline) {
    return refuse("leaseDuration must be greater than renewDeadline");
  }
  const auto stretched = static_cast<int64_t>(kJitterFactor * static_cast<double>(options.retry_period.count()));
  if (options.renew_deadline.count() <= stretched) {
    return refuse("renewDeadline must be greater than retryPeriod*JitterFactor");
  }
  if (options.retry_period <= base::Duration::zero()) return refuse("retryPeriod must be greater than zero");
  if (options.identity.empty()) return refuse("Lock identity is empty");
  return {};
}

base::Duration LeaseRequestTimeout(base::Duration renew_deadline) {
  return std::max<base::Duration>(renew_deadline / 2, std::chrono::seconds(1));
}

std::string MakeIdentity(std::string_view hostname, base::Random& random) {
  return fmt::format("{}_{}", hostname, MakeUuid(random));
}

class LeaderElector::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(ApiClient& client, base::Loop& loop, const base::Clock& clock, LeaderElectionOptions options)
      : client_(client),
        loop_(loop),
        clock_(clock),
        options_(std::move(options)),
        window_(options_.window ? options_.window : std::make_shared<WriteWindow>()),
        random_(options_.seed) {}

  base::Loop& loop() const { return loop_; }
  const std::shared_ptr<WriteWindow>& window() const { return window_; }

  void Start() {
    if (state_ != State::kIdle) return;
    state_ = State::kStandby;
    Try();
  }

  void Stop(std::function<void()> done) {
    const bool leads = state_ == State::kLeading;
    const bool holds = leads || state_ == State::kSteppedBack;
    const base::Duration deadline = leads ? window_->deadline() : term_deadline_;
    End();
    if (!holds) return done();
    GiveBack(deadline, std::move(done));
  }

  // Writes are limited by the window, so by `deadline` they have ended. What may still take effect then is covered by
  // the rest of the lease, which is left to expire.
  void GiveBack(base::Duration deadline, std::function<void()> done) {
    if (options_.has_writes && options_.has_writes()) {
      if (loop_.Now() >= deadline) return Leave(done);
      loop_.RunAfter(kLookForWrites, [self = shared_from_this(), deadline, done = std::move(done)]() mutable {
        self->GiveBack(deadline, std::move(done));
      });
      return;
    }
    // Reads the latest version, so that the write is likely to succeed, and to verify that we still hold the lease.
    client_.Get(api::Kind::kLease, options_.name_space, options_.name, OnLoop([this, done](const LeaseResult& got) {
                  if (got && RecordOf((*got)->spec).holder == options_.identity) {
                    return Release(**got, [this, done] { Leave(done); });
                  }
                  if (!got) Complain(got.error());
                  Leave(done);
                }));
  }

  void Abandon() { End(); }

  bool is_leader() const { return loop_.Now() < window_->deadline(); }

  std::string leader() const {
    std::lock_guard lock(mutex_);
    return observed_.holder;
  }

  const std::string& lease_version() const { return lease_.metadata.resource_version; }

  Result<void> Check(base::Duration tolerance) const {
    std::lock_guard lock(mutex_);
    if (observed_.holder != options_.identity) return {};
    if (loop_.Now() - observed_at_ <= options_.lease_duration + tolerance) return {};
    return Error::Unavailable(fmt::format("failed election to renew leadership on lease {}", options_.name));
  }

 private:
  enum class State { kIdle, kStandby, kLeading, kSteppedBack, kEnded };

  // Runs the callback on the loop, unless the round that it belongs to has ended.
  template <class Callback>
  ApiClient::Done<api::Object> OnLoop(Callback callback) {
    return [self = shared_from_this(), round = round_, callback](const Result<api::Object>& result) {
      self->loop_.Post([self, round, callback, lease = LeaseIn(result)] {
        if (self->round_ == round) callback(lease);
      });
    };
  }

  void After(base::Duration delay, void (Engine::*step)()) {
    loop_.Cancel(timer_);
    timer_ = loop_.RunAfter(delay, [weak = weak_from_this(), step, round = round_] {
      const std::shared_ptr<Engine> self = weak.lock();
      if (self != nullptr && self->round_ == round) (self.get()->*step)();
    });
  }

  void Complain(const Error& error) const {
    if (options_.on_problem) options_.on_problem(error);
  }

  // Outstanding calls are ignored from now on, and no write is allowed.
  void End() {
    ++round_;
    window_->Close();
    loop_.Cancel(timer_);
    loop_.Cancel(deadline_timer_);
    state_ = State::kEnded;
  }

  // ---- One attempt to acquire the lease or to renew it.

  LeaseRecord Ours() const {
    const api::MicroTime now{clock_.Now()};
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options_.lease_duration);
    return {.holder = options_.identity,
            .duration_seconds = static_cast<int32_t>(seconds.count()),
            .acquired = now,
            .renewed = now};
  }

  bool LeaseIsValid() const { return observed_at_ + std::chrono::seconds(observed_.duration_seconds) > loop_.Now(); }

  void Try() {
    // A leader assumes that nobody has changed its lease, except when coordinated: then the server may at any time.
    if (options_.coordinated || observed_.holder != options_.identity || !LeaseIsValid()) return Fetch();
    LeaseRecord record = Ours();
    record.acquired = observed_.acquired;
    record.transitions = observed_.transitions;
    Write(record, [this](const Error&) { Fetch(); });
  }

  void Fetch() {
    client_.Get(api::Kind::kLease, options_.name_space, options_.name, OnLoop([this](const LeaseResult& got) {
                  if (got) return TakeLease(**got);
                  if (got.error().code != ErrorCode::kNotFound) return Failed(got.error());
                  // The server has not elected anyone yet.
                  if (options_.coordinated) return Failed(std::nullopt);
                  lease_ = {};
                  lease_.metadata.name = options_.name;
                  lease_.metadata.namespace_ = Symbol(options_.name_space);
                  Write(Ours(), [this](const Error& error) { Failed(error); });
                }));
  }

  void TakeLease(const api::Lease& lease) {
    lease_ = lease;
    const LeaseRecord record = RecordOf(lease.spec);
    // Its duration starts when we see it change, whatever times are written in it.
    if (fetched_ != record) {
      Observe(record);
      fetched_ = record;
    }
    const bool is_ours = record.holder == options_.identity;
    if (options_.coordinated) return is_ours ? RenewAssigned(record) : StandBy();
    if (!record.holder.empty() && !is_ours && LeaseIsValid()) {
      return StandBy();
    }
    LeaseRecord next = Ours();
    next.transitions = is_ours ? record.transitions : record.transitions + 1;
    if (is_ours) next.acquired = record.acquired;
    if (is_ours && options_.on_slow_path) options_.on_slow_path();
    Write(next, [this](const Error& error) { Failed(error); });
  }

  // We do not hold the lease.
  void StandBy() { state_ == State::kLeading ? Lose() : Failed(std::nullopt); }

  // The server wrote our name. Even if it did so longer ago than the lease lasts, we may lead: as long as our name is
  // in the lease, nobody else's is, and the server would not write the same name a second time.
  void RenewAssigned(const LeaseRecord& record) {
    if (!record.preferred.empty()) return state_ == State::kLeading ? StepBack(record.preferred) : Decline();
    LeaseRecord next = Ours();
    next.acquired = record.acquired;
    next.transitions = record.transitions;
    next.strategy = record.strategy;
    if (options_.on_slow_path) options_.on_slow_path();
    Write(next, [this](const Error& error) { Failed(error); });
  }

  // Our term ended before it began. If the preferred candidate is gone by now, the server will choose us again; but our
  // name would already be in the lease, so the server would not change it, and nobody would ever lead.
  void Decline() {
    Release(lease_, [this] { Failed(std::nullopt); });
  }

  // Creates the lease if it has no version yet.
  template <class OnError>
  void Write(const LeaseRecord& record, OnError on_error) {
    lease_.spec = SpecOf(record);
    const base::Duration sent = loop_.Now();
    auto done = OnLoop([this, record, sent, on_error](const LeaseResult& written) {
      if (!written) return on_error(written.error());
      lease_ = **written;
      Observe(record);
      Succeeded(sent);
    });
    const api::Object object = api::MakeObject(lease_);
    lease_.metadata.resource_version.empty() ? client_.Create(object, std::move(done))
                                             : client_.Update(object, std::move(done));
  }

  void Observe(const LeaseRecord& record) {
    std::lock_guard lock(mutex_);
    observed_ = record;
    observed_at_ = loop_.Now();
  }

  // ---- Outcomes.

  void Succeeded(base::Duration sent) {
    const bool acquired = state_ != State::kLeading;
    const base::Duration now = loop_.Now();
    // The renewal starts after a retry period (at once for the first) and has until the renew deadline. A slow answer
    // must not extend it into the next leader's time.
    const base::Duration pause = acquired ? base::Duration::zero() : options_.retry_period;
    const base::Duration fence = sent + options_.lease_duration - options_.retry_period;
    const base::Duration deadline = std::min(now + pause + options_.renew_deadline, fence);
    if (deadline <= now) return acquired ? Failed(std::nullopt) : Lose();
    window_->MoveTo(deadline);
    loop_.Cancel(deadline_timer_);
    deadline_timer_ = loop_.RunAfter(deadline - now, [weak = weak_from_this(), round = round_] {
      const std::shared_ptr<Engine> self = weak.lock();
      if (self != nullptr && self->round_ == round) self->Lose();
    });
    state_ = State::kLeading;
    ReportLeader();
    After(pause, &Engine::Try);
    if (!acquired) return;
    RecordEvent("became leader");
    if (options_.started_leading) options_.started_leading();
  }

  void Failed(const std::optional<Error>& error) {
    if (error) Complain(*error);
    ReportLeader();
    const bool leading = state_ == State::kLeading;
    After(leading ? options_.retry_period : Jitter(options_.retry_period, kJitterFactor, random_), &Engine::Try);
  }

  void Lose() {
    Complain(Error::Unavailable(fmt::format("leader election lost: {}/{}", options_.name_space, options_.name)));
    ReportLeader();
    End();
    ReportStopped();
  }

  // Nothing more is written; we hold the lease until Stop(), or until it expires.
  void StepBack(const std::string& preferred) {
    term_deadline_ = window_->deadline();
    End();
    state_ = State::kSteppedBack;
    if (options_.term_ended) options_.term_ended(preferred);
    ReportStopped();
  }

  void ReportStopped() {
    if (std::exchange(reported_stop_, true)) return;
    RecordEvent("stopped leading");
    if (options_.stopped_leading) options_.stopped_leading();
  }

  void Release(api::Lease lease, const std::function<void()>& done) {
    LeaseRecord record = RecordOf(lease.spec);
    const api::MicroTime now{clock_.Now()};
    record = {.duration_seconds = 1, .transitions = record.transitions, .acquired = now, .renewed = now};
    lease.spec = SpecOf(record);
    client_.Update(api::MakeObject(std::move(lease)), OnLoop([this, done, record](const LeaseResult& written) {
                     if (written) Observe(record);
                     if (!written) Complain(written.error());
                     done();
                   }));
  }

  void Leave(const std::function<void()>& done) {
    ReportStopped();
    done();
  }

  void RecordEvent(std::string_view what) const {
    if (options_.record_event) options_.record_event(lease_, fmt::format("{} {}", options_.identity, what));
  }

  void ReportLeader() {
    if (observed_.holder == reported_) return;
    reported_ = observed_.holder;
    if (options_.new_leader) options_.new_leader(reported_);
  }

  ApiClient& client_;
  base::Loop& loop_;
  const base::Clock& clock_;
  const LeaderElectionOptions options_;
  const std::shared_ptr<WriteWindow> window_;

  // Used on the loop's thread.
  base::Random random_;
  State state_ = State::kIdle;
  uint64_t round_ = 0;
  base::TimerId timer_ = 0;
  base::TimerId deadline_timer_ = 0;
  api::Lease lease_;                    // as the server last sent it
  std::optional<LeaseRecord> fetched_;  // its contents when it was last read
  std::string reported_;
  bool reported_stop_ = false;
  base::Duration term_deadline_{};  // for writes that were sent before stepping down

  mutable std::mutex mutex_;
  LeaseRecord observed_;          // written by the loop's thread under the lock
  base::Duration observed_at_{};  // the same
};

LeaderElector::LeaderElector(ApiClient& client, base::Loop& loop, const base::Clock& clock,
                             LeaderElectionOptions options) {
  const Result<void> valid = Validate(options);
  CHECK_WHY(valid.ok(), "options of leader election must be validated before");
  engine_ = std::make_shared<Engine>(client, loop, clock, std::move(options));
}

LeaderElector::~LeaderElector() {
  engine_->loop().RunNow([engine = engine_] { engine->Abandon(); });
}

void LeaderElector::Start() {
  engine_->loop().Post([engine = engine_] { engine->Start(); });
}

void LeaderElector::Stop(std::function<void()> done) {
  engine_->loop().Post([engine = engine_, done = std::move(done)]() mutable { engine->Stop(std::move(done)); });
}

bool LeaderElector::is_leader() const { return engine_->is_leader(); }
base::Duration LeaderElector::deadline() const { return engine_->window()->deadline(); }
std::shared_ptr<const WriteWindow> LeaderElector::window() const { return engine_->window(); }
std::string LeaderElector::leader() const { return engine_->leader(); }
const std::string& LeaderElector::lease_version() const { return engine_->lease_version(); }
Result<void> LeaderElector::Check(base::Duration tolerance) const { return engine_->Check(tolerance); }

}  // namespace berth::client
