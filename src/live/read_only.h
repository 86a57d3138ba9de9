// Keeps a program that only observes a cluster from ever writing to it: a transport that passes reads and nothing else,
// and a writer for plugins that rejects everything.
#pragma once

#include <string>
#include <utility>

#include "base/check.h"
#include "framework/handle.h"
#include "http/transport.h"

namespace berth::live {

// Whatever bugs the code above has, no method other than GET reaches the server.
class ReadOnlyTransport final : public http::Transport {
 public:
  // `transport` must outlive this.
  explicit ReadOnlyTransport(http::Transport& transport) : transport_(transport) {}

  http::CallId Start(http::Request request, http::ResponseHandler handler) override {
    CHECK_WHY(request.method == "GET", "a program that only reads was about to write to the cluster");
    return transport_.Start(std::move(request), std::move(handler));
  }
  void Cancel(http::CallId call) override { transport_.Cancel(call); }
  void Consumed(http::CallId call, size_t bytes) override { transport_.Consumed(call, bytes); }

 private:
  http::Transport& transport_;
};

class ReadOnlyApi final : public framework::SimpleApiWriter {
 public:
  framework::Status Bind(const framework::PodInfo&, const std::string&) override { return Refused(); }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return Refused(); }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return Refused(); }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return Refused(); }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return Refused();
  }

 private:
  static framework::Status Refused() { return framework::Status::Error("the cluster is only looked at"); }
};

}  // namespace berth::live
