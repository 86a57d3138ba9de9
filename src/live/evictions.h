// Evictions: deletes the victims of preemption through the API, asynchronously.
//
// For each preemptor, all victims but one are marked and deleted concurrently and then, if that succeeded, the last
// one. Until the last one's call is answered, DefaultPreemption keeps the preemptor out of the active queue
// (IsRunningFor). The reason for the order: the deletion of the victims requeues the preemptor, and the watch may
// report the last one's deletion before the call is answered. So once the last victim is known to be terminating or
// gone, the preemptor may be tried again, answered or not; otherwise nothing would requeue it any more.
//
//   Start ── others sent ──all answered── last sent ──answered── over
//                 └──────────one failed──────────────────────── over, failed
//
// Used on the scheduling thread only; answers arrive there as messages.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/api_client.h"
#include "client/event_recorder.h"
#include "cluster/cluster.h"
#include "framework/pod_info.h"
#include "live/mailbox.h"

namespace berth::live {

class Evictions {
 public:
  struct Ended {
    const std::string& preemptor_uid;
    bool failed;  // a call failed, for any reason but a victim that no longer exists
    bool last_is_gone;
    base::Duration took;
  };
  // If it failed, or the last victim is gone, no event may be left to requeue the preemptor.
  using Over = std::function<void(const Ended& ended)>;

  Evictions(client::ApiClient& client, client::EventRecorder& events, Mailbox& mailbox, const base::Clock& clock,
            Over over)
      : client_(client), events_(events), mailbox_(mailbox), clock_(clock), over_(std::move(over)) {}
  // Used to check whether victims still exist; call before the first Start.
  void set_cluster(const cluster::Cluster& cluster) { cluster_ = &cluster; }

  using PodPtr = std::shared_ptr<const api::Pod>;

  // Victims that are terminating already need no call; if all are, nothing is started.
  void Start(const std::vector<PodPtr>& victims, const framework::PodInfo& preemptor);
  bool IsRunningFor(const std::string& preemptor_uid) const;
  // Rounds that are not over.
  size_t running() const { return rounds_.size(); }

 private:
  struct Round {
    PodPtr preemptor;
    std::string node;
    PodPtr last;
    base::Time started;
    size_t unanswered = 0;
    bool failed = false;
    bool at_last = false;  // the others are done
  };
  using RoundPtr = std::shared_ptr<Round>;

  void Evict(const RoundPtr& round, const PodPtr& victim);
  // Any thread.
  void Answer(const RoundPtr& round, const PodPtr& victim, const Result<void>& result);
  void Proceed(const RoundPtr& round);

  client::ApiClient& client_;
  client::EventRecorder& events_;
  Mailbox& mailbox_;
  const cluster::Cluster* cluster_ = nullptr;
  const base::Clock& clock_;
  const Over over_;
  std::map<std::string, RoundPtr> rounds_;  // by the preemptor's UID
};

}  // namespace berth::live
