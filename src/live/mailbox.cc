#include "live/mailbox.h"

namespace berth::live {

void Mailbox::Post(Message message) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = messages_.empty();
    messages_.push_back(std::move(message));
    has_mail_.store(true, std::memory_order_release);
  }
  // The owner takes all messages at once, so only the first to post has to wake it.
  if (first) posted_.notify_one();
  if (first && on_first_) on_first_();
}

void Mailbox::RunAll() {
  {
    const std::lock_guard lock(mutex_);
    running_.swap(messages_);
    has_mail_.store(false, std::memory_order_relaxed);
  }
  for (Message& message : running_) message();
  running_.clear();
}

void Mailbox::WaitFor(base::Duration at_most) {
  std::unique_lock lock(mutex_);
  posted_.wait_for(lock, at_most, [&] { return !messages_.empty(); });
}

}  // namespace berth::live
