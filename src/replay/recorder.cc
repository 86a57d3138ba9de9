#include "replay/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "config/dump.h"
#include "replay/checkpoint_codec.h"
#include "scheduler/binding_cycle.h"

namespace berth::replay {

namespace {

// So many things, or so much time, and the writing thread gets them.
constexpr size_t kHandOverAt = 256;
constexpr base::Duration kHandOverAfter = std::chrono::milliseconds(200);
// What was told is in the file after this time at the latest: no more is lost when the program is killed.
constexpr std::chrono::milliseconds kFlushEvery(1000);
// A disk that is so far behind will not catch up, and memory is not for that.
constexpr size_t kMostWaiting = 4'000'000;

// A configuration may hold the key of an extender's client certificate.
std::string Dump(config::KubeSchedulerConfiguration configuration) {
  for (config::Extender& extender : configuration.extenders) extender.tls_config.reset();
  return config::DumpYaml(configuration);
}

}  // namespace

std::string TextOf(const config::FeatureGates& gates) {
  std::string text;
  for (const config::FeatureGate& gate : config::KnownFeatureGates()) {
    if (gates.Enabled(gate.name) == gate.enabled_by_default) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", gate.name, gates.Enabled(gate.name));
  }
  return text;
}

record::ExtenderNote NoteOf(const config::Extender& extender) {
  record::ExtenderNote note{.name = extender.url_prefix,
                            .filters = !extender.filter_verb.empty(),
                            .prioritizes = !extender.prioritize_verb.empty(),
                            .binds = !extender.bind_verb.empty(),
                            .preempts = !extender.preempt_verb.empty(),
                            .is_ignorable = extender.ignorable,
                            .weight = extender.weight,
                            .managed_resources = {}};
  for (const config::ExtenderManagedResource& resource : extender.managed_resources) {
    note.managed_resources.push_back(resource.name);
  }
  return note;
}

record::Header MakeHeader(const config::KubeSchedulerConfiguration& configuration, const config::FeatureGates& gates,
                          const std::vector<engine::Extender*>& extenders) {
  record::Header header;
  header.configuration = Dump(configuration);
  header.feature_gates = TextOf(gates);
  for (const engine::Extender* extender : extenders) {
    record::ExtenderNote note{.name = std::string(extender->name()),
                              .filters = extender->IsFilter(),
                              .prioritizes = extender->IsPrioritizer(),
                              .binds = extender->IsBinder(),
                              .preempts = extender->SupportsPreemption(),
                              .is_ignorable = extender->IsIgnorable(),
                              .weight = extender->weight(),
                              .managed_resources = {}};
    header.extenders.push_back(std::move(note));
  }
  return header;
}

Recorder::Recorder(Options options, std::unique_ptr<record::RingWriter> ring)
    : options_(std::move(options)), ring_(std::move(ring)), header_(options_.header) {
  if (options_.threaded) thread_ = std::thread([this] { Serve(); });
}

Result<std::unique_ptr<Recorder>> Recorder::Start(Options options) {
  options.header.inputs_before = 0;
  Result<std::unique_ptr<record::RingWriter>> ring = record::RingWriter::Open(options.ring);
  if (!ring) return ring.error();
  if (Result<void> begun = (*ring)->Begin(options.header); !begun) return begun.error();
  if (Result<void> settled = (*ring)->Settle(); !settled) return settled.error();
  return std::unique_ptr<Recorder>(new Recorder(std::move(options), *std::move(ring)));
}

Recorder::~Recorder() {
  HandOver();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (stopped_) return;
  (void)TryAppend(FrameType::kEnd, {});
  (void)ring_->Flush();
}

void Recorder::AddObject(FrameType type, base::Time now, const api::Object& object) {
  Item item{type};
  item.time = now;
  item.object = object;
  Add(std::move(item));
}

void Recorder::AddCustom(FrameType type, base::Time now, std::string_view resource,
                         std::shared_ptr<const api::CustomObject> object) {
  Item item{type, std::string(resource)};
  item.time = now;
  item.custom = std::move(object);
  Add(std::move(item));
}

void Recorder::OnRemoveCustom(base::Time now, std::string_view resource, const api::ObjectMeta& metadata) {
  auto object = std::make_shared<api::CustomObject>();
  object->metadata = metadata;
  AddCustom(FrameType::kRemoveCustom, now, resource, std::move(object));
}

void Recorder::OnStep(base::Time now) {
  Add({FrameType::kStep, EncodeInput(now)});
  if (put_aside_.size() < kHandOverAt && now - handed_over_ < kHandOverAfter) return;
  handed_over_ = now;
  HandOver();
}

void Recorder::OnFinish(base::Time now, const scheduler::BindingCycle& cycle) {
  Add({FrameType::kFinish,
       EncodeFinish(now, static_cast<uint64_t>(cycle.attempt().ticket), cycle.status(), cycle.answers())});
}

void Recorder::OnReconfigure(base::Time now, const config::KubeSchedulerConfiguration& configuration) {
  Add({FrameType::kReconfigure, EncodeInput(now, Dump(configuration))});
}

void Recorder::OnCheckpoint(const scheduler::Checkpoint& checkpoint) {
  wants_checkpoint_ = false;
  Item item{FrameType::kCheckpointBegin};
  item.checkpoint = std::make_shared<const scheduler::Checkpoint>(checkpoint);
  Add(std::move(item));
}

void Recorder::Add(Item item) {
  if (stopped_) return;
  if (!options_.threaded) return Write(item);
  put_aside_.push_back(std::move(item));
  if (put_aside_.size() >= kHandOverAt) HandOver();
}

void Recorder::HandOver() {
  if (put_aside_.empty()) return;
  size_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    if (handed_.empty()) {
      handed_.swap(put_aside_);
    } else {
      std::move(put_aside_.begin(), put_aside_.end(), std::back_inserter(handed_));
    }
    waiting = handed_.size();
  }
  put_aside_.clear();
  changed_.notify_one();
  if (waiting > kMostWaiting) Stop(Error::Unavailable("the disk cannot keep up"));
}

void Recorder::Serve() {
  std::vector<Item> items;
  auto flushed = std::chrono::steady_clock::now();
  while (true) {
    bool ending = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kFlushEvery, [this] { return ending_ || !handed_.empty(); });
      items.swap(handed_);
      ending = ending_;
    }
    for (const Item& item : items) Write(item);
    items.clear();
    if (const auto now = std::chrono::steady_clock::now(); now - flushed >= kFlushEvery) {
      flushed = now;
      if (!stopped_) Check(ring_->Flush());
    }
    if (ending) return;
  }
}

void Recorder::Write(const Item& item) {
  if (stopped_) return;
  Check(TryWrite(item));
  bytes_written_ = ring_->bytes_written();
  if (stopped_) return;
  if (ring_->WantsNewFile()) wants_checkpoint_ = true;
  if (ring_->IsOverflowing()) {
    Stop(
        Error::Unavailable("the file has twice the size of the whole ring, and there was no moment without pods that "
                           "wait for permission or claims that are being bound, to begin the next one"));
  }
}

Result<void> Recorder::TryAppend(FrameType type, std::string_view payload) {
  inputs_ += IsInput(type);
  return ring_->Append(static_cast<uint32_t>(type), payload);
}

Result<void> Recorder::TryWrite(const Item& item) {
  if (item.checkpoint) {
    ++header_.part;
    header_.begins = item.checkpoint->taken;
    header_.inputs_before = inputs_;
    if (Result<void> begun = ring_->Begin(header_); !begun) return begun;
    wants_checkpoint_ = false;
    objects_.Reset();
    Result<void> appended;
    EncodeCheckpoint(*item.checkpoint, objects_, [&](FrameType type, std::string_view payload) {
      if (appended) appended = TryAppend(type, payload);
    });
    return appended ? ring_->Settle() : appended;
  }
  if (item.object) {
    std::vector<std::string> templates;
    const std::string encoded = objects_.Encode(*item.object, templates);
    for (const std::string& common : templates) {
      if (Result<void> done = TryAppend(FrameType::kTemplate, common); !done) return done;
    }
    return TryAppend(item.type, EncodeObjectInput(item.time, encoded));
  }
  if (item.custom) {
    return TryAppend(item.type, EncodeObjectInput(item.time, record::EncodeCustom(item.payload, *item.custom)));
  }
  if (item.type == FrameType::kReconfigure) {
    Input input;
    std::string_view object;
    if (DecodeInput(item.type, item.payload, input, object)) header_.configuration = input.text;
  }
  return TryAppend(item.type, item.payload);
}

void Recorder::Check(const Result<void>& done) {
  if (!done) Stop(done.error());
}

void Recorder::Stop(const Error& error) {
  if (stopped_.exchange(true)) return;
  wants_checkpoint_ = false;
  if (options_.on_stopped) options_.on_stopped(error);
}

}  // namespace berth::replay
