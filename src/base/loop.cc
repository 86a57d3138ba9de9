#include "base/loop.h"

#include <chrono>
#include <optional>

namespace berth::base {

ThreadLoop::ThreadLoop() : thread_([this] { Serve(); }) {}

ThreadLoop::~ThreadLoop() { Stop(); }

base::Duration ThreadLoop::Now() const {
  return std::chrono::duration_cast<base::Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

// The thread is woken under the lock throughout: as soon as a task has run, its owner may destroy the loop, while the
// thread that posted the task is still in here.
void ThreadLoop::Post(Task task) {
  std::lock_guard lock(mutex_);
  if (stopping_) return;
  posted_.push_back(std::move(task));
  if (posted_.size() == 1) changed_.notify_one();  // otherwise it has been woken already
}

TimerId ThreadLoop::RunAfter(base::Duration delay, Task task) {
  const base::Duration due = Now() + delay;
  std::lock_guard lock(mutex_);
  const TimerId timer = ++last_timer_;
  if (stopping_) return timer;
  timers_.emplace(std::pair(due, timer), std::move(task));
  due_.emplace(timer, due);
  changed_.notify_one();
  return timer;
}

void ThreadLoop::Cancel(TimerId timer) {
  std::lock_guard lock(mutex_);
  const auto found = due_.find(timer);
  if (found == due_.end()) return;
  timers_.erase({found->second, timer});
  due_.erase(found);
}

void ThreadLoop::RunNow(Task task) {
  std::unique_lock lock(mutex_);
  if (stopping_ || std::this_thread::get_id() == thread_.get_id()) {
    lock.unlock();
    task();
    return;
  }
  bool done = false;
  std::condition_variable finished;
  posted_.push_back([&] {
    task();
    // Under the lock: `finished` is gone as soon as the other side has seen `done`.
    std::lock_guard finish(mutex_);
    done = true;
    finished.notify_one();
  });
  changed_.notify_one();
  finished.wait(lock, [&] { return done; });
}

void ThreadLoop::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void ThreadLoop::Serve() {
  std::unique_lock lock(mutex_);
  std::vector<Task> tasks;
  while (true) {
    // Everything posted is served even when stopping: somebody may wait in RunNow.
    if (posted_.empty() && !stopping_) {
      if (timers_.empty()) {
        changed_.wait(lock);
      } else {
        const base::Duration due = timers_.begin()->first.first;
        const auto at =
            std::chrono::steady_clock::time_point(std::chrono::duration_cast<std::chrono::steady_clock::duration>(due));
        changed_.wait_until(lock, at);
      }
    }
    tasks.swap(posted_);
    if (tasks.empty() && stopping_) break;
    if (!tasks.empty()) {
      lock.unlock();
      for (Task& task : tasks) {
        task();
        task = nullptr;
      }
      tasks.clear();
      lock.lock();
      continue;
    }
    if (timers_.empty() || timers_.begin()->first.first > Now()) continue;
    auto first = timers_.extract(timers_.begin());
    due_.erase(first.key().second);
    lock.unlock();
    first.mapped()();
    first = {};  // what the task holds must not be released under the lock
    lock.lock();
  }
  timers_.clear();
  due_.clear();
}

}  // namespace berth::base
