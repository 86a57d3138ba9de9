// PostedWork: functions that other threads want run on the scheduling thread, between cycles, in the order posted.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace berth::framework {

// What a posted function does, for recordings; kOther is anything that cannot be described.
struct PostedAnswer {
  enum class Kind : uint8_t { kOther, kAllow, kReject, kActivate };
  Kind kind = Kind::kOther;
  std::vector<std::string> uids{};  // exactly one, except for kActivate
  std::string plugin{};
  std::string message{};
};

class PostedWork {
 public:
  using Work = std::function<void()>;

  // `on_first` is called on the poster's thread after the first function of a batch was posted. Set before the first
  // Post.
  void set_on_first(std::function<void()> on_first) { on_first_ = std::move(on_first); }
  // Called on the scheduling thread before each piece of work runs.
  void set_on_run(std::function<void(const PostedAnswer& answer)> on_run) { on_run_ = std::move(on_run); }

  // Any thread. The work is dropped if `is_wanted`, called on the scheduling thread right before it, says no.
  void Post(Work work, PostedAnswer answer = {}, std::function<bool()> is_wanted = {}) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = waiting_.empty();
      waiting_.push_back({std::move(work), std::move(answer), std::move(is_wanted)});
    }
    if (first && on_first_) on_first_();
  }

  bool empty() {
    const std::lock_guard lock(mutex_);
    return waiting_.empty();
  }

  // On the scheduling thread. What the work itself posts is left for the next call, so that this one ends.
  void RunAll() {
    std::vector<Posted> batch;
    {
      const std::lock_guard lock(mutex_);
      batch.swap(waiting_);
    }
    for (const Posted& posted : batch) {
      if (posted.is_wanted && !posted.is_wanted()) continue;
      if (on_run_) on_run_(posted.answer);
      posted.work();
    }
  }

 private:
  struct Posted {
    Work work;
    PostedAnswer answer;
    std::function<bool()> is_wanted;  // unset: yes
  };

  std::function<void()> on_first_;  // constant once work is posted
  std::function<void(const PostedAnswer&)> on_run_;
  std::mutex mutex_;
  std::vector<Posted> waiting_;  // guarded by mutex_
};

}  // namespace berth::framework
