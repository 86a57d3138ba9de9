// Mailbox: how the rest of the program talks to the scheduling thread. Messages are functions that run there, between
// cycles, in the order they were posted. Its length is bounded by its users: binding cycles and evictions in progress,
// one message for each kind of object with unread changes (ChangeBacklog), and pages being served.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace berth::live {

class Mailbox {
 public:
  using Message = std::function<void()>;

  // Called on the poster's thread after a message was posted to an empty mailbox. Set it before the first Post.
  void set_on_first(std::function<void()> on_first) { on_first_ = std::move(on_first); }

  // Any thread.
  void Post(Message message);

  // The rest is for the owner's thread only.
  bool empty() const { return !has_mail_.load(std::memory_order_acquire); }
  // Runs what has been posted.
  void RunAll();
  // Returns when something has been posted, or after `at_most`.
  void WaitFor(base::Duration at_most);

 private:
  std::function<void()> on_first_;  // constant once messages are posted
  std::mutex mutex_;
  std::condition_variable posted_;
  std::vector<Message> messages_;  // guarded by mutex_
  std::atomic<bool> has_mail_ = false;
  std::vector<Message> running_;  // kept for its memory
};

}  // namespace berth::live
