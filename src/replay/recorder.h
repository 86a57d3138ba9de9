// Recorder: writes all inputs and decisions of a driver (scheduler::Tap) into a ring of files. The scheduling thread
// only stores what it is passed: small things as encoded frames, objects by reference. Encoding objects, compressing
// and writing happen on the recorder's own thread.
//
// A write that fails (a full disk) ends the recording, with one message. Scheduling goes on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "config/feature_gates.h"
#include "config/types.h"
#include "engine/extender.h"
#include "record/object_codec.h"
#include "record/ring_writer.h"
#include "replay/records.h"
#include "scheduler/tap.h"

namespace berth::replay {

class Recorder final : public scheduler::Tap {
 public:
  struct Options {
    record::RingWriter::Options ring;
    record::Header header;
    // False: everything is written immediately, on the scheduling thread.
    bool threaded = true;
    // Called once when the recording ends before the recorder does, perhaps on its own thread.
    std::function<void(const Error& error)> on_stopped{};
  };

  static Result<std::unique_ptr<Recorder>> Start(Options options);
  // Writes what is left.
  ~Recorder() override;

  bool stopped() const { return stopped_; }
  uint64_t bytes_written() const { return bytes_written_; }

  // scheduler::Tap
  void OnPut(base::Time now, const api::Object& object) override { AddObject(FrameType::kPut, now, object); }
  void OnRemove(base::Time now, const api::Object& object) override { AddObject(FrameType::kRemove, now, object); }
  void OnPutCustom(base::Time now, std::string_view resource,
                   const std::shared_ptr<const api::CustomObject>& object) override {
    AddCustom(FrameType::kPutCustom, now, resource, object);
  }
  void OnRemoveCustom(base::Time now, std::string_view resource, const api::ObjectMeta& metadata) override;
  void OnAdd(base::Time now, const framework::PodInfo& pod) override {
    AddObject(FrameType::kAdd, now, api::Object(pod.shared_pod()));
  }
  void OnStep(base::Time now) override;
  void OnTend(base::Time now) override;
  void OnFinish(base::Time now, const scheduler::BindingCycle& cycle) override;
  void OnActivate(base::Time now, const std::string& uid) override {
    Add(FrameType::kActivate, [&](std::string& out) { AppendInput(now, uid, out); });
  }
  void OnGiveUp(base::Time now, const std::string& uid) override {
    Add(FrameType::kGiveUp, [&](std::string& out) { AppendInput(now, uid, out); });
  }
  void OnReconfigure(base::Time now, const config::KubeSchedulerConfiguration& configuration) override;
  void OnClaimLanded(const std::shared_ptr<const api::ResourceClaim>& written,
                     const std::string& ended_flight) override {
    Add(FrameType::kClaimLanded, [&](std::string& out) { AppendClaimLanded(written, ended_flight, out); });
  }
  void OnPosted(const framework::PostedAnswer& answer) override {
    Add(FrameType::kPosted, [&](std::string& out) { AppendPosted(answer, out); });
  }
  void OnEvicting(const std::string& uid, size_t nth) override {
    Add(FrameType::kEvicting, [&](std::string& out) { AppendEvicting(uid, nth, out); });
  }
  void OnExtender(const scheduler::ExtenderAnswer& answer) override {
    Add(FrameType::kExtender, [&](std::string& out) { ExtenderRecord::Of(answer).AppendTo(out); });
  }
  void OnDecided(const scheduler::Attempt& attempt) override {
    Add(FrameType::kDecision, [&](std::string& out) { AppendDecision(attempt, out); });
  }
  bool WantsCheckpoint() const override { return wants_checkpoint_.load(std::memory_order_relaxed); }
  void OnCheckpoint(const scheduler::Checkpoint& checkpoint) override;

 private:
  struct Custom {
    std::string resource;
    std::shared_ptr<const api::CustomObject> object;
  };
  struct Configuration {
    std::string yaml;
  };
  // A new file begins here, with a checkpoint.
  struct Beginning {
    std::shared_ptr<const scheduler::Checkpoint> checkpoint;
    uint64_t inputs_before;
  };
  // An entry that the writing thread has to encode.
  struct Item {
    size_t at;  // the offset in Batch::frames before which it belongs
    FrameType type;
    base::Time time;
    std::variant<api::Object, Custom, Configuration, Beginning> content;
  };
  // What the scheduling thread was passed, in order: frames that only have to be copied, and items between them.
  struct Batch {
    std::string frames;
    std::vector<Item> items;
    size_t count = 0;  // of frames and items
  };

  Recorder(Options options, std::unique_ptr<record::RingWriter> ring);
  // Adds a frame to the batch; `append` appends its payload.
  template <class AppendPayload>
  void Add(FrameType type, AppendPayload append) {
    if (stopped_) return;
    const size_t start = record::StartFrame(put_aside_.frames, static_cast<uint32_t>(type));
    append(put_aside_.frames);
    record::EndFrame(put_aside_.frames, start);
    Added(type);
  }
  void AddItem(FrameType type, base::Time now, decltype(Item::content) content);
  void AddObject(FrameType type, base::Time now, const api::Object& object) { AddItem(type, now, object); }
  void AddCustom(FrameType type, base::Time now, std::string_view resource,
                 std::shared_ptr<const api::CustomObject> object) {
    AddItem(type, now, Custom{std::string(resource), std::move(object)});
  }
  void Added(FrameType type);
  void HandOver();

  // On the writing thread.
  void Serve();
  void Write(const Batch& batch);
  Result<void> TryWrite(const Batch& batch);
  Result<void> TryWrite(const Item& item, const api::Object& object);
  Result<void> TryWrite(const Item& item, const Custom& custom);
  Result<void> TryWrite(const Item& item, const Configuration& configuration);
  Result<void> TryWrite(const Item& item, const Beginning& beginning);
  void Check(const Result<void>& done);
  void Stop(const Error& error);

  const Options options_;
  std::unique_ptr<record::RingWriter> ring_;  // of the writing thread, as the next two
  record::Header header_;
  record::ObjectWriter objects_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> wants_checkpoint_ = false;
  std::atomic<uint64_t> bytes_written_ = 0;

  Batch put_aside_;      // of the scheduling thread, as the next two
  uint64_t inputs_ = 0;  // observed so far
  base::Time handed_over_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Batch> handed_;  // guarded by mutex_, as the next two
  size_t waiting_ = 0;         // frames and items in them
  bool ending_ = false;
  std::thread thread_;  // last: it uses the others
};

// The header of a recording of a scheduler with this configuration and these extenders. Credentials of extenders are
// left out.
record::Header MakeHeader(const config::KubeSchedulerConfiguration& configuration, const config::FeatureGates& gates,
                          const std::vector<engine::Extender*>& extenders);
record::ExtenderNote NoteOf(const config::Extender& extender);
// "A=true,B=false", of the gates that differ from their defaults.
std::string TextOf(const config::FeatureGates& gates);

}  // namespace berth::replay
