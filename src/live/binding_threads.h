// BindingThreads: the threads that run binding cycles. Each cycle waits for the API, so there are many threads, but no
// more than needed: a thread starts when there is work and none is idle, and one that waits for something slow (a
// volume that is being provisioned, possibly for minutes) does not count against the limit. If the system has no more
// threads, tasks wait for those that there are; and if all of these wait for something slow, the last of them asks for
// another thread from time to time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "live/binding_runner.h"

namespace berth::live {

class BindingThreads final : public BindingRunner {
 public:
  // Starts a thread, or throws std::system_error as std::thread does.
  using StartThread = std::function<std::thread(Task body)>;

  // The first thread starts here: if there is none to be had, the program should not find that out later.
  explicit BindingThreads(
      size_t at_once, StartThread start_thread = [](Task body) { return std::thread(std::move(body)); },
      std::chrono::milliseconds retry = std::chrono::seconds(1));
  // Returns when every task has run.
  ~BindingThreads() override;
  BindingThreads(const BindingThreads&) = delete;
  BindingThreads& operator=(const BindingThreads&) = delete;

  void Run(Task work, Task report) override;
  bool WaitFor(Length length, const std::function<void(Resume)>& begin) override;

 private:
  void Serve();
  void StartThreadIfNeeded();
  void AddThread();
  // False if no thread is left for other tasks.
  bool Leave();
  bool IsServed();
  void Return();

  const size_t at_once_;
  const StartThread start_thread_;
  const std::chrono::milliseconds retry_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<Task> tasks_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  size_t aside_ = 0;
  bool stopping_ = false;
  bool is_short_ = false;  // of threads; reported once
};

}  // namespace berth::live
