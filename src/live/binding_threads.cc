#include "live/binding_threads.h"

#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace berth::live {

BindingThreads::BindingThreads(size_t at_once, StartThread start_thread, std::chrono::milliseconds retry)
    : at_once_(at_once), start_thread_(std::move(start_thread)), retry_(retry) {
  const std::lock_guard lock(mutex_);
  AddThread();
  CHECK_WHY(!threads_.empty(), "no thread for binding pods");
}

BindingThreads::~BindingThreads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void BindingThreads::Run(Task work, Task report) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back([work = std::move(work), report = std::move(report)] {
      work();
      report();
    });
    StartThreadIfNeeded();
  }
  changed_.notify_one();
}

bool BindingThreads::WaitFor(Length length, const std::function<void(Resume)>& begin) {
  bool served = length == Length::kShort || Leave();
  auto called = std::make_shared<std::promise<void>>();
  std::future<void> answer = called->get_future();
  begin([called] { called->set_value(); });
  while (!served && answer.wait_for(retry_) == std::future_status::timeout) served = IsServed();
  answer.wait();
  if (length == Length::kLong) Return();
  return true;
}

// Called with the lock held.
void BindingThreads::StartThreadIfNeeded() {
  if (tasks_.size() <= idle_ || stopping_) return;
  if (threads_.size() - aside_ < at_once_) AddThread();
}

// Called with the lock held.
void BindingThreads::AddThread() {
  try {
    threads_.push_back(start_thread_([this] { Serve(); }));
  } catch (const std::system_error& error) {
    // The system has no more threads for us. Those that there are will get to the task.
    if (std::exchange(is_short_, true)) return;
    LOG_ERROR("No more threads for binding pods; bindings wait for those that there are", {"err", error.what()},
              {"threads", threads_.size()});
  }
}

void BindingThreads::Serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    // Surplus threads, after others have returned from waiting, become idle too.
    changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // destroys its captures before the lock is taken
    lock.lock();
  }
}

bool BindingThreads::Leave() {
  {
    const std::lock_guard lock(mutex_);
    ++aside_;
  }
  return IsServed();
}

// Whether a thread is left, or can be had, for tasks.
bool BindingThreads::IsServed() {
  const std::lock_guard lock(mutex_);
  StartThreadIfNeeded();
  return threads_.size() > aside_;
}

void BindingThreads::Return() {
  const std::lock_guard lock(mutex_);
  --aside_;
}

}  // namespace berth::live
