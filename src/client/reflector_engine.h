// The state machine behind Reflector (see its header), shared with the callbacks of what it has started. Of the loop's
// thread, but for what is said to be thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/known_objects.h"
#include "client/list_pages.h"
#include "client/reflector.h"
#include "client/watch_session.h"

namespace berth::client {

class Reflector::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(ApiClient& client, base::Loop& loop, ChangeSink& sink, ReflectorOptions options);

  void Start(From from);
  void Stop();
  void CatchUp(std::function<void()> done);

  // Thread-safe.
  base::Loop& loop() const { return loop_; }
  std::string resource_version() const;
  ReflectorState state() const;

 private:
  using Step = void (Engine::*)();
  using How = WatchSession::End::How;

  // Ends whatever is going on: its late answers find nobody.
  void Abandon();
  void After(base::Duration delay, Step step);
  void Wait(Step step);
  void Wait(const ApiStatus& status, Step step);

  // What others may know.
  void Note(const Error& error, int http_status);
  void Complain(const Error& error, int http_status = 0);
  void Complain(const ApiStatus& status);
  void NoteBehind();
  void NoteInStep();
  void NotePicture(bool synced, bool not_served);
  void SetVersion(const std::string& version);

  // Sync: everything there is.
  void Sync();
  void SyncAgain();
  void List();
  void TakeList(ListOutcome outcome, bool from_any);
  void FinishSync(const std::string& version);
  bool BelievesNotFound();
  void NotFound(const ApiStatus& status);

  // Watch: what changes.
  void Watch();
  void StartWatch(bool initial, std::string from);
  void CheckInitialEvents();
  void TakeArrival(WatchSession::Arrival arrival);
  void TellPart();
  bool TakeEvent(WatchEvent event, std::vector<ObjectChange>& changes);
  void TakeInitialEnd(const WatchSession::End& end);
  void TakeEnd(const WatchSession::End& end);
  void TakeClosed(const Result<void>& closed);

  ApiClient& client_;
  base::Loop& loop_;
  ChangeSink& sink_;
  const ReflectorOptions options_;

  // Everything below belongs to the loop's thread.
  Backoff backoff_;
  base::Random random_;
  bool running_ = false;
  uint64_t round_ = 0;  // what was started in an earlier one is of no interest
  base::TimerId timer_ = 0;
  std::vector<std::function<void()>> caught_up_;

  KnownObjects known_;
  bool synced_ = false;
  bool ever_synced_ = false;  // or found not to be served: the sink may decide by what it was told
  bool not_served_ = false;
  bool from_latest_ = false;     // version_ is of no use to the server, or not good enough for us
  bool synced_in_vain_ = false;  // nothing has come since the last sync
  bool streaming_works_ = true;  // as far as we know
  bool lists_are_paged_ = false;
  int not_founds_ = 0;  // in a row
  base::Duration not_found_since_{};
  int waits_ = 0;  // asked for by the server, in a row

  // The watch that is going on.
  std::shared_ptr<WatchSession> session_;
  bool initial_ = false;           // still sending what was there
  base::Duration last_initial_{};  // when it began, or its last initial event came

  mutable std::mutex mutex_;
  // Written by the loop's thread under the lock.
  std::string version_;
  ReflectorState state_;
};

}  // namespace berth::client
