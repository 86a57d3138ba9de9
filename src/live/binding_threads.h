// BindingThreads: the threads that run binding cycles. Each cycle waits for the API, so there are many threads, but no
// more than needed: a thread starts when there is work and none is idle, and one that waits for something slow (a
// volume that is being provisioned, possibly for minutes) does not count against the limit.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "live/binding_runner.h"

namespace berth::live {

class BindingThreads final : public BindingRunner {
 public:
  explicit BindingThreads(size_t at_once) : at_once_(at_once) {}
  // Returns when every task has run.
  ~BindingThreads() override;
  BindingThreads(const BindingThreads&) = delete;
  BindingThreads& operator=(const BindingThreads&) = delete;

  void Run(Task work, Task report) override;
  bool WaitFor(Length length, const std::function<void(Resume)>& begin) override;

 private:
  void Serve();
  void StartThreadIfNeeded();
  void Leave();
  void Return();

  const size_t at_once_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<Task> tasks_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  size_t aside_ = 0;
  bool stopping_ = false;
};

}  // namespace berth::live
