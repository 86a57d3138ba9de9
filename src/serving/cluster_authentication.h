// Keeps an authenticator up to date with whom the cluster trusts: kube-system/extension-apiserver-authentication, which
// the API server rewrites when its authorities are exchanged.
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

  // Looks once, on the calling thread. What cannot be read or used changes nothing.
  Result<void> Refresh();
  // Looks every so often from now on, on a thread of its own; trouble goes to the log. Once.
  void Follow(base::Duration every = std::chrono::minutes(1));

 private:
  http::Transport& transport_;
  Authenticator& authenticator_;
  std::optional<ClusterAuthentication> used_;  // of the one thread that refreshes
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace berth::serving
