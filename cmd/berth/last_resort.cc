#include "last_resort.h"

#include <cstdlib>

#include "base/log.h"

namespace berth::cmd {

LastResort::LastResort(std::chrono::milliseconds patience)
    : thread_([this, patience] {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return armed_ || done_; });
        if (!changed_.wait_for(lock, patience, [this] { return done_; })) Exit("Did not come to an end in time");
      }) {}

LastResort::~LastResort() {
  Set(done_);
  thread_.join();
}

void LastResort::Exit(const char* why) {
  LOG_ERROR("Exiting without waiting for what is under way", {"reason", why});
  std::_Exit(1);
}

void LastResort::Set(bool& flag) {
  {
    const std::lock_guard lock(mutex_);
    flag = true;
  }
  changed_.notify_all();
}

}  // namespace berth::cmd
