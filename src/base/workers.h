// Workers: a thread pool that splits a loop into ranges. The work must not depend on how the loop is split, so that the
// result is the same for any number of threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace berth::base {

class Workers {
 public:
  // The calling thread is one of them: with 1, no thread is started.
  explicit Workers(size_t threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  size_t size() const { return threads_.size() + 1; }

  // Calls work(begin, end) for ranges that together are [0, count), and returns when all are done. Ranges are at least
  // `least` long where `count` allows: waking a thread costs some microseconds. `work` must not throw.
  void ForRanges(size_t count, size_t least, const std::function<void(size_t begin, size_t end)>& work);

 private:
  void Serve(size_t number);

  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable done_;
  const std::function<void(size_t, size_t)>* work_ = nullptr;
  size_t count_ = 0;
  size_t parts_ = 0;
  size_t round_ = 0;
  size_t left_ = 0;  // parts that other threads still have to do
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace berth::base
