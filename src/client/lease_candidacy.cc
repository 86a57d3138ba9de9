#include "client/lease_candidacy.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "api/coordination.h"
#include "api/custom_object.h"
#include "client/api_path.h"
#include "client/backoff.h"
#include "client/known_objects.h"
#include "client/lease_candidate_json.h"
#include "client/reflector.h"

namespace berth::client {
namespace {

constexpr std::string_view kStrategy = "OldestEmulationVersion";
constexpr base::Duration kRenewAfter = std::chrono::minutes(5);
constexpr base::Duration kSilentWatch = std::chrono::seconds(30);
// A ping has to be answered within five seconds.
constexpr BackoffOptions kCandidateBackoff{
    .initial = std::chrono::milliseconds(200), .max = std::chrono::seconds(4), .jitter = 0.5};
constexpr base::Duration kClockTolerance = std::chrono::seconds(2);

bool IsPinged(const api::LeaseCandidate& candidate) {
  const api::LeaseCandidateSpec& spec = candidate.spec;
  return spec.ping_time && (!spec.renew_time || *spec.ping_time > *spec.renew_time);
}

}  // namespace

class LeaseCandidacy::Engine final : public ChangeSink, public std::enable_shared_from_this<Engine> {
 public:
  Engine(ApiClient& client, base::Loop& loop, const base::Clock& clock, LeaseCandidacyOptions options)
      : client_(client),
        loop_(loop),
        clock_(clock),
        options_(std::move(options)),
        source_{.resource = LeaseCandidateResource(), .keep_json = true, .name_space = options_.name_space},
        backoff_(kCandidateBackoff, options_.seed, loop.Now()),
        reflector_(client, loop, *this, ReflectorOptionsFor(options_, source_)) {}

  base::Loop& loop() const { return loop_; }
  bool synced() const { return synced_; }

  // From the latest version: a candidate that exists must not be created again.
  void Start() { reflector_.Start(Reflector::From::kLatest); }

  void Stop() {
    stopped_ = true;
    loop_.Cancel(timer_);
    reflector_.Stop();
  }

  void OnListing(api::Kind, std::vector<ObjectChange> changes) override { Take(changes); }

  void OnChanges(api::Kind, std::vector<ObjectChange> changes) override {
    Take(changes);
    const bool is_first = !synced_.exchange(true);
    if (is_first || !known_ || IsPinged(*known_)) Ensure();
  }

  void OnNotServed(api::Kind) override {
    synced_ = false;
    Complain(Error::Unsupported(
        fmt::format("the API server does not serve {}: coordinated leader election needs "
                    "--feature-gates=CoordinatedLeaderElection=true and --runtime-config={}=true there; nobody leads "
                    "until then",
                    LeaseCandidateResource().Text(), LeaseCandidateResource().ApiVersion())));
  }

 private:
  static ReflectorOptions ReflectorOptionsFor(const LeaseCandidacyOptions& options, const CustomSource& source) {
    ReflectorOptions reflector{.kind = api::Kind::kCustomObject};
    reflector.custom = source;
    reflector.field_selector = "metadata.name=" + options.identity;
    reflector.idle_timeout = kSilentWatch;
    reflector.seed = options.seed;
    reflector.on_problem = [on_problem = options.on_problem](const Error& error, int) {
      if (on_problem) on_problem(error);
    };
    return reflector;
  }

  void Complain(const Error& error) const {
    if (options_.on_problem) options_.on_problem(error);
  }

  // ---- What the server has.

  void Take(const std::vector<ObjectChange>& changes) {
    for (const ObjectChange& change : changes) {
      const api::ObjectMeta& metadata = change.object.metadata();
      if (metadata.name != options_.identity) continue;  // if the server ignored the field selector
      if (change.type == ObjectChange::Type::kDeleted) {
        if (IsNews(metadata.resource_version)) known_.reset();
      } else {
        Know(change.object.As<api::CustomObject>()->json);
      }
    }
  }

  // Answers to writes and watch events arrive in any order.
  bool IsNews(std::string_view version) const {
    return !known_ || CompareVersions(version, known_->metadata.resource_version) != VersionOrder::kOlder;
  }

  const api::LeaseCandidate* Know(const std::string& json) {
    Result<api::LeaseCandidate> candidate = DecodeLeaseCandidate(json);
    if (!candidate) {
      Complain(candidate.error());
      return nullptr;
    }
    if (IsNews(candidate->metadata.resource_version)) known_ = *std::move(candidate);
    return &*known_;
  }

  // ---- What we write: one call at a time.

  void Ensure() {
    if (stopped_ || writing_ || !synced_) return;
    writing_ = true;
    loop_.Cancel(timer_);
    api::LeaseCandidate wanted = known_.value_or(New());
    const api::MicroTime now{clock_.Now()};
    wanted.spec.renew_time = std::max(now, wanted.spec.ping_time.value_or(now));
    http::Request request{.method = known_ ? "PUT" : "POST", .path = source_.CollectionPath()};
    if (known_) request.path += "/" + Encoded(options_.identity);
    request.headers = {{"Accept", std::string(kJsonType)}, {"Content-Type", std::string(kJsonType)}};
    request.body = EncodeLeaseCandidate(wanted);
    client_.Write(WriteClass::kLease, options_.identity, std::move(request),
                  [weak = weak_from_this(), is_new = !known_, sent = loop_.Now(),
                   tried = wanted.metadata.resource_version, &loop = loop_](const ApiAnswer& answer) {
                    loop.Post([weak, is_new, sent, tried, answer] {
                      const std::shared_ptr<Engine> self = weak.lock();
                      if (self != nullptr) self->Written(answer, is_new, sent, tried);
                    });
                  });
  }

  api::LeaseCandidate New() const {
    api::LeaseCandidate candidate;
    candidate.metadata.name = options_.identity;
    candidate.metadata.namespace_ = Symbol(options_.name_space);
    candidate.spec = {.lease_name = options_.lease_name,
                      .binary_version = options_.binary_version,
                      .emulation_version = options_.emulation_version,
                      .strategy = std::string(kStrategy)};
    return candidate;
  }

  void Written(const ApiAnswer& answer, bool is_new, base::Duration sent, const std::string& tried) {
    writing_ = false;
    if (stopped_) return;
    if (!answer.ok()) {
      Complain(answer.ToError());
      // A change that the watch has reported meanwhile may be why the write was rejected.
      const bool has_changed = !known_ ? !is_new : known_->metadata.resource_version != tried;
      return has_changed ? Ensure() : After(backoff_.Next(loop_.Now()));
    }
    backoff_ = Backoff(kCandidateBackoff, options_.seed, loop_.Now());
    const api::LeaseCandidate* written = Know(answer.response.body);
    if (written == nullptr) return After(backoff_.Next(loop_.Now()));
    if (is_new) CompareClocks(*written, sent);
    // Pinged again while this was in flight.
    if (IsPinged(*known_)) return Ensure();
    After(kRenewAfter);
  }

  void After(base::Duration delay) {
    loop_.Cancel(timer_);
    timer_ = loop_.RunAfter(delay, [weak = weak_from_this()] {
      if (const std::shared_ptr<Engine> self = weak.lock()) self->Ensure();
    });
  }

  // The server sets the creation time by its own clock, to the second, between our request and its answer.
  void CompareClocks(const api::LeaseCandidate& created, base::Duration sent) const {
    if (!created.metadata.creation_timestamp) return;
    const base::Duration ahead = clock_.Now() - *created.metadata.creation_timestamp;
    const base::Duration took = loop_.Now() - sent + std::chrono::seconds(1);
    if (ahead >= -kClockTolerance && ahead <= took + kClockTolerance) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
    Complain(
        Error::Unavailable(fmt::format("the clock is {} s {} that of the API server, which coordinates leader "
                                       "election by comparing the two: synchronize them",
                                       std::abs(seconds), seconds < 0 ? "behind" : "ahead of")));
  }

  ApiClient& client_;
  base::Loop& loop_;
  const base::Clock& clock_;
  const LeaseCandidacyOptions options_;
  const CustomSource source_;
  std::atomic<bool> synced_ = false;  // and served

  // Of the loop's thread.
  Backoff backoff_;
  base::TimerId timer_ = 0;
  bool stopped_ = false;
  bool writing_ = false;
  std::optional<api::LeaseCandidate> known_;
  Reflector reflector_;  // last: it calls the others
};

LeaseCandidacy::LeaseCandidacy(ApiClient& client, base::Loop& loop, const base::Clock& clock,
                               LeaseCandidacyOptions options)
    : engine_(std::make_shared<Engine>(client, loop, clock, std::move(options))) {}

LeaseCandidacy::~LeaseCandidacy() { Stop(); }

void LeaseCandidacy::Start() {
  engine_->loop().Post([engine = engine_] { engine->Start(); });
}

void LeaseCandidacy::Stop() {
  engine_->loop().RunNow([engine = engine_] { engine->Stop(); });
}

bool LeaseCandidacy::synced() const { return engine_->synced(); }

}  // namespace berth::client
