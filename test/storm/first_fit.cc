// The simplest correct scheduler: a pod is bound to the first node it fits on. It validates the model API server, the
// network and the invariants with the real client library: its storms must pass.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "client/api_client.h"
#include "client/event_recorder.h"
#include "client/leader_election.h"
#include "client/reflector.h"
#include "client/scheduling_kinds.h"
#include "storm/fit.h"
#include "storm/instance.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration kRetry = 1s;
constexpr base::Duration kReport = 5s;

class FirstFit final : public Instance, public client::ChangeSink {
 public:
  FirstFit(const InstanceOptions& options, Defect defect)
      : options_(options),
        defect_(defect),
        io_(options.process),
        election_loop_(options.process),
        transport_(options.network, options.process),
        client_(transport_, io_, options.process.wall_clock(), ClientOptions()),
        election_client_(transport_, election_loop_, options.process.wall_clock(),
                         {.protobuf = options.plan.protobuf, .timeout = client::LeaseRequestTimeout(10s)}),
        events_(client_, io_, options.process.wall_clock(),
                {.hostname = options.process.name(), .seed = options.seed}) {
    base::Random random(options.seed);
    identity_ = client::MakeIdentity(options.process.name(), random);
    MakeReflectors();
    MakeElector();
  }

  void Start() override {
    elector_->Start();
    for (auto& reflector : reflectors_) reflector->Start();
  }
  void Terminate() override {
    if (!std::exchange(stopping_, true)) LeaveWhenDone();
  }

  const std::string& identity() const override { return identity_; }
  bool is_leader() const override { return elector_->is_leader(); }
  Picture picture() const override {
    Picture picture;
    for (const auto& [place, object] : objects_) {
      picture.emplace(place, std::pair(object.metadata().uid, object.metadata().resource_version));
    }
    return picture;
  }
  std::vector<std::string> Leftovers() const override {
    std::vector<std::string> left;
    for (const auto& [uid, assumed] : assumed_) left.push_back(fmt::format("{} is assumed on {}", uid, assumed.node));
    return left;
  }
  void BreakConnections() override { transport_.BreakAll("connection reset by peer"); }
  void SilenceWatches() override { transport_.SilenceWatches(); }

 private:
  using PodPtr = std::shared_ptr<const api::Pod>;

  client::ApiClientOptions ClientOptions() {
    client::ApiClientOptions client;
    client.protobuf = options_.plan.protobuf;
    if (defect_ != Defect::kIgnoresLease) client.window = window_;
    return client;
  }

  void MakeReflectors() {
    for (const api::Kind kind : client::kSchedulingKinds) {
      client::ReflectorOptions reflector{.kind = kind};
      if (kind == api::Kind::kPod) reflector.field_selector = client::kLivePods;
      reflector.always_served = client::IsAlwaysServed(kind);
      reflector.seed = options_.seed + static_cast<uint64_t>(kind);
      reflector.on_problem = [this](const Error& error, int) {
        options_.trace.Add(options_.process.name(), "problem: {}", error.message);
      };
      reflectors_.push_back(std::make_unique<client::Reflector>(client_, io_, *this, std::move(reflector)));
      if (kind == api::Kind::kPod) pods_ = reflectors_.back().get();
      unlisted_.insert(kind);
    }
  }

  void MakeElector() {
    client::LeaderElectionOptions election;
    election.identity = identity_;
    election.name_space = "kube-system";
    election.name = "kube-scheduler";
    election.seed = options_.seed;
    election.window = window_;
    election.started_leading = [this] {
      options_.trace.Add(options_.process.name(), "world leads");
      CatchUp(reflectors_.size());
    };
    election.stopped_leading = [this] {
      options_.trace.Add(options_.process.name(), "world leads no longer");
      if (stopping_) return;
      scheduling_ = false;
      options_.on_exit();
    };
    elector_ = std::make_unique<client::LeaderElector>(election_client_, election_loop_, options_.process.wall_clock(),
                                                       std::move(election));
  }

  void CatchUp(size_t all) {
    const auto behind = std::make_shared<size_t>(all);
    for (auto& reflector : reflectors_) {
      reflector->CatchUp([this, behind] {
        if (--*behind > 0) return;
        scheduling_ = true;
        Consider();
      });
    }
  }

  // The lease is released once no write can follow.
  void LeaveWhenDone() {
    if (in_flight_ == 0) return elector_->Stop([this] { options_.on_exit(); });
    io_.RunAfter(kRetry, [this] { LeaveWhenDone(); });
  }

  // ---- The cache.

  void OnListing(api::Kind kind, std::vector<client::ObjectChange> changes) override {
    Apply(kind, std::move(changes));
  }
  void OnChanges(api::Kind kind, std::vector<client::ObjectChange> changes) override {
    Apply(kind, std::move(changes));
    unlisted_.erase(kind);
    if (kind != api::Kind::kNode || defect_ != Defect::kSleepsThroughNodes) Consider();
  }
  void Apply(api::Kind kind, std::vector<client::ObjectChange> changes) {
    for (client::ObjectChange& change : changes) {
      const std::pair place(kind, api::KeyOf(change.object.metadata()));
      if (change.type == client::ObjectChange::Type::kDeleted) {
        objects_.erase(place);
        // It stays assumed: a binding in flight may still succeed.
        continue;
      }
      const api::Pod* pod = change.object.As<api::Pod>();
      if (pod != nullptr && !pod->spec.node_name.empty()) assumed_.erase(pod->metadata.uid);
      objects_.insert_or_assign(place, std::move(change.object));
    }
  }
  void OnNotServed(api::Kind kind) override {
    std::erase_if(objects_, [&](const auto& entry) { return entry.first.first == kind; });
    unlisted_.erase(kind);
    Consider();
  }

  // ---- Scheduling.

  void Consider() {
    if (std::exchange(considering_, true)) return;
    io_.Post([this] {
      considering_ = false;
      if (!scheduling_ || stopping_ || !unlisted_.empty()) return;
      std::vector<PodPtr> pending;
      for (const auto& [place, object] : objects_) {
        const PodPtr pod = object.Share<api::Pod>();
        if (pod != nullptr && pod->spec.node_name.empty() && pod->spec.scheduling_gates.empty() &&
            !pod->metadata.deletion_timestamp && !assumed_.contains(pod->metadata.uid)) {
          pending.push_back(pod);
        }
      }
      for (const PodPtr& pod : pending) Schedule(pod);
    });
  }

  void Schedule(const PodPtr& pod) {
    size_t nodes = 0;
    for (const auto& [place, object] : objects_) {
      const api::Node* node = object.As<api::Node>();
      if (node == nullptr) continue;
      ++nodes;
      if (!Fits(*pod, *node, PodsOn(node->metadata.name))) continue;
      assumed_[pod->metadata.uid] = {pod, node->metadata.name};
      return Bind(pod, node->metadata.name);
    }
    Report(pod, fmt::format("0/{} nodes are available: none has room.", nodes));
  }

  std::vector<const api::Pod*> PodsOn(const std::string& node) const {
    std::vector<const api::Pod*> found;
    for (const auto& [place, object] : objects_) {
      const api::Pod* pod = object.As<api::Pod>();
      if (pod != nullptr && pod->spec.node_name == node) found.push_back(pod);
    }
    for (const auto& [uid, assumed] : assumed_) {
      if (assumed.node == node) found.push_back(assumed.pod.get());
    }
    return found;
  }

  void Bind(const PodPtr& pod, const std::string& node) {
    ++in_flight_;
    client_.Bind(*pod, node, [this, pod, node](const Result<void>& bound) {
      --in_flight_;
      io_.Post([this, pod, node, bound] { Settle(pod, node, bound); });
    });
  }

  // Room is freed only when the cache is newer than the server's last answer about it.
  void Settle(const PodPtr& pod, const std::string& node, const Result<void>& bound) {
    if (bound) {
      events_.Record({.reporting_controller = "default-scheduler",
                      .regarding = client::ReferenceTo(api::Kind::kPod, pod->metadata),
                      .type = "Normal",
                      .reason = "Scheduled",
                      .action = "Binding",
                      .note = fmt::format("bound to {}", node)});
    }
    const bool is_answer =
        bound || (bound.error().code != ErrorCode::kUnavailable && bound.error().code != ErrorCode::kDeadlineExceeded);
    io_.RunAfter(kRetry, [this, pod, node, is_answer] {
      if (!assumed_.contains(pod->metadata.uid) || stopping_) return;
      if (!is_answer) return Bind(pod, node);
      pods_->CatchUp([this, uid = pod->metadata.uid] {
        assumed_.erase(uid);
        Consider();
      });
    });
  }

  void Report(const PodPtr& pod, const std::string& message) {
    if (defect_ == Defect::kDoesNotReport) return;
    client::PodStatusChange change;
    change.condition =
        api::PodCondition{.type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = message};
    ++in_flight_;
    client_.PatchPodStatus(*pod, change, [this](const Result<void>& patched) {
      --in_flight_;
      // One retry for all that failed: each retry reports all of them, so several would make each fail several times.
      if (patched || std::exchange(reporting_again_, true)) return;
      io_.RunAfter(kReport, [this] {
        reporting_again_ = false;
        Consider();
      });
    });
  }

  const InstanceOptions options_;
  const Defect defect_;
  std::string identity_;
  VirtualLoop io_;
  VirtualLoop election_loop_;
  ProcessTransport transport_;
  const std::shared_ptr<client::WriteWindow> window_ = std::make_shared<client::WriteWindow>();
  client::ApiClient client_;
  client::ApiClient election_client_;
  client::EventRecorder events_;
  std::vector<std::unique_ptr<client::Reflector>> reflectors_;
  std::unique_ptr<client::LeaderElector> elector_;
  std::map<std::pair<api::Kind, std::string>, api::Object> objects_;
  client::Reflector* pods_ = nullptr;
  struct Assumed {
    PodPtr pod;
    std::string node;
  };
  std::map<std::string, Assumed> assumed_;  // by UID
  std::set<api::Kind> unlisted_;
  int in_flight_ = 0;
  bool scheduling_ = false;
  bool considering_ = false;
  bool reporting_again_ = false;
  bool stopping_ = false;
};

}  // namespace

Scheduler FirstFitScheduler(Defect defect) {
  return {.make = [defect](const InstanceOptions& options) { return std::make_unique<FirstFit>(options, defect); },
          .preempts = false,
          .allocates = false};
}

}  // namespace berth::storm
