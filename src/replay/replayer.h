// Replayer: passes the inputs of a recording to a driver, which makes all decisions again, and compares them with the
// recorded decisions, bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "config/feature_gates.h"
#include "config/types.h"
#include "framework/registry.h"
#include "record/file_reader.h"
#include "replay/input_stream.h"
#include "replay/recorded_api.h"
#include "replay/records.h"
#include "scheduler/attempt_journal.h"
#include "scheduler/driver.h"

namespace berth::replay {

// The first point at which a replay differs from the recording.
struct Difference {
  uint64_t input = 0;  // number of the input, from 1
  base::Time time{};
  std::string pod;       // namespace/name; empty if no pod is concerned
  std::string what;      // "decision", "binding"
  std::string recorded;  // for people
  std::string replayed;
};

struct Counts {
  uint64_t inputs = 0;
  uint64_t decisions = 0;  // compared
  uint64_t bound = 0;
  uint64_t unschedulable = 0;
  uint64_t preemptions = 0;
  uint64_t opaque_work = 0;  // functions that plugins had posted; what they did is not recorded
  // Binding cycles that read objects which are not recorded: their recorded result was used, and they did not run.
  uint64_t cycles_not_run = 0;
  uint64_t withheld_objects = 0;  // of custom resources, recorded with their metadata only
  base::Time first{};
  base::Time last{};
};

class Replayer final : private scheduler::DriverObserver, private scheduler::Tap {
 public:
  struct Options {
    size_t threads = 1;
    bool verify_incremental = false;
    scheduler::AttemptJournal* journal = nullptr;  // stores every attempt; must outlive the replayer; may be null
  };

  // The registry must have every plugin in the recorded configuration, and must outlive the replayer.
  static Result<std::unique_ptr<Replayer>> Create(const record::Header& header, const framework::Registry& registry,
                                                  Options options);
  ~Replayer() override;

  // Applies one input. A checkpoint is restored if it is the first input; later ones are skipped. False if the replay
  // differs here: difference() says how, and later inputs must not be applied.
  bool Apply(const Input& input);
  const std::optional<Difference>& difference() const { return difference_; }
  const Counts& counts() const { return counts_; }
  scheduler::Driver& driver() { return *driver_; }
  const config::FeatureGates& gates() const { return gates_; }

 private:
  Replayer(const config::FeatureGates& gates, const framework::Registry& registry, bool followed)
      : gates_(gates), registry_(registry), followed_(followed) {}

  void Give(const Input& input);
  void Post(const framework::PostedAnswer& answer);
  void Finish(const Input& input);
  void GiveCustom(const Input& input);
  void Compare(const Input& input);
  void Differ(const Input& input, std::string pod, std::string what, std::string recorded, std::string replayed);

  // scheduler::DriverObserver
  void OnBound(const scheduler::Attempt& attempt) override { WriteDown(attempt, scheduler::Ending::kBound); }
  void OnFailed(const scheduler::Attempt& attempt, const framework::PodInfo&) override {
    WriteDown(attempt, attempt.outcome == scheduler::Outcome::kUnschedulable ? scheduler::Ending::kUnschedulable
                                                                             : scheduler::Ending::kError);
  }
  void OnStale(const scheduler::Attempt& attempt) override { WriteDown(attempt, scheduler::Ending::kStale); }
  void WriteDown(const scheduler::Attempt& attempt, scheduler::Ending ending);

  // scheduler::Tap: only decisions are of interest, because the inputs come from the recording.
  void OnPut(base::Time, const api::Object&) override {}
  void OnRemove(base::Time, const api::Object&) override {}
  void OnPutCustom(base::Time, std::string_view, const std::shared_ptr<const api::CustomObject>&) override {}
  void OnRemoveCustom(base::Time, std::string_view, const api::ObjectMeta&) override {}
  void OnAdd(base::Time, const framework::PodInfo&) override {}
  void OnStep(base::Time) override {}
  void OnTend(base::Time) override {}
  void OnFinish(base::Time, const scheduler::BindingCycle&) override {}
  void OnActivate(base::Time, const std::string&) override {}
  void OnGiveUp(base::Time, const std::string&) override {}
  void OnReconfigure(base::Time, const config::KubeSchedulerConfiguration&) override {}
  void OnClaimLanded(const std::shared_ptr<const api::ResourceClaim>&, const std::string&) override {}
  void OnPosted(const framework::PostedAnswer&) override {}
  void OnEvicting(const std::string&, size_t) override {}
  void OnExtender(const scheduler::ExtenderAnswer&) override {}
  void OnDecided(const scheduler::Attempt& attempt) override { decided_.push_back(Decision::Of(attempt)); }
  bool WantsCheckpoint() const override { return false; }
  void OnCheckpoint(const scheduler::Checkpoint&) override {}

  const config::FeatureGates gates_;
  const framework::Registry& registry_;
  const bool followed_;  // record::Header::followed
  base::FakeClock clock_;
  RecordedApi api_;
  std::vector<std::unique_ptr<RecordedExtender>> extenders_;
  std::unique_ptr<scheduler::Driver> driver_;
  std::map<uint64_t, std::unique_ptr<scheduler::BindingCycle>> cycles_;  // not finished, by ticket
  std::set<uint64_t> resumed_;  // those that began before the checkpoint, and cannot be run
  std::vector<Decision> decided_;
  std::optional<Difference> difference_;
  Counts counts_;
  scheduler::AttemptJournal* journal_ = nullptr;  // may be null
};

}  // namespace berth::replay
