#include "http/credentials_fetcher.h"

#include <csignal>

namespace berth::http {
namespace {

// A program that starts just after an interrupt is stopped by the next one.
constexpr std::chrono::milliseconds kBetweenInterrupts{20};

}  // namespace

CredentialFetcher::CredentialFetcher(std::shared_ptr<CredentialSource> source,
                                     std::function<void(Result<CredentialsPtr>)> done)
    : source_(std::move(source)), done_(std::move(done)), thread_([this] { Run(); }) {}

CredentialFetcher::~CredentialFetcher() {
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    while (!ended_) {
      source_->Interrupt();
      changed_.wait_for(lock, kBetweenInterrupts, [this] { return ended_; });
    }
  }
  thread_.join();
}

void CredentialFetcher::Request() {
  const std::lock_guard lock(mutex_);
  wanted_ = true;
  changed_.notify_all();
}

void CredentialFetcher::Run() {
  // Signals are handled by the main thread.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);

  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return wanted_ || stopping_; });
    if (stopping_) break;
    wanted_ = false;
    lock.unlock();
    done_(source_->Fetch());
    lock.lock();
  }
  ended_ = true;
  changed_.notify_all();
}

}  // namespace berth::http
