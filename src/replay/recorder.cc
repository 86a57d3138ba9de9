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

// The batch goes to the writing thread when it has so many entries or bytes, or after this time.
constexpr size_t kHandOverAt = 256;
constexpr size_t kHandOverBytes = size_t{32} << 10;
constexpr base::Duration kHandOverAfter = std::chrono::milliseconds(200);
// Everything recorded is in the file after at most this time: no more is lost when the program is killed.
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
  (void)ring_->Append(static_cast<uint32_t>(FrameType::kEnd), {});
  (void)ring_->Flush();
}

void Recorder::OnRemoveCustom(base::Time now, std::string_view resource, const api::ObjectMeta& metadata) {
  auto object = std::make_shared<api::CustomObject>();
  object->metadata = metadata;
  AddCustom(FrameType::kRemoveCustom, now, resource, std::move(object));
}

void Recorder::OnStep(base::Time now) {
  Add(FrameType::kStep, [&](std::string& out) { AppendInput(now, {}, out); });
  if (now - handed_over_ < kHandOverAfter) return;
  handed_over_ = now;
  HandOver();
}

void Recorder::OnTend(base::Time now) {
  Add(FrameType::kTend, [&](std::string& out) { AppendInput(now, {}, out); });
}

void Recorder::OnFinish(base::Time now, const scheduler::BindingCycle& cycle) {
  Add(FrameType::kFinish, [&](std::string& out) {
    AppendFinish(now, static_cast<uint64_t>(cycle.attempt().ticket), cycle.status(), cycle.answers(), out);
  });
}

void Recorder::OnReconfigure(base::Time now, const config::KubeSchedulerConfiguration& configuration) {
  AddItem(FrameType::kReconfigure, now, Configuration{Dump(configuration)});
}

void Recorder::OnCheckpoint(const scheduler::Checkpoint& checkpoint) {
  wants_checkpoint_ = false;
  AddItem(FrameType::kCheckpointBegin, checkpoint.taken,
          Beginning{std::make_shared<const scheduler::Checkpoint>(checkpoint), inputs_});
}

void Recorder::AddItem(FrameType type, base::Time now, decltype(Item::content) content) {
  if (stopped_) return;
  put_aside_.items.push_back({put_aside_.frames.size(), type, now, std::move(content)});
  Added(type);
}

void Recorder::Added(FrameType type) {
  ++put_aside_.count;
  inputs_ += IsInput(type);
  if (!options_.threaded || put_aside_.count >= kHandOverAt || put_aside_.frames.size() >= kHandOverBytes) HandOver();
}

void Recorder::HandOver() {
  if (put_aside_.count == 0) return;
  Batch batch = std::exchange(put_aside_, {});
  if (!options_.threaded) return Write(batch);
  put_aside_.frames.reserve(kHandOverBytes);
  put_aside_.items.reserve(kHandOverAt);
  size_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    waiting = waiting_ += batch.count;
    handed_.push_back(std::move(batch));
  }
  changed_.notify_one();
  if (waiting > kMostWaiting) Stop(Error::Unavailable("the disk cannot keep up"));
}

void Recorder::Serve() {
  std::vector<Batch> batches;
  auto flushed = std::chrono::steady_clock::now();
  while (true) {
    bool ending = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kFlushEvery, [this] { return ending_ || !handed_.empty(); });
      batches.swap(handed_);
      waiting_ = 0;
      ending = ending_;
    }
    for (const Batch& batch : batches) Write(batch);
    batches.clear();
    if (const auto now = std::chrono::steady_clock::now(); now - flushed >= kFlushEvery) {
      flushed = now;
      if (!stopped_) Check(ring_->Flush());
    }
    if (ending) return;
  }
}

void Recorder::Write(const Batch& batch) {
  if (stopped_) return;
  Check(TryWrite(batch));
  bytes_written_ = ring_->bytes_written();
  if (stopped_) return;
  if (ring_->WantsNewFile()) wants_checkpoint_ = true;
  if (ring_->IsOverflowing()) {
    Stop(
        Error::Unavailable("the file has twice the size of the whole ring, and there was no moment without pods that "
                           "wait for permission or claims that are being bound, to begin the next one"));
  }
}

Result<void> Recorder::TryWrite(const Batch& batch) {
  const std::string_view frames = batch.frames;
  size_t written = 0;
  for (const Item& item : batch.items) {
    if (Result<void> done = ring_->AppendFrames(frames.substr(written, item.at - written)); !done) return done;
    written = item.at;
    Result<void> done = std::visit([&](const auto& content) { return TryWrite(item, content); }, item.content);
    if (!done) return done;
  }
  return ring_->AppendFrames(frames.substr(written));
}

Result<void> Recorder::TryWrite(const Item& item, const api::Object& object) {
  const record::ObjectWriter::Template common = objects_.TemplateOf(object);
  if (!common.unwritten.empty()) {
    const Result<void> done = ring_->Append(static_cast<uint32_t>(FrameType::kTemplate), common.unwritten);
    if (!done) return done;
  }
  return ring_->AppendWith(static_cast<uint32_t>(item.type), [&](std::string& out) {
    const size_t start = StartObjectInput(item.time, out);
    record::ObjectWriter::Append(object, common, out);
    EndObjectInput(start, out);
  });
}

Result<void> Recorder::TryWrite(const Item& item, const Custom& custom) {
  return ring_->AppendWith(static_cast<uint32_t>(item.type), [&](std::string& out) {
    const size_t start = StartObjectInput(item.time, out);
    out += record::EncodeCustom(custom.resource, *custom.object);
    EndObjectInput(start, out);
  });
}

// The headers of later files have the new configuration.
Result<void> Recorder::TryWrite(const Item& item, const Configuration& configuration) {
  header_.configuration = configuration.yaml;
  return ring_->AppendWith(static_cast<uint32_t>(item.type),
                           [&](std::string& out) { AppendInput(item.time, configuration.yaml, out); });
}

Result<void> Recorder::TryWrite(const Item& item, const Beginning& beginning) {
  ++header_.part;
  header_.begins = item.time;
  header_.inputs_before = beginning.inputs_before;
  if (Result<void> begun = ring_->Begin(header_); !begun) return begun;
  wants_checkpoint_ = false;
  objects_.Reset();
  Result<void> appended;
  EncodeCheckpoint(*beginning.checkpoint, objects_, [&](FrameType type, std::string_view payload) {
    if (appended) appended = ring_->Append(static_cast<uint32_t>(type), payload);
  });
  return appended ? ring_->Settle() : appended;
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
