// Echo: listens to a driver and has a second one decide everything again, input by input, from what a recording would
// hold: every input is encoded and decoded on its way. Now and then the second one is made anew from a checkpoint.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "config/dump.h"
#include "record/format.h"
#include "record/object_codec.h"
#include "replay/checkpoint_codec.h"
#include "replay/recorder.h"
#include "replay/replayer.h"
#include "scheduler/binding_cycle.h"
#include "scheduler/tap.h"

namespace berth::replay::testing {

class Echo final : public scheduler::Tap {
 public:
  struct Options {
    record::Header header;
    const framework::Registry& registry;  // outlives it
    uint64_t checkpoint_every = 300;      // inputs, about
    // Called once, when the second driver goes another way.
    std::function<void(const Difference& difference)> on_difference;
  };
  explicit Echo(Options options);
  ~Echo() override;

  uint64_t decisions() const { return decisions_ + (replayer_ ? replayer_->counts().decisions : 0); }
  uint64_t checkpoints() const { return checkpoints_; }

  // scheduler::Tap
  void OnPut(base::Time now, const api::Object& object) override { BeginObject(FrameType::kPut, now, object); }
  void OnRemove(base::Time now, const api::Object& object) override { BeginObject(FrameType::kRemove, now, object); }
  void OnPutCustom(base::Time now, std::string_view resource,
                   const std::shared_ptr<const api::CustomObject>& object) override {
    BeginCustom(FrameType::kPutCustom, now, resource, *object);
  }
  void OnRemoveCustom(base::Time now, std::string_view resource, const api::ObjectMeta& metadata) override {
    api::CustomObject object;
    object.metadata = metadata;
    BeginCustom(FrameType::kRemoveCustom, now, resource, object);
  }
  void OnAdd(base::Time now, const framework::PodInfo& pod) override {
    BeginObject(FrameType::kAdd, now, api::Object(pod.shared_pod()));
  }
  void OnStep(base::Time now) override {
    Begin(FrameType::kStep, [&](std::string& out) { AppendInput(now, {}, out); });
  }
  void OnTend(base::Time now) override {
    Begin(FrameType::kTend, [&](std::string& out) { AppendInput(now, {}, out); });
  }
  void OnFinish(base::Time now, const scheduler::BindingCycle& cycle) override;
  void OnActivate(base::Time now, const std::string& uid) override {
    Begin(FrameType::kActivate, [&](std::string& out) { AppendInput(now, uid, out); });
  }
  void OnGiveUp(base::Time now, const std::string& uid) override {
    Begin(FrameType::kGiveUp, [&](std::string& out) { AppendInput(now, uid, out); });
  }
  void OnReconfigure(base::Time now, const config::KubeSchedulerConfiguration& configuration) override;
  void OnClaimLanded(const std::shared_ptr<const api::ResourceClaim>& written,
                     const std::string& ended_flight) override {
    Begin(FrameType::kClaimLanded, [&](std::string& out) { AppendClaimLanded(written, ended_flight, out); });
  }
  void OnPosted(const framework::PostedAnswer& answer) override {
    Attach(FrameType::kPosted, [&](std::string& out) { AppendPosted(answer, out); });
  }
  void OnEvicting(const std::string& uid, size_t nth) override {
    Attach(FrameType::kEvicting, [&](std::string& out) { AppendEvicting(uid, nth, out); });
  }
  void OnExtender(const scheduler::ExtenderAnswer& answer) override {
    Attach(FrameType::kExtender, [&](std::string& out) { ExtenderRecord::Of(answer).AppendTo(out); });
  }
  void OnDecided(const scheduler::Attempt& attempt) override {
    Attach(FrameType::kDecision, [&](std::string& out) { AppendDecision(attempt, out); });
  }
  bool WantsCheckpoint() const override { return inputs_ >= next_checkpoint_; }
  void OnCheckpoint(const scheduler::Checkpoint& checkpoint) override;

 private:
  void MakeReplayer();
  // `append` appends the payload.
  using AppendPayload = std::function<void(std::string& out)>;
  void BeginObject(FrameType type, base::Time now, const api::Object& object);
  void BeginCustom(FrameType type, base::Time now, std::string_view resource, const api::CustomObject& object);
  void Begin(FrameType type, const AppendPayload& append);
  void Attach(FrameType type, const AppendPayload& append);
  // The input at hand has everything that belongs to it.
  void GiveLast();
  void Give(const Input& input);

  Options options_;
  base::Random random_;
  record::ObjectWriter writer_;
  record::ObjectReader reader_;
  std::unique_ptr<Replayer> replayer_;  // null after a difference
  std::optional<Input> last_;
  uint64_t inputs_ = 0;
  uint64_t next_checkpoint_ = 0;
  uint64_t decisions_ = 0;  // of earlier replayers
  uint64_t checkpoints_ = 0;
};

inline Echo::Echo(Options options) : options_(std::move(options)), random_(options_.header.seed) {
  Result<record::Header> header = record::Header::Decode(options_.header.Encode());
  CHECK(header.ok());
  options_.header = *std::move(header);
  next_checkpoint_ = 1 + random_.Below(2 * options_.checkpoint_every);
  MakeReplayer();
}

inline Echo::~Echo() { GiveLast(); }

inline void Echo::MakeReplayer() {
  if (replayer_) decisions_ += replayer_->counts().decisions;
  Result<std::unique_ptr<Replayer>> made = Replayer::Create(options_.header, options_.registry, {});
  CHECK_WHY(made.ok(), made.ok() ? "" : made.error().message.c_str());
  replayer_ = *std::move(made);
}

inline void Echo::BeginObject(FrameType type, base::Time now, const api::Object& object) {
  const record::ObjectWriter::Template common = writer_.TemplateOf(object);
  if (!common.unwritten.empty()) CHECK(reader_.AddTemplate(common.unwritten).ok());
  Begin(type, [&](std::string& out) {
    const size_t start = StartObjectInput(now, out);
    record::ObjectWriter::Append(object, common, out);
    EndObjectInput(start, out);
  });
}

inline void Echo::BeginCustom(FrameType type, base::Time now, std::string_view resource,
                              const api::CustomObject& object) {
  Begin(type, [&](std::string& out) {
    const size_t start = StartObjectInput(now, out);
    out += record::EncodeCustom(resource, object);
    EndObjectInput(start, out);
  });
}

inline void Echo::OnFinish(base::Time now, const scheduler::BindingCycle& cycle) {
  Begin(FrameType::kFinish, [&](std::string& out) {
    AppendFinish(now, static_cast<uint64_t>(cycle.attempt().ticket), cycle.status(), cycle.answers(), out);
  });
}

inline void Echo::OnReconfigure(base::Time now, const config::KubeSchedulerConfiguration& configuration) {
  options_.header.configuration = config::DumpYaml(configuration);
  Begin(FrameType::kReconfigure, [&](std::string& out) { AppendInput(now, options_.header.configuration, out); });
}

inline void Echo::Begin(FrameType type, const AppendPayload& append) {
  GiveLast();
  if (!replayer_) return;
  ++inputs_;
  std::string payload;
  append(payload);
  last_.emplace();
  std::string_view object;
  const Result<void> decoded = DecodeInput(type, payload, *last_, object);
  CHECK_WHY(decoded.ok(), decoded.ok() ? "" : decoded.error().message.c_str());
  const Result<void> read = DecodeObject(object, reader_, *last_);
  CHECK_WHY(read.ok(), read.ok() ? "" : read.error().message.c_str());
}

inline void Echo::Attach(FrameType type, const AppendPayload& append) {
  if (!replayer_) return;
  CHECK(last_.has_value());
  std::string payload;
  append(payload);
  CHECK(DecodeAttachment(type, payload, *last_).ok());
}

inline void Echo::OnCheckpoint(const scheduler::Checkpoint& checkpoint) {
  GiveLast();
  if (!replayer_) return;
  ++checkpoints_;
  next_checkpoint_ = inputs_ + 1 + random_.Below(2 * options_.checkpoint_every);
  writer_.Reset();
  reader_.Reset();
  CheckpointReader saved(replayer_->gates());
  EncodeCheckpoint(checkpoint, writer_, [&](FrameType type, std::string_view payload) {
    const Result<void> added =
        type == FrameType::kTemplate ? reader_.AddTemplate(payload) : saved.Add(type, payload, reader_);
    CHECK_WHY(added.ok(), added.ok() ? "" : added.error().message.c_str());
  });
  MakeReplayer();
  Input input;
  input.type = FrameType::kCheckpointBegin;
  input.time = saved.checkpoint().taken;
  input.checkpoint = std::make_shared<const scheduler::Checkpoint>(saved.checkpoint());
  Give(input);
}

inline void Echo::GiveLast() {
  if (!last_) return;
  const Input input = *std::exchange(last_, std::nullopt);
  Give(input);
}

inline void Echo::Give(const Input& input) {
  if (!replayer_ || replayer_->Apply(input)) return;
  const Difference difference = *replayer_->difference();
  replayer_.reset();
  options_.on_difference(difference);
}

}  // namespace berth::replay::testing
