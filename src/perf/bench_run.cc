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
#include "queue/scheduling_queue.h"
#include "scheduler/queue_setup.h"
#include "scheduler/scheduler.h"

namespace berth::perf {

using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

namespace {

// Answers every write at once. An evicted pod is gone.
class InstantApi final : public framework::ApiWriter {
 public:
  explicit InstantApi(cluster::Cluster& cluster) : cluster_(cluster) {}

  Status Bind(const PodInfo&, const std::string&) override { return Status::Success(); }
  Status Evict(const PodInfo& victim, const PodInfo&) override {
    cluster_.RemovePod(victim.uid());
    ++evicted;
    return Status::Success();
  }
  Status SetNominatedNode(const PodInfo&, const std::string&) override { return Status::Success(); }
  Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return Status::Success(); }
  Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return Status::Success();
  }

  uint64_t evicted = 0;

 private:
  cluster::Cluster& cluster_;
};

class Bench {
 public:
  Bench(const EngineBenchOptions& options, BenchWorkload& workload)
      : options_(options), workload_(workload), cluster_(gates_), api_(cluster_) {}

  Result<EngineBenchResult> Run() {
    const auto begin = Watch::now();
    Fill();
    scheduler::Scheduler::Options scheduler_options;
    scheduler_options.seed = options_.seed;
    scheduler_options.verify_incremental = options_.verify_incremental;
    scheduler_options.threads = options_.threads;
    Result<std::unique_ptr<scheduler::Scheduler>> made =
        scheduler::Scheduler::Create(config::DefaultConfiguration(gates_), plugins::InTreeRegistry(), gates_, cluster_,
                                     clock_, api_, scheduler_options);
    if (!made) return made.error();
    scheduler_ = std::move(*made);
    MakeQueue();

    const uint64_t warm_up = std::max<uint64_t>(options_.pods / 10, 1);
    ScheduleAll(0, 1, nullptr);
    result_.start_up_s = std::chrono::duration<double>(Watch::now() - begin).count();
    ScheduleAll(1, warm_up, nullptr);
    result_.scheduled = result_.unschedulable = 0;
    api_.evicted = 0;
    // Written to before the memory is looked at: what the bench itself needs must not look like growth.
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
    workload_.FillNodes(cluster_);
    const double with_nodes = ResidentBytes();
    const uint64_t existing = workload_.FillPods(cluster_);
    result_.bytes_per_node = (with_nodes - empty) / static_cast<double>(options_.nodes);
    if (existing > 0) result_.bytes_per_existing_pod = (ResidentBytes() - with_nodes) / static_cast<double>(existing);
  }

  void MakeQueue() {
    queue_ =
        std::make_unique<queue::SchedulingQueue>(clock_, scheduler_->first_profile().queue_sort(),
                                                 scheduler::QueueHooks(*scheduler_), queue::SchedulingQueue::Options{});
  }

  // Pods are made in batches outside the measured time, as a decoder on another thread would; everything from the queue
  // on is measured.
  void ScheduleAll(uint64_t begin, uint64_t end, std::vector<float>* times) {
    constexpr uint64_t kBatch = 1000;
    for (uint64_t first = begin; first < end; first += kBatch) {
      std::vector<PodInfoPtr> batch;
      for (uint64_t i = first; i < std::min(first + kBatch, end); ++i)
        batch.push_back(cluster_.MakePodInfo(workload_.Pod(i)));
      for (uint64_t i = first; i < first + batch.size(); ++i) {
        clock_.Advance(std::chrono::microseconds(1));
        workload_.Disturb(i, cluster_);
        if (options_.lifetime != 0 && i >= options_.lifetime) {
          cluster_.RemovePod(BenchWorkload::UidOf(i - options_.lifetime));
        }
        const auto start = Watch::now();
        queue_->Add(batch[i - first]);
        ScheduleNext();
        if (times) times->push_back(std::chrono::duration<float, std::micro>(Watch::now() - start).count());
      }
    }
  }

  void ScheduleNext() {
    const queue::QueuedPod* next = queue_->Pop();
    if (!next) return;
    scheduler::Attempt attempt = scheduler_->ScheduleOne(next->pod);
    // Victims are gone at once, so the pod that made them go is placed right away.
    if (attempt.outcome == scheduler::Outcome::kUnschedulable && !attempt.post_filter.nominated_node_name.empty()) {
      attempt = scheduler_->ScheduleOne(attempt.pod);
    }
    if (attempt.outcome == scheduler::Outcome::kBound) {
      ++result_.scheduled;
    } else {
      ++result_.unschedulable;
    }
    queue_->Done(attempt.pod->uid());
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
  cluster::Cluster cluster_;
  InstantApi api_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
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
