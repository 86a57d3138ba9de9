// ClusterFollower: keeps an up-to-date copy of a real cluster, whichever scheduler runs there. It never schedules or
// writes anything and takes no lease: it needs only the permissions to list and watch what scheduling reads.
//
//   watches  --changes, in the order they came-->  mailbox  -->  driver: cache, and a queue that nobody pops
//
// Every change is applied by itself, none is dropped or merged, so that the state before each of them can be examined.
//
// It runs on the loop and transport it was given; the caller of Run (or Turn) is its only thread, and everything that
// reads the driver does so there, by Post. LiveFollower adds a connection.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/clock.h"
#include "base/loop.h"
#include "client/api_client.h"
#include "client/object_change.h"
#include "client/reflector.h"
#include "config/types.h"
#include "framework/registry.h"
#include "live/mailbox.h"
#include "live/read_only.h"
#include "scheduler/driver.h"

namespace berth::live {

// A change to an object, and when it arrived.
struct FollowedChange {
  base::Time arrived{};
  bool deleted = false;
  api::Object object;  // the last known state if it was deleted
};

struct FollowerOptions {
  config::KubeSchedulerConfiguration configuration;
  config::FeatureGates gates;
  bool protobuf = true;
  // Applies a change to the driver, on the follower's thread; it may examine the state before. Unset: Put, Remove.
  std::function<void(scheduler::Driver& driver, const FollowedChange& change)> apply{};
  // After each turn, on the follower's thread, once every kind has been listed.
  std::function<void()> on_turn{};
  // Everything has been listed; on the follower's thread.
  std::function<void()> on_synced{};
  scheduler::Tap* tap = nullptr;  // must outlive it; may be null
  // How long the first lists may take before Run fails.
  base::Duration patience = std::chrono::seconds(20);
  uint64_t seed = 1;  // of the driver
};

// What a follower runs on. All of it outlives the follower.
struct FollowerEnvironment {
  http::Transport& transport;
  base::Loop& io;            // lists and watches
  const base::Clock& clock;  // monotonic: the driver's clock
};

class ClusterFollower final : public client::ChangeSink, private scheduler::DriverObserver {
 public:
  // `registry` is needed only here.
  static Result<std::unique_ptr<ClusterFollower>> Create(FollowerOptions options, const framework::Registry& registry,
                                                         FollowerEnvironment environment);
  ~ClusterFollower() override;

  // Starts to list.
  void Start();
  // Start, then turns on the calling thread until Stop. An error if the cluster denies access to something, or if the
  // first lists do not arrive.
  Result<void> Run();
  // One turn of Run: reads the mail.
  void Turn();
  // Why it cannot continue; empty as long as it can.
  const std::optional<Error>& failure() const { return failure_; }
  // Reflectors do not call back after this. Call it before the given loop ends.
  void Detach();

  // Any thread from here on.
  void Stop();
  // Whether every kind has been listed.
  bool synced() const { return synced_; }
  // Runs on the follower's thread, between changes.
  void Post(Mailbox::Message message) { mailbox_.Post(std::move(message)); }
  // Which kinds have never been listed, and why; "" if all have.
  std::string MissingKinds() const;

  // client::ChangeSink
  void OnListing(api::Kind kind, std::vector<client::ObjectChange> changes) override;
  void OnChanges(api::Kind kind, std::vector<client::ObjectChange> changes) override;
  void OnNotServed(api::Kind kind) override;

  // The rest is for the follower's thread only.
  scheduler::Driver& driver() { return *driver_; }
  const scheduler::Driver& driver() const { return *driver_; }
  base::Time Now() const { return environment_.clock.Now(); }
  // Pending pods whose scheduler has no profile here, by UID: they are in no queue.
  const std::map<std::string, framework::PodInfoPtr>& pods_of_others() const { return pods_of_others_; }

 private:
  // For a resource that plugins watch.
  class CustomSink;

  ClusterFollower(FollowerOptions options, FollowerEnvironment environment);
  Result<void> Make(const framework::Registry& registry);
  void MakeReflectors();
  void AddReflector(client::ReflectorOptions options, const std::string& name, client::ChangeSink& sink);
  void Apply(const FollowedChange& change);
  // Whole: with these changes the first list of the kind is complete.
  void Add(api::Kind kind, std::vector<client::ObjectChange> changes, bool is_whole);
  void ApplyCustom(framework::EventResource resource, const std::vector<client::ObjectChange>& changes, bool is_whole);
  void NoteOthers(const FollowedChange& change);
  void OnProblem(const std::string& what, const Error& error, int http_status);
  void MarkListed(api::Kind kind);
  void CheckSynced();
  void CheckPatience();
  void TakeCheckpoint();

  const FollowerOptions options_;
  const FollowerEnvironment environment_;
  ReadOnlyTransport transport_;
  client::ApiClient client_;
  ReadOnlyApi api_;
  Mailbox mailbox_;
  std::unique_ptr<scheduler::Driver> driver_;
  std::vector<std::unique_ptr<CustomSink>> custom_sinks_;
  std::vector<std::unique_ptr<client::Reflector>> reflectors_;
  std::set<api::Kind> unlisted_;
  std::set<framework::EventResource> unlisted_custom_;
  std::map<std::string, framework::PodInfoPtr> pods_of_others_;
  base::Time started_{};
  std::optional<Error> failure_;
  std::atomic<bool> synced_ = false;
  std::atomic<bool> stopping_ = false;
};

}  // namespace berth::live
