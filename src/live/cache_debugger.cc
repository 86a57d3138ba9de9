#include "live/cache_debugger.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <optional>

#include "base/log.h"
#include "client/list_pages.h"
#include "client/scheduling_kinds.h"
#include "live/dump.h"

namespace berth::live {

namespace {

// Watches deliver a change within milliseconds; a second is plenty.
constexpr base::Duration kSecondLook = std::chrono::seconds(1);

std::set<std::string> Common(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(common, common.end()));
  return common;
}

std::set<std::string> Less(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

std::vector<std::string> Listed(const std::set<std::string>& names) { return {names.begin(), names.end()}; }

CacheMismatch CompareNodes(const cluster::Cluster& cluster, const std::vector<api::Object>& nodes) {
  std::set<std::string> actual, cached;
  for (const api::Object& node : nodes) actual.insert(node.metadata().name);
  for (const framework::NodeInfo* node : cluster.nodes()) cached.insert(node->name());
  return {Less(actual, cached), Less(cached, actual)};
}

CacheMismatch ComparePods(const SchedulingLoop& loop, const std::vector<api::Object>& pods) {
  std::set<std::string> actual, wanted, cached;
  for (const api::Object& object : pods) {
    const api::Pod* pod = object.As<api::Pod>();
    if (pod == nullptr) continue;
    actual.insert(pod->metadata.uid);
    const bool ours = loop.driver().Serves(pod->spec.scheduler_name) && !pod->metadata.deletion_timestamp;
    if (ours || !pod->spec.node_name.empty()) wanted.insert(pod->metadata.uid);
  }
  loop.driver().cluster().ForEachPod([&](const framework::PodInfoPtr& pod) { cached.insert(pod->uid()); });
  // Also pods in flight: they are in no sub-queue, but the queue still knows them.
  loop.driver().queue().ForEach([&](const queue::QueuedPod& pod, queue::PodState) { cached.insert(pod.pod->uid()); });
  return {Less(wanted, cached), Less(cached, actual)};
}

void Tell(const CacheComparison& comparison) {
  const auto& [nodes, pods] = comparison;
  if (!nodes.empty()) {
    const std::vector<std::string> missed = Listed(nodes.missed), redundant = Listed(nodes.redundant);
    LOG_INFO(0, "Cache mismatch", {"missedNodes", missed}, {"redundantNodes", redundant});
  }
  if (!pods.empty()) {
    const std::vector<std::string> missed = Listed(pods.missed), redundant = Listed(pods.redundant);
    LOG_INFO(0, "Cache mismatch", {"missedPods", missed}, {"redundantPods", redundant});
  }
}

}  // namespace

CacheMismatch CacheMismatch::And(const CacheMismatch& other) const {
  return {Common(missed, other.missed), Common(redundant, other.redundant)};
}

CacheComparison CompareCache(const SchedulingLoop& loop, const std::vector<api::Object>& nodes,
                             const std::vector<api::Object>& pods) {
  return {CompareNodes(loop.driver().cluster(), nodes), ComparePods(loop, pods)};
}

// One comparison with the server: nodes, then pods.
struct CacheDebugger::Run {
  std::optional<CacheComparison> first{};  // the result of the first of two comparisons
  std::vector<api::Object> nodes{};
};

// Outlives the debugger for answers that arrive late.
class CacheDebugger::Owner : public std::enable_shared_from_this<Owner> {
 public:
  Owner(client::ApiClient& client, base::Loop& io, SchedulingLoop& loop) : client_(client), io_(io), loop_(&loop) {}

  void Close() {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
  }

  void Start(std::shared_ptr<Run> run) {
    const std::lock_guard lock(mutex_);
    if (loop_ == nullptr) return;
    List({.kind = api::Kind::kNode}, run, [self = shared_from_this(), run](std::vector<api::Object> nodes) {
      run->nodes = std::move(nodes);
      const std::lock_guard again(self->mutex_);
      if (self->loop_ == nullptr) return;
      self->List({.kind = api::Kind::kPod, .field_selector = client::kLivePods}, run,
                 [self, run](std::vector<api::Object> pods) { self->Compare(run, std::move(pods)); });
    });
  }

  // Runs `task` on the loop's own thread, unless the debugger is gone.
  void OnScheduler(std::function<void(const SchedulingLoop&)> task) {
    const std::lock_guard lock(mutex_);
    if (loop_ != nullptr) loop_->Post([loop = loop_, task = std::move(task)] { task(*loop); });
  }

 private:
  void List(client::ListRequest request, const std::shared_ptr<Run>& run,
            std::function<void(std::vector<api::Object>)> then) {
    client::ListPages(client_, io_, std::move(request),
                      [self = shared_from_this(), run, then = std::move(then)](client::ListOutcome outcome) {
                        if (outcome.ok()) return then(std::move(outcome.objects));
                        LOG_ERROR("Cannot compare the cache with the API server", {"err", outcome.answer.ToError()});
                        self->OnScheduler(DumpToLog);
                      });
  }

  void Compare(const std::shared_ptr<Run>& run, std::vector<api::Object> pods) {
    OnScheduler([self = shared_from_this(), run, pods = std::move(pods)](const SchedulingLoop& loop) {
      CacheComparison found = CompareCache(loop, run->nodes, pods);
      if (!run->first && !found.empty()) {
        self->io_.RunAfter(
            kSecondLook, [self, found = std::move(found)] { self->Start(std::make_shared<Run>(Run{.first = found})); });
        return;
      }
      if (run->first) found = {found.nodes.And(run->first->nodes), found.pods.And(run->first->pods)};
      Tell(found);
      LOG_INFO(3, "Cache comparer finished");
      DumpToLog(loop);
    });
  }

  client::ApiClient& client_;
  base::Loop& io_;
  std::mutex mutex_;
  SchedulingLoop* loop_;  // null once the debugger is gone; guarded by mutex_
};

CacheDebugger::CacheDebugger(client::ApiClient& client, base::Loop& io, SchedulingLoop& loop)
    : owner_(std::make_shared<Owner>(client, io, loop)) {}

CacheDebugger::~CacheDebugger() { owner_->Close(); }

void CacheDebugger::CompareAndDump() {
  owner_->OnScheduler([owner = owner_](const SchedulingLoop& loop) {
    // A standby that has not listed anything yet has nothing to compare.
    if (!loop.synced()) return DumpToLog(loop);
    LOG_INFO(3, "Cache comparer started");
    owner->Start(std::make_shared<Run>());
  });
}

}  // namespace berth::live
