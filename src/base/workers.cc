#include "base/workers.h"

#include <algorithm>

namespace berth::base {

Workers::Workers(size_t threads) {
  for (size_t number = 1; number < threads; ++number) {
    threads_.emplace_back([this, number] { Serve(number); });
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::ForRanges(size_t count, size_t least, const std::function<void(size_t, size_t)>& work) {
  const size_t parts = std::min(size(), count / std::max<size_t>(least, 1));
  if (parts <= 1) {
    if (count > 0) work(0, count);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    parts_ = parts;
    left_ = parts - 1;
    ++round_;
  }
  begun_.notify_all();
  work(0, count / parts);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return left_ == 0; });
}

// Thread `number` does part `number` of every round that has that many parts.
void Workers::Serve(size_t number) {
  size_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [&] { return stopping_ || round_ != seen; });
    if (stopping_) return;
    seen = round_;
    if (number >= parts_) continue;
    const auto& work = *work_;
    const size_t begin = count_ * number / parts_;
    const size_t end = count_ * (number + 1) / parts_;
    lock.unlock();
    work(begin, end);
    lock.lock();
    if (--left_ == 0) done_.notify_one();
  }
}

}  // namespace berth::base
