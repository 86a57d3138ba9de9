#include "live/binding_threads.h"

#include <future>
#include <memory>

namespace berth::live {

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
  if (length == Length::kLong) Leave();
  auto called = std::make_shared<std::promise<void>>();
  std::future<void> answer = called->get_future();
  begin([called] { called->set_value(); });
  answer.wait();
  if (length == Length::kLong) Return();
  return true;
}

// Called with the lock held.
void BindingThreads::StartThreadIfNeeded() {
  if (tasks_.size() <= idle_ || stopping_) return;
  if (threads_.size() - aside_ < at_once_) threads_.emplace_back([this] { Serve(); });
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

void BindingThreads::Leave() {
  const std::lock_guard lock(mutex_);
  ++aside_;
  StartThreadIfNeeded();
}

void BindingThreads::Return() {
  const std::lock_guard lock(mutex_);
  --aside_;
}

}  // namespace berth::live
