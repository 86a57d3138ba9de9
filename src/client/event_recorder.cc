#include "client/event_recorder.h"

#include <fmt/core.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/label_syntax.h"
#include "base/random.h"
#include "client/backoff.h"
#include "client/uuid.h"

namespace berth::client {
namespace {

// client-go's tools/events.
constexpr int kMaxTries = 12;
constexpr base::Duration kRetryPause = std::chrono::seconds(10);
constexpr double kRetryJitter = 0.25;
constexpr base::Duration kFinishTime = std::chrono::minutes(6);
constexpr base::Duration kRefreshTime = std::chrono::minutes(30);
constexpr size_t kNoteLimit = 1024;

// As upstream cuts it, but not within a character.
std::string Cut(std::string note) {
  constexpr std::string_view kSuffix = " ...";
  if (note.size() <= kNoteLimit) return note;
  size_t end = kNoteLimit - kSuffix.size();
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xc0) == 0x80) --end;
  note.resize(end);
  note += kSuffix;
  return note;
}

void AppendKey(const api::ObjectReference& reference, std::string& key) {
  for (const std::string_view part :
       {std::string_view(reference.kind), reference.namespace_.str(), std::string_view(reference.name),
        std::string_view(reference.uid), std::string_view(reference.api_version),
        std::string_view(reference.resource_version), std::string_view(reference.field_path)}) {
    key += part;
    key += '\0';
  }
}

// Equal for events that are alike: a digest, as tens of thousands of keys may have to be remembered for minutes.
using Key = std::array<unsigned char, 16>;

struct KeyHash {
  size_t operator()(const Key& key) const {
    size_t hash = 0;
    std::memcpy(&hash, key.data(), sizeof(hash));
    return hash;
  }
};

Key KeyOf(const EventNote& note, std::string_view reporting_instance) {
  std::string text;
  for (const std::string_view part :
       {std::string_view(note.type), std::string_view(note.action), std::string_view(note.reason),
        std::string_view(note.reporting_controller), reporting_instance}) {
    text += part;
    text += '\0';
  }
  AppendKey(note.regarding, text);
  if (note.related) AppendKey(*note.related, text);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  Key key;
  std::copy_n(digest, key.size(), key.begin());
  return key;
}

}  // namespace

api::ObjectReference ReferenceTo(api::Kind kind, const api::ObjectMeta& metadata) {
  const api::KindInfo& info = api::InfoOf(kind);
  api::ObjectReference reference;
  reference.kind = info.name;
  reference.api_version = info.api_version();
  reference.namespace_ = metadata.namespace_;
  reference.name = metadata.name;
  reference.uid = metadata.uid;
  reference.resource_version = metadata.resource_version;
  return reference;
}

class EventRecorder::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(ApiClient& client, base::Loop& loop, const base::Clock& clock, EventRecorderOptions options)
      : client_(client), loop_(loop), clock_(clock), options_(std::move(options)), random_(options_.seed) {}

  base::Loop& loop() const { return loop_; }

  void Start() {
    Every(kFinishTime, &Engine::FinishSeries);
    Every(kRefreshTime, &Engine::RefreshSeries);
  }
  void Stop() {
    stopped_ = true;
    queue_.clear();
  }

  void Record(EventNote note) {
    if (waiting_.fetch_add(1, std::memory_order_relaxed) >= options_.max_waiting) {
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    const base::Time now = clock_.Now();
    {
      std::lock_guard lock(mutex_);
      arrived_.push_back({std::move(note), now});
      if (arrived_.size() > 1) return;  // the loop has been told
    }
    loop_.Post([self = shared_from_this()] { self->TakeArrived(); });
  }

  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  struct Arrival {
    EventNote note;
    base::Time time;
  };
  // An event to write. Kept as what it is made from until it is its turn: a backlog of them is long.
  struct Job {
    Arrival arrival{};
    std::string name{};                          // given, when it is not made from the arrival
    std::shared_ptr<const api::Event> series{};  // instead of the above
    int tries_left = kMaxTries;
    bool counted = true;  // among those that wait
    // Of the series that ends with this write.
    std::optional<Key> finished{};
  };
  // What is remembered of an event that has come once, so that a second one like it begins a series.
  struct Single {
    base::Time time;
    std::string name;  // as in a Job
    std::string note;
  };
  using JobPtr = std::shared_ptr<Job>;

  static std::shared_ptr<const api::Event> Share(api::Event event) {
    return std::make_shared<const api::Event>(std::move(event));
  }

  void Every(base::Duration period, void (Engine::*step)()) {
    loop_.RunAfter(period, [weak = weak_from_this(), period, step] {
      const std::shared_ptr<Engine> self = weak.lock();
      if (self == nullptr || self->stopped_) return;
      (self.get()->*step)();
      self->Every(period, step);
    });
  }

  void TakeArrived() {
    std::vector<Arrival> arrived;
    {
      std::lock_guard lock(mutex_);
      arrived.swap(arrived_);
    }
    if (stopped_) return;
    for (Arrival& arrival : arrived) Take(std::move(arrival));
    Pump();
  }

  std::string InstanceOf(const EventNote& note) const {
    return fmt::format("{}-{}", note.reporting_controller, options_.hostname);
  }

  static std::string NameFor(const Arrival& arrival) {
    return fmt::format("{}.{:x}", arrival.note.regarding.name, arrival.time.time_since_epoch().count());
  }

  api::Event MakeEvent(Arrival arrival, std::string name) const {
    EventNote& note = arrival.note;
    api::Event event;
    event.metadata.name = name.empty() ? NameFor(arrival) : std::move(name);
    event.metadata.namespace_ = note.regarding.namespace_.empty() ? Symbol("default") : note.regarding.namespace_;
    event.event_time = api::MicroTime{arrival.time};
    event.reporting_instance = InstanceOf(note);
    event.reporting_controller = std::move(note.reporting_controller);
    event.action = std::move(note.action);
    event.reason = std::move(note.reason);
    event.regarding = std::move(note.regarding);
    event.related = std::move(note.related);
    event.note = std::move(note.note);
    event.type = std::move(note.type);
    return event;
  }
  api::Event EventOf(const Job& job) const { return job.series ? *job.series : MakeEvent(job.arrival, job.name); }

  void Take(Arrival arrival) {
    const api::MicroTime now{arrival.time};
    const Key key = KeyOf(arrival.note, InstanceOf(arrival.note));
    if (const auto found = series_.find(key); found != series_.end()) {
      ++found->second.series->count;
      found->second.series->last_observed_time = now;
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    if (auto first = singles_.extract(key)) {
      arrival.time = first.mapped().time;
      arrival.note.note = std::move(first.mapped().note);
      api::Event event = MakeEvent(std::move(arrival), std::move(first.mapped().name));
      event.series = api::EventSeries{.count = 2, .last_observed_time = now};
      series_.emplace(key, event);
      queue_.push_back(std::make_shared<Job>(Job{.series = Share(std::move(event))}));
      return;
    }
    arrival.note.note = Cut(std::move(arrival.note.note));
    std::string name;
    // Names of other kinds may be no names for events.
    if (!api::DnsSubdomainProblems(NameFor(arrival)).empty()) name = MakeUuid(random_);
    singles_.emplace(key, Single{arrival.time, name, arrival.note.note});
    queue_.push_back(std::make_shared<Job>(Job{.arrival = std::move(arrival), .name = std::move(name)}));
  }

  void Pump() {
    while (in_flight_ < options_.max_in_flight && !queue_.empty()) {
      const JobPtr job = std::move(queue_.front());
      queue_.pop_front();
      ++in_flight_;
      if (job->series) {
        Send(client_.SeriesRequest(*job->series), job, &Engine::Patched);
      } else {
        Send(client_.CreateRequest(api::MakeObject(EventOf(*job))), job, &Engine::Answered);
      }
    }
  }

  void Send(http::Request request, const JobPtr& job, void (Engine::*then)(const JobPtr&, const ApiAnswer&)) {
    client_.Write(WriteClass::kEvents, {}, std::move(request), [self = shared_from_this(), job, then](ApiAnswer answer) {
      self->loop_.Post([self, job, then, answer = std::move(answer)] { (self.get()->*then)(job, answer); });
    });
  }

  // The event may have expired, or not have been written yet.
  void Patched(const JobPtr& job, const ApiAnswer& answer) {
    if (answer.status.code != 404 || stopped_) return Answered(job, answer);
    Send(client_.CreateRequest(api::MakeObject(EventOf(*job))), job, &Engine::Answered);
  }

  void Answered(const JobPtr& job, const ApiAnswer& answer) {
    --in_flight_;
    if (stopped_) return;
    const bool exists = answer.status.reason == "AlreadyExists" && answer.status.code == 409;
    // Created by the first event's write while the series' write found nothing: there is something to patch now.
    const bool again = !answer.ok() && (answer.status.code == 0 || (exists && job->series));
    if (again && --job->tries_left > 0) {
      loop_.RunAfter(Jitter(kRetryPause, kRetryJitter, random_), [self = shared_from_this(), job] {
        if (self->stopped_) return;
        self->queue_.push_back(job);
        self->Pump();
      });
    } else {
      Finish(job, answer, again);
    }
    Pump();
  }

  void Finish(const JobPtr& job, const ApiAnswer& answer, bool unanswered) {
    if (job->counted) waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (!answer.ok() && options_.on_problem) options_.on_problem(answer.ToError());
    if (!job->finished || unanswered) return;
    // Unless it has gone on meanwhile.
    const auto found = series_.find(*job->finished);
    if (found == series_.end()) return;
    if (found->second.series->count == job->series->series->count) series_.erase(found);
  }

  // Writes the last count of series that have ended, and forgets single events that are too old to begin one.
  void FinishSeries() {
    const base::Time oldest = clock_.Now() - kFinishTime;
    std::erase_if(singles_, [&](const auto& entry) { return entry.second.time < oldest; });
    for (const auto& [key, event] : series_) {
      if (event.series->last_observed_time->time >= oldest) continue;
      queue_.push_back(
          std::make_shared<Job>(Job{.series = Share(event), .tries_left = 1, .counted = false, .finished = key}));
    }
    Pump();
  }

  void RefreshSeries() {
    for (const auto& [key, event] : series_) {
      queue_.push_back(std::make_shared<Job>(Job{.series = Share(event), .tries_left = 1, .counted = false}));
    }
    Pump();
  }

  ApiClient& client_;
  base::Loop& loop_;
  const base::Clock& clock_;
  const EventRecorderOptions options_;
  std::atomic<size_t> waiting_{0};
  std::atomic<uint64_t> dropped_{0};

  std::mutex mutex_;
  std::vector<Arrival> arrived_;  // guarded by mutex_

  // Of the loop's thread.
  base::Random random_;
  bool stopped_ = false;
  size_t in_flight_ = 0;
  std::deque<JobPtr> queue_;
  std::unordered_map<Key, Single, KeyHash> singles_;
  std::unordered_map<Key, api::Event, KeyHash> series_;
};

EventRecorder::EventRecorder(ApiClient& client, base::Loop& loop, const base::Clock& clock,
                             EventRecorderOptions options)
    : engine_(std::make_shared<Engine>(client, loop, clock, std::move(options))) {
  loop.Post([engine = engine_] { engine->Start(); });
}

EventRecorder::~EventRecorder() {
  engine_->loop().RunNow([engine = engine_] { engine->Stop(); });
}

void EventRecorder::Record(EventNote note) { engine_->Record(std::move(note)); }
uint64_t EventRecorder::dropped() const { return engine_->dropped(); }
size_t EventRecorder::waiting() const { return engine_->waiting(); }

}  // namespace berth::client
