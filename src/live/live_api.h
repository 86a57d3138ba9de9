// LiveApi: the scheduler's writes to a real API server.
//
// On the scheduling thread nothing blocks: evictions, nominations and reports are sent asynchronously, and failures
// come back as messages. In a binding cycle, off that thread, calls wait for their answers.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/api_client.h"
#include "client/event_recorder.h"
#include "framework/handle.h"
#include "live/api_call_metrics.h"
#include "live/binding_runner.h"
#include "live/evictions.h"
#include "live/mailbox.h"
#include "scheduler/attempt.h"

namespace berth::live {

class LiveApi final : public framework::ApiWriter {
 public:
  // `on_evicted` runs on the scheduling thread.
  LiveApi(client::ApiClient& client, client::EventRecorder& events, Mailbox& mailbox, BindingRunner& runner,
          const base::Clock& clock, metrics::SchedulerMetrics& metrics, Evictions::Over on_evicted)
      : client_(client),
        events_(events),
        mailbox_(mailbox),
        runner_(runner),
        clock_(clock),
        bindings_(metrics, clock, "pod_binding"),
        status_patches_(metrics, clock, "pod_status_patch"),
        claims_created_(metrics.resourceclaim_creates),
        device_allocations_(metrics.binding_conditions_allocations),
        device_waits_(metrics.binding_conditions_wait_duration),
        evictions_(client, events, mailbox, clock, std::move(on_evicted)) {}
  // Call before the first eviction.
  void set_cluster(const cluster::Cluster& cluster) {
    cluster_ = &cluster;
    evictions_.set_cluster(cluster);
  }

  // Called on the scheduling thread with the UID of a pod whose claim could not be deallocated or deleted. Set it
  // before the first such write.
  void set_on_lost_write(std::function<void(const std::string& pod_uid)> on_lost_write) {
    on_lost_write_ = std::move(on_lost_write);
  }

  // Binding cycle: these block.
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) override;
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) override;
  framework::Status Await(const std::function<std::optional<framework::Status>()>& check,
                          base::Duration timeout) override;
  ClaimResult GetResourceClaim(const std::string& name_space, const std::string& name) override;
  ClaimResult CreateResourceClaim(const api::ResourceClaim& claim) override;
  ClaimResult UpdateResourceClaim(const api::ResourceClaim& claim) override;
  ClaimResult UpdateResourceClaimStatus(const api::ResourceClaim& claim) override;
  Result<void> SetExtendedResourceClaimStatus(const framework::PodInfo& pod,
                                              const api::PodExtendedResourceClaimStatus& status) override;
  Result<void> SetNodeAllocatableResourceClaimStatuses(
      const framework::PodInfo& pod, const std::vector<api::NodeAllocatableResourceClaimStatus>& statuses) override;
  void Announce(const framework::PodInfo& pod, const std::string& reason, const std::string& action,
                const std::string& note) override;

  // Any thread but the scheduling thread; blocks. Whether the pod was bound there by somebody whose answer, `refusal`,
  // does not say; if not, that is the result.
  Result<void> ConfirmBound(const framework::PodInfo& pod, const std::string& node_name, const Error& refusal);
  Result<std::string> Call(const framework::ObjectCall& call) override;
  // Any thread; does not block.
  void Record(const std::string& reporter, const framework::EventReport& event) override;
  // From here on the calling thread is the one that must never block.
  void NoteSchedulingThread() { scheduling_thread_ = std::this_thread::get_id(); }

  void NoteDeviceWait(const framework::PodInfo& pod, const api::ResourceClaim& claim, std::string_view outcome,
                      base::Duration took) override;

  // Scheduling thread: these do not block.
  framework::Status UnreserveResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  framework::Status DeallocateResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  framework::Status ClearNodeAllocatableResourceClaimStatuses(const framework::PodInfo& pod) override;
  framework::Status DeleteResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override;
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) override {
    evictions_.Start({victim.shared_pod()}, preemptor);
    return framework::Status::Success();
  }
  void EvictAll(std::span<const framework::PodInfoPtr> victims, const framework::PodInfo& preemptor) override {
    std::vector<std::shared_ptr<const api::Pod>> pods;
    for (const framework::PodInfoPtr& victim : victims) pods.push_back(victim->shared_pod());
    evictions_.Start(pods, preemptor);
  }
  bool IsEvictingFor(const framework::PodInfo& preemptor) const override {
    return evictions_.IsRunningFor(preemptor.uid());
  }
  // Sent with the report about the pod, or by FlushNominations.
  framework::Status SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) override;

  void ReportScheduled(const framework::PodInfo& pod, const std::string& node_name);
  // The FailedScheduling event, and the PodScheduled condition together with a pending nomination. `pod` is the newest
  // version known.
  void ReportFailure(const framework::PodInfo& pod, const scheduler::Attempt& attempt);
  void ReportDeleting(const framework::PodInfo& pod);
  // Annotates the pod when there is nothing more urgent to write; dropped if too much is waiting already.
  void Annotate(const framework::PodInfo& pod, const std::vector<std::pair<std::string, std::string>>& annotations);
  void FlushNominations();
  // Its report need not be sent any more. One that has ended by itself may come back.
  void OnPodGone(const api::Pod& pod) {
    if (!api::IsTerminated(pod)) unsent_.erase(pod.metadata.uid);
  }
  // Sends reports that were not sent because the write queue was full, as many as it accepts now.
  void SendUnsent();

  // Storage objects have changed, or time has passed: checks again what binding cycles are waiting for.
  void CheckWaits();
  // The scheduler is stopping: there will be no further checks.
  void AbandonWaits();
  // How many binding cycles are waiting.
  size_t waiting() const { return waits_.size(); }
  // Reports, and nominations, that have not been sent yet.
  size_t unsent() const { return unsent_.size(); }
  size_t nominations() const { return nominations_.size(); }
  // For how many preemptors victims are being deleted.
  size_t evicting() const { return evictions_.running(); }
  // When the first of them times out; unset if nothing is waiting.
  std::optional<base::Time> NextTimeout() const;

 private:
  struct Wait {
    std::function<std::optional<framework::Status>()> check;
    base::Time deadline;
    std::function<void(framework::Status)> done;
  };
  struct Report {
    std::shared_ptr<const api::Pod> pod;
    client::PodStatusChange change;
  };
  struct Nomination {
    std::shared_ptr<const api::Pod> pod;
    std::string node_name;
  };

  void AnnounceNode(const Nomination& nomination);
  // In a binding cycle: starts a call and waits for its answer.
  template <class T>
  Result<T> Call(const std::function<void(std::function<void(Result<T>)> done)>& begin) {
    // Shared: an answer may arrive when nobody waits for it any more.
    const auto answer = std::make_shared<std::optional<Result<T>>>();
    const bool answered = runner_.WaitFor(BindingRunner::Length::kShort, [&](BindingRunner::Resume resume) {
      begin([answer, resume = std::move(resume)](Result<T> result) {
        answer->emplace(std::move(result));
        resume();
      });
    });
    if (!answered) return Stopping();
    return **std::move(answer);
  }
  static const Error& Stopping();
  // Handles the failure of a write that takes a claim from the pod. Any thread.
  std::function<void(const Error& error)> WhenLost(std::string what, const api::ResourceClaim& claim,
                                                   const framework::PodInfo& pod);
  void PatchStatus(std::shared_ptr<const api::Pod> pod, const client::PodStatusChange& change);
  void SendStatus(const std::shared_ptr<const api::Pod>& pod, const client::PodStatusChange& change);

  client::ApiClient& client_;
  client::EventRecorder& events_;
  Mailbox& mailbox_;
  BindingRunner& runner_;
  const base::Clock& clock_;
  ApiCallMetrics bindings_;
  ApiCallMetrics status_patches_;
  metrics::Family<metrics::Counter>& claims_created_;
  metrics::Family<metrics::Counter>& device_allocations_;
  metrics::Family<metrics::Histogram>& device_waits_;
  std::atomic<std::thread::id> scheduling_thread_{};

  // Used on the scheduling thread only.
  Evictions evictions_;
  std::list<Wait> waits_;
  std::map<std::string, Nomination> nominations_;  // by UID; not sent yet
  std::map<std::string, Report> unsent_;           // by UID; not sent because the queue was full
  const cluster::Cluster* cluster_ = nullptr;
  std::function<void(const std::string& pod_uid)> on_lost_write_ = [](const std::string&) {};
};

}  // namespace berth::live
