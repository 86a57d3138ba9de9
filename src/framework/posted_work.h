// PostedWork: functions that other threads want run on the scheduling thread, between cycles, in the order posted.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace berth::framework {

class PostedWork {
 public:
  using Work = std::function<void()>;

  // Called after the first of a batch was posted, on the poster's thread. Before the first Post.
  void set_on_first(std::function<void()> on_first) { on_first_ = std::move(on_first); }

  // Any thread.
  void Post(Work work) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = waiting_.empty();
      waiting_.push_back(std::move(work));
    }
    if (first && on_first_) on_first_();
  }

  // On the scheduling thread. What the work itself posts is left for the next time, so that this ends.
  void RunAll() {
    std::vector<Work> batch;
    {
      const std::lock_guard lock(mutex_);
      batch.swap(waiting_);
    }
    for (const Work& work : batch) work();
  }

 private:
  std::function<void()> on_first_;  // constant once work is posted
  std::mutex mutex_;
  std::vector<Work> waiting_;  // guarded by mutex_
};

}  // namespace berth::framework
