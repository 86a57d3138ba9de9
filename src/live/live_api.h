// LiveApi: what the scheduler writes to a real API server.
//
// On the scheduling thread nothing waits: evictions, nominations and reports are sent off, and what fails comes back as
// a message. In a binding cycle, off that thread, calls wait for their answers.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "client/api_client.h"
#include "client/event_recorder.h"
#include "framework/handle.h"
#include "live/binding_threads.h"
#include "live/mailbox.h"
#include "scheduler/attempt.h"

namespace berth::live {

class LiveApi final : public framework::ApiWriter {
 public:
  // `on_eviction_failed` runs on the scheduling thread, with the pod that the room was meant for.
  LiveApi(client::ApiClient& client, client::EventRecorder& events, Mailbox& mailbox, BindingThreads& threads,
          const base::Clock& clock, std::function<void(const std::string& uid)> on_eviction_failed)
      : client_(client),
        events_(events),
        mailbox_(mailbox),
        threads_(threads),
        clock_(clock),
        on_eviction_failed_(std::move(on_eviction_failed)) {}

  // Binding cycle: these wait.
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume> volume) override;
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim> claim) override;
  framework::Status Await(const std::function<std::optional<framework::Status>()>& check,
                          base::Duration timeout) override;

  // Scheduling thread: these do not.
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) override;
  // Sent with the report about the pod, or by FlushNominations.
  framework::Status SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) override;

  void ReportScheduled(const framework::PodInfo& pod, const std::string& node_name);
  // The FailedScheduling event, and the PodScheduled condition with what is known of the nomination. `pod` is the
  // newest version known.
  void ReportFailure(const framework::PodInfo& pod, const scheduler::Attempt& attempt);
  void ReportDeleting(const framework::PodInfo& pod);
  void FlushNominations();

  // Storage objects have changed, or time has passed: asks those who wait for it again.
  void CheckWaits();
  // The scheduler stops: nobody will ask again.
  void AbandonWaits();
  // When the first of them gives up; unset when nobody waits.
  std::optional<base::Time> NextTimeout() const;

 private:
  struct Wait {
    std::function<std::optional<framework::Status>()> check;
    base::Time deadline;
    std::function<void(framework::Status)> done;
  };
  struct Nomination {
    std::shared_ptr<const api::Pod> pod;
    std::string node_name;
  };

  void PatchStatus(std::shared_ptr<const api::Pod> pod, client::PodStatusChange change);

  client::ApiClient& client_;
  client::EventRecorder& events_;
  Mailbox& mailbox_;
  BindingThreads& threads_;
  const base::Clock& clock_;
  const std::function<void(const std::string& uid)> on_eviction_failed_;

  // Of the scheduling thread alone.
  std::list<Wait> waits_;
  std::map<std::string, Nomination> nominations_;  // by UID; not sent yet
};

}  // namespace berth::live
