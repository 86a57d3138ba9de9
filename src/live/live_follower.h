// LiveFollower: a ClusterFollower with its connection. Threads: the caller of Run is the follower's; the transport has
// one for HTTP, and one loop decodes what lists and watches return.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/loop.h"
#include "http/api_transport.h"
#include "http/rest_config.h"
#include "live/cluster_follower.h"

namespace berth::live {

class LiveFollower {
 public:
  // `registry` is needed only here.
  static Result<std::unique_ptr<LiveFollower>> Create(http::RestConfig rest, FollowerOptions options,
                                                      const framework::Registry& registry) {
    std::unique_ptr<LiveFollower> made(new LiveFollower(std::move(rest)));
    Result<std::unique_ptr<ClusterFollower>> follower = ClusterFollower::Create(
        std::move(options), registry, {.transport = *made->transport_, .io = made->io_, .clock = made->clock_});
    if (!follower) return follower.error();
    made->follower_ = *std::move(follower);
    return made;
  }
  ~LiveFollower() {
    if (follower_) follower_->Detach();
    io_.Stop();
    // Ends the calls in flight while their callbacks can still run.
    transport_.reset();
  }

  // The error names the server.
  Result<void> Run() {
    Result<void> run = follower_->Run();
    if (!run) return Error{run.error().code, server_ + ": " + run.error().message};
    return run;
  }

  ClusterFollower& follower() { return *follower_; }
  const std::string& server() const { return server_; }
  const base::Clock& clock() const { return clock_; }

 private:
  explicit LiveFollower(http::RestConfig rest)
      : server_(rest.server),
        transport_(std::make_unique<http::ApiTransport>(
            std::move(rest), http::TransportOptions{.connect_timeout = std::chrono::seconds(10)})) {}

  const std::string server_;
  const base::MonotonicClock clock_;
  std::unique_ptr<http::ApiTransport> transport_;
  base::ThreadLoop io_;
  std::unique_ptr<ClusterFollower> follower_;
};

}  // namespace berth::live
