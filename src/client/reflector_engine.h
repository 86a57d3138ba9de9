// The state machine behind Reflector (see its header), shared with the callbacks of its calls. Used on the loop's
// thread, except for members that are marked thread-safe.
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
#include "client/whole_list.h"

namespace berth::client {

class Reflector::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(ApiClient& client, base::Loop& loop, ChangeSink& sink, ReflectorOptions options);

  void Start(From from);
  void Stop();
  void CatchUp(std::function<void()> done, UnlistedStart unlisted);

  // Thread-safe.
  base::Loop& loop() const { return loop_; }
  std::string resource_version() const;
  ReflectorState state() const;

 private:
  using Step = void (Engine::*)();
  using How = WatchSession::End::How;
  struct CatchingUp {
    std::function<void()> done;
    UnlistedStart unlisted;
  };

  // Abandons whatever is in progress: late answers are ignored.
  void Abandon();
  void After(base::Duration delay, Step step);
  void Wait(Step step);
  void Wait(const ApiStatus& status, Step step);
  void Pause(base::Duration delay, Step step);

  // What is visible from outside.
  void Note(const Error& error, int http_status);
  void Complain(const Error& error, int http_status = 0);
  void Complain(const ApiStatus& status);
  void NoteBehind();
  void NoteInStep();
  void NotePicture(bool synced, bool not_served);
  void SetVersion(const std::string& version);

  // Sync: list every object.
  void Sync();
  void SyncAgain();
  ListRequest RequestOfList() const;
  void ListWhole();
  void TakePart(WholeList::Arrival arrival);
  void TakeWholeList(const ListOutcome& outcome);
  void List();
  void TakeList(ListOutcome outcome, bool from_any);
  void FinishSync(const std::string& version);
  void EndCatchUp();
  bool IsUnlisted() const;
  void StartUnlisted();
  bool BelievesNotFound();
  void NotFound(const ApiStatus& status);

  // Watch: follow changes.
  void Watch();
  void StartWatch(bool initial, std::string from);
  void CheckInitialEvents();
  void TakeArrival(WatchSession::Arrival arrival);
  void TellPart();
  bool MayBeNews(const WatchEvent& event);
  bool TakeEvent(WatchEvent event, std::vector<ObjectChange>& changes);
  void TakeInitialEnd(const WatchSession::End& end);
  void TakeEnd(const WatchSession::End& end);
  void TakeClosed(const Result<void>& closed);

  ApiClient& client_;
  base::Loop& loop_;
  ChangeSink& sink_;
  const ReflectorOptions options_;

  // Used on the loop's thread only.
  Backoff backoff_;
  base::Random random_;
  bool running_ = false;
  uint64_t round_ = 0;  // answers to calls of earlier rounds are ignored
  base::TimerId timer_ = 0;
  std::vector<CatchingUp> catching_up_;
  std::optional<base::Duration> unlisted_since_;  // while catching up: when a list first failed
  base::TimerId list_timer_ = 0;                  // of the next list, while the watch goes on

  KnownObjects known_;
  bool listing_ = false;  // or trying to, and not watching
  bool synced_ = false;
  bool ever_synced_ = false;  // or found not to be served: the sink may act on what it has
  bool not_served_ = false;
  bool from_latest_ = false;     // the server cannot use version_, or it is not recent enough for us
  bool synced_in_vain_ = false;  // nothing has arrived since the last sync
  bool streaming_works_ = true;  // as far as we know
  bool lists_are_paged_ = false;
  bool whole_list_failed_ = false;  // in the last sync
  int not_founds_ = 0;              // in a row
  base::Duration not_found_since_{};
  int waits_ = 0;  // requested by the server, in a row

  // The current watch.
  std::shared_ptr<WatchSession> session_;
  std::shared_ptr<WholeList> list_;  // while it arrives
  bool initial_ = false;             // still sending the initial objects
  base::Duration last_initial_{};    // when it began, or when the last initial event arrived
  std::string newest_initial_;       // the highest version of an object among these

  mutable std::mutex mutex_;
  // Written on the loop's thread under the lock.
  std::string version_;
  ReflectorState state_;
};

}  // namespace berth::client
