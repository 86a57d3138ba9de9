// Recorder: writes down everything that goes into a driver, and what the driver decides (scheduler::Tap), into a ring
// of files. On the scheduling thread things are only put aside; encoding, compressing and writing happen on a thread of
// the recorder's own.
//
// A write that fails (a full disk) ends the recording, with one message. Scheduling goes on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
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
    // False: written when it is told, on the scheduling thread.
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
  void OnFinish(base::Time now, const scheduler::BindingCycle& cycle) override;
  void OnActivate(base::Time now, const std::string& uid) override {
    Add({FrameType::kActivate, EncodeInput(now, uid)});
  }
  void OnGiveUp(base::Time now, const std::string& uid) override { Add({FrameType::kGiveUp, EncodeInput(now, uid)}); }
  void OnReconfigure(base::Time now, const config::KubeSchedulerConfiguration& configuration) override;
  void OnClaimLanded(const std::shared_ptr<const api::ResourceClaim>& written,
                     const std::string& ended_flight) override {
    Add({FrameType::kClaimLanded, EncodeClaimLanded(written, ended_flight)});
  }
  void OnPosted(const framework::PostedAnswer& answer) override { Add({FrameType::kPosted, EncodePosted(answer)}); }
  void OnEvicting(const std::string& uid, size_t nth) override {
    Add({FrameType::kEvicting, EncodeEvicting(uid, nth)});
  }
  void OnExtender(const scheduler::ExtenderAnswer& answer) override {
    Add({FrameType::kExtender, ExtenderRecord::Of(answer).Encode()});
  }
  void OnDecided(const scheduler::Attempt& attempt) override {
    Add({FrameType::kDecision, Decision::Of(attempt).Encode()});
  }
  bool WantsCheckpoint() const override { return wants_checkpoint_.load(std::memory_order_relaxed); }
  void OnCheckpoint(const scheduler::Checkpoint& checkpoint) override;

 private:
  struct Item {
    FrameType type;
    std::string payload{};
    base::Time time{};  // of what has an object
    std::optional<api::Object> object{};
    std::shared_ptr<const api::CustomObject> custom{};  // of the resource that `payload` names
    std::shared_ptr<const scheduler::Checkpoint> checkpoint{};
  };

  Recorder(Options options, std::unique_ptr<record::RingWriter> ring);
  void AddObject(FrameType type, base::Time now, const api::Object& object);
  void AddCustom(FrameType type, base::Time now, std::string_view resource,
                 std::shared_ptr<const api::CustomObject> object);
  void Add(Item item);
  void HandOver();

  // On the writing thread.
  void Serve();
  void Write(const Item& item);
  Result<void> TryWrite(const Item& item);
  Result<void> TryAppend(FrameType type, std::string_view payload);
  void Check(const Result<void>& done);
  void Stop(const Error& error);

  const Options options_;
  std::unique_ptr<record::RingWriter> ring_;  // of the writing thread, as the next two
  record::Header header_;
  record::ObjectWriter objects_;
  uint64_t inputs_ = 0;  // written
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> wants_checkpoint_ = false;
  std::atomic<uint64_t> bytes_written_ = 0;

  std::vector<Item> put_aside_;  // of the scheduling thread, as the next
  base::Time handed_over_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> handed_;  // guarded by mutex_
  bool ending_ = false;       // guarded by mutex_
  std::thread thread_;        // last: it uses the others
};

// The header of a recording of a scheduler with this configuration, and with these extenders. What an extender is
// authenticated by is left out.
record::Header MakeHeader(const config::KubeSchedulerConfiguration& configuration, const config::FeatureGates& gates,
                          const std::vector<engine::Extender*>& extenders);
record::ExtenderNote NoteOf(const config::Extender& extender);
// "A=true,B=false", of the gates that are not as they are by default.
std::string TextOf(const config::FeatureGates& gates);

}  // namespace berth::replay
