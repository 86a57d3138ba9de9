// CredentialFetcher: the thread on which credentials are fetched, so that no other thread waits for a file or a
// program.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "http/credentials.h"

namespace berth::http {

class CredentialFetcher {
 public:
  // `done` is called on the fetcher's thread, once per fetch. Requests that are made before a fetch starts share it;
  // one that is made during a fetch leads to another.
  CredentialFetcher(std::shared_ptr<CredentialSource> source, std::function<void(Result<CredentialsPtr>)> done);
  ~CredentialFetcher();  // interrupts a fetch that is under way

  void Request();

 private:
  void Run();

  const std::shared_ptr<CredentialSource> source_;
  const std::function<void(Result<CredentialsPtr>)> done_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool wanted_ = false;
  bool stopping_ = false;
  bool ended_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace berth::http
