#include "client/event_recorder.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "api/label_syntax.h"
#include "base/log.h"
#include "base/random.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "client/backoff.h"
#include "client/event_memory.h"

namespace berth::client {
namespace {

// As in client-go's tools/events.
constexpr int kMaxTries = 12;
constexpr base::Duration kRetryPause = std::chrono::seconds(10);
constexpr double kRetryJitter = 0.25;
constexpr base::Duration kFinishTime = std::chrono::minutes(6);
constexpr base::Duration kRefreshTime = std::chrono::minutes(30);
constexpr size_t kNoteLimit = 1024;
constexpr base::Duration kDroppedReport = std::chrono::minutes(1);

// Truncates as upstream does, but not within a character.
std::string Cut(std::string note) {
  constexpr std::string_view kSuffix = " ...";
  if (note.size() <= kNoteLimit) return note;
  note.resize(base::Utf8Prefix(note, kNoteLimit - kSuffix.size()).size());
  note += kSuffix;
  return note;
}

}  // namespace

class EventRecorder::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(ApiClient& client, base::Loop& loop, const base::Clock& clock, EventRecorderOptions options)
      : client_(client),
        loop_(loop),
        clock_(clock),
        options_(std::move(options)),
        random_(options_.seed),
        memory_(options_.max_remembered) {}

  base::Loop& loop() const { return loop_; }

  void Start() {
    Every(kFinishTime, &Engine::FinishSeries);
    Every(kRefreshTime, &Engine::RefreshSeries);
    Every(kDroppedReport, &Engine::ReportDropped);
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
      if (arrived_.size() > 1) return;  // the loop has been notified already
    }
    loop_.Post([self = shared_from_this()] { self->TakeArrived(); });
  }

  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  size_t remembered() const { return remembered_.load(std::memory_order_relaxed); }

 private:
  struct Arrival {
    EventNote note;
    base::Time time;
  };
  // An event to write. Kept in its source form until it is its turn, because the backlog may be long.
  struct Job {
    Arrival arrival{};
    std::string name{};                          // if set, not derived from the arrival
    std::shared_ptr<const api::Event> series{};  // instead of the above
    int tries_left = kMaxTries;
    bool counted = true;  // included in the number of waiting events
    // The key of the series that ends with this write.
    std::optional<EventKey> finished{};
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

  void TakeAlike(Arrival arrival, RememberedEvent& known) {
    const api::MicroTime now{arrival.time};
    memory_.Touch(known, loop_.Now());
    if (known.series) {
      ++known.series->series->count;
      known.series->series->last_observed_time = now;
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    arrival.time = known.time;
    arrival.note.note = std::move(known.note);
    known.series = std::make_unique<api::Event>(MakeEvent(std::move(arrival), std::move(known.name)));
    known.series->series = api::EventSeries{.count = 2, .last_observed_time = now};
    known.written = 2;
    queue_.push_back(std::make_shared<Job>(Job{.series = Share(*known.series)}));
  }

  void Take(Arrival arrival) {
    const EventKey key = KeyOf(arrival.note, InstanceOf(arrival.note));
    if (RememberedEvent* known = memory_.Find(key)) return TakeAlike(std::move(arrival), *known);
    arrival.note.note = Cut(std::move(arrival.note.note));
    std::string name;
    // Some kinds allow names that are invalid for events.
    if (!api::DnsSubdomainProblems(NameFor(arrival)).empty()) name = base::MakeUuid(random_);
    Remember({.key = key, .time = arrival.time, .seen = loop_.Now(), .name = name, .note = arrival.note.note});
    queue_.push_back(std::make_shared<Job>(Job{.arrival = std::move(arrival), .name = std::move(name)}));
  }

  // Evicts the least recently seen event if necessary. The count of an evicted series is written.
  void Remember(RememberedEvent event) {
    while (memory_.full() && memory_.size() > 0) {
      QueueCount(memory_.events().front());
      Forget(EventKey(memory_.events().front().key));
    }
    memory_.Add(std::move(event));
    remembered_.store(memory_.size(), std::memory_order_relaxed);
  }
  void Forget(const EventKey& key) {
    memory_.Forget(key);
    remembered_.store(memory_.size(), std::memory_order_relaxed);
  }

  // Counts are not urgent: with a long backlog the next refresh writes them.
  void QueueCount(RememberedEvent& event, std::optional<EventKey> finished = {}) {
    if (!event.series || queue_.size() >= options_.max_waiting) return;
    const int32_t count = event.series->series->count;
    if (!finished && event.written == count) return;
    event.written = count;
    queue_.push_back(std::make_shared<Job>(
        Job{.series = Share(*event.series), .tries_left = 1, .counted = false, .finished = finished}));
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
    client_.Write(
        WriteClass::kEvents, {}, std::move(request), [self = shared_from_this(), job, then](ApiAnswer answer) {
          self->loop_.Post([self, job, then, answer = std::move(answer)] { (self.get()->*then)(job, answer); });
        });
  }

  // On 404 the event may have expired, or not have been written yet.
  void Patched(const JobPtr& job, const ApiAnswer& answer) {
    if (answer.status.code != 404 || stopped_) return Answered(job, answer);
    Send(client_.CreateRequest(api::MakeObject(EventOf(*job))), job, &Engine::Answered);
  }

  void Answered(const JobPtr& job, const ApiAnswer& answer) {
    --in_flight_;
    if (stopped_) return;
    const bool exists = answer.status.reason == "AlreadyExists" && answer.status.code == 409;
    // The first event's write created it after the series' patch got a 404: it can be patched now.
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
    // Unless the series has continued meanwhile.
    const RememberedEvent* known = memory_.Find(*job->finished);
    if (known == nullptr || !known->series) return;
    if (known->series->series->count == job->series->series->count) Forget(*job->finished);
  }

  // Writes the last count of series that have ended, and forgets single events that are too old to start one.
  void FinishSeries() {
    const base::Duration oldest = loop_.Now() - kFinishTime;
    std::vector<EventKey> singles;
    for (RememberedEvent& event : memory_.events()) {
      if (event.seen >= oldest) break;
      event.series ? QueueCount(event, event.key) : singles.push_back(event.key);
    }
    for (const EventKey& key : singles) Forget(key);
    Pump();
  }

  // So that the server keeps the event.
  void RefreshSeries() {
    for (RememberedEvent& event : memory_.events()) {
      event.written = 0;
      QueueCount(event);
    }
    Pump();
  }

  void ReportDropped() {
    const uint64_t dropped = dropped_.load(std::memory_order_relaxed);
    const uint64_t count = dropped - std::exchange(reported_dropped_, dropped);
    if (count == 0) return;
    if (options_.on_dropped) options_.on_dropped(count);
    LOG_WARNING("Events were dropped: too many are waiting to be written", {"dropped", count}, {"waiting", waiting()});
  }

  ApiClient& client_;
  base::Loop& loop_;
  const base::Clock& clock_;
  const EventRecorderOptions options_;
  std::atomic<size_t> waiting_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<size_t> remembered_{0};

  std::mutex mutex_;
  std::vector<Arrival> arrived_;  // guarded by mutex_

  // Used on the loop's thread.
  base::Random random_;
  bool stopped_ = false;
  size_t in_flight_ = 0;
  std::deque<JobPtr> queue_;
  EventMemory memory_;
  uint64_t reported_dropped_ = 0;
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
size_t EventRecorder::waiting() const { return engine_->waiting(); }
size_t EventRecorder::remembered() const { return engine_->remembered(); }

}  // namespace berth::client
