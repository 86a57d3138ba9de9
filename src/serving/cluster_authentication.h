// Keeps an authenticator up to date with the authorities that the cluster trusts:
// kube-system/extension-apiserver-authentication, which the API server rewrites when its authorities are rotated.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "http/transport.h"
#include "serving/authentication.h"

namespace berth::serving {

class ClusterAuthenticationFollower {
 public:
  // `transport` and `authenticator` must outlive it.
  ClusterAuthenticationFollower(http::Transport& transport, Authenticator& authenticator)
      : transport_(transport), authenticator_(authenticator) {}
  ~ClusterAuthenticationFollower();
  ClusterAuthenticationFollower(const ClusterAuthenticationFollower&) = delete;
  ClusterAuthenticationFollower& operator=(const ClusterAuthenticationFollower&) = delete;

  // Reads it once, on the calling thread. If it cannot be read or used, nothing changes.
  Result<void> Refresh();
  // Reads it periodically from now on, on its own thread; failures are logged. Call once.
  void Follow(base::Duration every = std::chrono::minutes(1));

 private:
  http::Transport& transport_;
  Authenticator& authenticator_;
  std::optional<ClusterAuthentication> used_;  // used only by the thread that refreshes
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace berth::serving
