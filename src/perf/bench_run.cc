#include "perf/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "cluster/cluster.h"
#include "config/load.h"
#include "perf/bench_workload.h"
#include "perf/process_memory.h"
#include "plugins/registry.h"
#include "scheduler/attempt_journal.h"
#include "scheduler/driver.h"

namespace berth::perf {

using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

namespace {

// Answers every write at once. An evicted pod is gone; a bound one stays assumed, because nothing confirms it.
class InstantApi final : public framework::SimpleApiWriter {
 public:
  void set_driver(scheduler::Driver& driver) { driver_ = &driver; }

  Status Bind(const PodInfo&, const std::string&) override { return Status::Success(); }
  Status Evict(const PodInfo& victim, const PodInfo&) override {
    driver_->Remove(api::Object(victim.shared_pod()));
    ++evicted;
    return Status::Success();
  }
  Status SetNominatedNode(const PodInfo&, const std::string&) override { return Status::Success(); }
  // Storage objects and resource claims are reported at once as they were written.
  Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) override {
    driver_->Put(api::Object(std::move(volume)));
    return Status::Success();
  }
  Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) override {
    driver_->Put(api::Object(std::move(claim)));
    return Status::Success();
  }

  ClaimResult GetResourceClaim(const std::string& name_space, const std::string& name) override {
    const auto* found = driver_->cluster().objects().resource_claims.FindShared(name_space, name);
    if (!found) return Error::NotFound("no such claim");
    return *found;
  }
  ClaimResult CreateResourceClaim(const api::ResourceClaim& claim) override {
    api::ResourceClaim created = claim;
    created.metadata.name = claim.metadata.generate_name + "x";
    created.metadata.uid = created.metadata.name;
    created.metadata.resource_version = "1";
    return Put(std::move(created));
  }
  ClaimResult UpdateResourceClaim(const api::ResourceClaim& claim) override { return Put(claim); }
  ClaimResult UpdateResourceClaimStatus(const api::ResourceClaim& claim) override { return Put(claim); }
  Result<void> SetExtendedResourceClaimStatus(const PodInfo&, const api::PodExtendedResourceClaimStatus&) override {
    return {};
  }

  uint64_t evicted = 0;

 private:
  std::shared_ptr<const api::ResourceClaim> Put(api::ResourceClaim claim) {
    auto stored = std::make_shared<const api::ResourceClaim>(std::move(claim));
    driver_->Put(api::Object(stored));
    return stored;
  }

  scheduler::Driver* driver_ = nullptr;
};

class Bench final : private scheduler::DriverObserver {
 public:
  Bench(const EngineBenchOptions& options, BenchWorkload& workload) : options_(options), workload_(workload) {}

  Result<EngineBenchResult> Run() {
    const auto begin = Watch::now();
    if (options_.journal_mb != 0) journal_ = std::make_unique<scheduler::AttemptJournal>(options_.journal_mb << 20);
    scheduler::Driver::Options driver_options;
    driver_options.scheduler.seed = options_.seed;
    driver_options.scheduler.verify_incremental = options_.verify_incremental;
    driver_options.scheduler.threads = options_.threads;
    Result<std::unique_ptr<scheduler::Driver>> made =
        scheduler::Driver::Create(config::DefaultConfiguration(gates_), plugins::InTreeRegistry(), gates_, clock_, api_,
                                  *this, std::move(driver_options));
    if (!made) return made.error();
    driver_ = std::move(*made);
    api_.set_driver(*driver_);
    Fill();

    const uint64_t warm_up = std::max<uint64_t>(options_.pods / 10, 1);
    ScheduleAll(0, 1, nullptr);
    result_.start_up_s = std::chrono::duration<double>(Watch::now() - begin).count();
    ScheduleAll(1, warm_up, nullptr);
    result_.scheduled = result_.unschedulable = 0;
    api_.evicted = 0;
    // Touched before the memory is measured: the bench's own memory must not look like growth.
    std::vector<float> times(options_.pods, 1.0f);
    times.clear();
    result_.warm_rss_mb = ResidentBytes() / kMegabyte;
    ScheduleAll(warm_up, warm_up + options_.pods, &times);
    result_.end_rss_mb = ResidentBytes() / kMegabyte;
    Summarize(times);
    return result_;
  }

 private:
  using Watch = std::chrono::steady_clock;

  void Fill() {
    const double empty = ResidentBytes();
    workload_.FillNodes(*driver_);
    const double with_nodes = ResidentBytes();
    const BenchWorkload::Existing existing = workload_.FillPods(*driver_);
    result_.making_s = existing.making.count();
    result_.bytes_per_node = (with_nodes - empty) / static_cast<double>(options_.nodes);
    if (existing.pods == 0) return;
    result_.bytes_per_existing_pod = (ResidentBytes() - with_nodes) / static_cast<double>(existing.pods);
  }

  // Pods are made in batches outside the measured time, as a decoder on another thread would; everything from the queue
  // on is measured.
  void ScheduleAll(uint64_t begin, uint64_t end, std::vector<float>* times) {
    constexpr uint64_t kBatch = 1000;
    for (uint64_t first = begin; first < end; first += kBatch) {
      std::vector<PodInfoPtr> batch;
      for (uint64_t i = first; i < std::min(first + kBatch, end); ++i)
        batch.push_back(driver_->cluster().MakePodInfo(workload_.Pod(i)));
      for (uint64_t i = first; i < first + batch.size(); ++i) {
        clock_.Advance(std::chrono::microseconds(1));
        workload_.Disturb(i, *driver_);
        if (options_.lifetime != 0 && i >= options_.lifetime) BenchWorkload::EndPod(i - options_.lifetime, *driver_);
        const auto start = Watch::now();
        driver_->Add(batch[i - first]);
        // A pod whose victims are gone is tried again at once.
        while (driver_->Step()) {
        }
        if (times) times->push_back(std::chrono::duration<float, std::micro>(Watch::now() - start).count());
      }
    }
  }

  // scheduler::DriverObserver
  void OnBound(const scheduler::Attempt& attempt) override {
    ++result_.scheduled;
    Record(attempt, scheduler::Ending::kBound);
  }
  void OnFailed(const scheduler::Attempt& attempt, const PodInfo&) override {
    Record(attempt, scheduler::Ending::kUnschedulable);
    if (!attempt.post_filter.nominated_node_name.empty()) return;
    ++result_.unschedulable;
    driver_->GiveUp(attempt.pod->uid());
  }

  void Record(const scheduler::Attempt& attempt, scheduler::Ending ending) {
    if (journal_) journal_->Record(attempt, ending, clock_.Now(), driver_->cluster().nodes().size());
  }

  void Summarize(std::vector<float>& times) {
    double total = 0;
    for (const float time : times) total += static_cast<double>(time);
    std::sort(times.begin(), times.end());
    const auto quantile = [&](double q) {
      return static_cast<double>(
          times[std::min(times.size() - 1, static_cast<size_t>(q * static_cast<double>(times.size())))]);
    };
    result_.us_per_pod = total / static_cast<double>(times.size());
    result_.pods_per_second = 1e6 / result_.us_per_pod;
    result_.p50_us = quantile(0.5);
    result_.p99_us = quantile(0.99);
    result_.max_us = static_cast<double>(times.back());
    result_.preempted = api_.evicted;
    result_.rss_mb = PeakResidentBytes() / kMegabyte;
  }

  const EngineBenchOptions& options_;
  BenchWorkload& workload_;
  config::FeatureGates gates_;
  base::FakeClock clock_;
  InstantApi api_;
  std::unique_ptr<scheduler::AttemptJournal> journal_;
  std::unique_ptr<scheduler::Driver> driver_;
  EngineBenchResult result_;
};

}  // namespace

std::vector<std::string_view> EngineBenchKinds() { return BenchWorkload::Kinds(); }

Result<EngineBenchResult> RunEngineBench(const EngineBenchOptions& options) {
  if (options.nodes == 0 || options.pods == 0)
    return Error::InvalidArgument("--nodes and --pods: expected at least one of each");
  if (options.threads == 0 || options.threads > 256)
    return Error::InvalidArgument(fmt::format("--threads: expected 1 to 256; found {}", options.threads));
  Result<std::unique_ptr<BenchWorkload>> workload = BenchWorkload::Create(options);
  if (!workload) return workload.error();
  return Bench(options, **workload).Run();
}

}  // namespace berth::perf
